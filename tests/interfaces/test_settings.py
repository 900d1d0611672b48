"""`twolane settings`."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.conftest import Cli, write
from twolane.settings import meanings


def test_every_setting_is_shown(twolane: Cli) -> None:
    """Each setting has its name, value, origin and meaning."""
    said = {one["name"]: one for one in twolane.json("settings")["settings"]}
    assert {name: one["meaning"] for name, one in said.items()} == meanings()
    assert (said["limit"]["value"], said["limit"]["origin"]) == (20, "default")
    assert (said["embedder"]["value"], said["embedder"]["origin"]) == ("hashing", "environment")
    assert said["include"]["value"] == ["*.md", "*.markdown"]
    text = twolane("settings").stdout
    assert all(name in text and meaning in text for name, meaning in meanings().items())


def test_values_are_spelled_as_they_are_set(twolane: Cli) -> None:
    """What is shown can be written into the file or the environment."""
    said = twolane("settings").stdout
    assert "semantic = true  (default)" in said
    assert "relevance_file = (unset)  (default)" in said
    assert "semantic = false" in twolane("settings", TWOLANE_SEMANTIC="false").stdout


def test_where_a_value_comes_from(twolane: Cli, tmp_path: Path) -> None:
    """The file, the environment and the argument are told apart, the last one winning."""
    file = twolane.home / "config" / "twolane" / "twolane.toml"
    write(file.parent, {file.name: 'limit = 7\nembedder = "none"\n'})
    said = twolane.json("settings", "--db", tmp_path / "x.db")
    found = {one["name"]: (one["value"], one["origin"]) for one in said["settings"]}
    assert said["file"] == str(file)
    assert found["limit"] == (7, str(file))
    assert found["embedder"] == ("hashing", "environment")
    assert found["db"] == (str(tmp_path / "x.db"), "argument")


def test_the_default_database_is_shown(twolane: Cli) -> None:
    """A place that is not set is shown as where it is."""
    assert str(twolane.db) in twolane("settings").stdout


def test_settings_that_make_no_sense(twolane: Cli) -> None:
    """A wrong value exits with 2 and names the setting, its origin and the remedy."""
    said = twolane("settings", code=2, TWOLANE_LIMIT="0").stderr
    assert "'limit' (environment)" in said
    assert "between 1 and 1000" in said
    assert "unknown setting 'colour'" in twolane("settings", code=2, TWOLANE_COLOUR="no").stderr
    missing = twolane("settings", code=2, TWOLANE_CONFIG="nowhere.toml").stderr
    assert "nowhere.toml" in missing
