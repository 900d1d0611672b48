"""`twolane settings`."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.conftest import Cli, write
from twolane.settings import DECLARED

MEANINGS = {name: one.metadata["meaning"] for name, one in DECLARED.items()}


def test_every_setting_is_shown(twolane: Cli) -> None:
    """Each setting has its name, value, origin and meaning in JSON, and with --all in text."""
    said = {setting["name"]: setting for setting in twolane.json("settings")["settings"]}
    assert {name: one["meaning"] for name, one in said.items()} == MEANINGS
    limit, embedder = said["search.limit"], said["embedding.embedder"]
    assert (limit["value"], limit["origin"]) == (20, "default")
    assert (embedder["value"], embedder["origin"]) == ("hashing", "environment")
    assert said["index.include"]["value"] == ["*.md", "*.markdown"]
    text = twolane("settings", "--all").stdout
    assert all(name in text and meaning in text for name, meaning in MEANINGS.items())
    assert "--all" not in text


def test_the_usual_ones_come_first(twolane: Cli) -> None:
    """Without --all only the usual settings are shown, and how many others there are."""
    lines = twolane("settings").stdout.splitlines()
    names = [line.partition(" = ")[0] for line in lines if " = " in line and line[0] != " "]
    assert names == [name for name, one in DECLARED.items() if one.metadata["shown"]]
    hidden = len(DECLARED) - len(names)
    assert f"{hidden} more are rarely changed; --all shows them." in lines


def test_what_was_set_is_shown(twolane: Cli) -> None:
    """A setting that is not usual is shown when somebody has set it."""
    assert "server.queue" not in twolane("settings").stdout
    said = twolane("settings", TWOLANE_SERVER_QUEUE="5").stdout
    assert "server.queue = 5  (environment)" in said


def test_values_are_spelled_as_they_are_set(twolane: Cli) -> None:
    """What is shown can be written into the file or the environment."""
    said = twolane("settings", "--all").stdout
    assert "search.semantic = true  (default)" in said
    assert "ranking.model_file = (unset)  (default)" in said
    said = twolane("settings", TWOLANE_SEARCH_SEMANTIC="false").stdout
    assert "search.semantic = false" in said


def test_where_a_value_comes_from(twolane: Cli, tmp_path: Path) -> None:
    """The file, the environment and the argument are told apart, the last one winning."""
    file = twolane.home / "config" / "twolane" / "twolane.toml"
    text = '[search]\nlimit = 7\n[embedding]\nembedder = "none"\n'
    write(file.parent, {file.name: text})
    said = twolane.json("settings", "--db", tmp_path / "x.db")
    found = {setting["name"]: (setting["value"], setting["origin"]) for setting in said["settings"]}
    assert said["file"] == str(file)
    assert found["search.limit"] == (7, str(file))
    assert found["embedding.embedder"] == ("hashing", "environment")
    assert found["db"] == (str(tmp_path / "x.db"), "argument")


def test_the_default_database_is_shown(twolane: Cli) -> None:
    """A place that is not set is shown as where it is."""
    assert str(twolane.db) in twolane("settings").stdout


def test_old_names_are_told_on_standard_error(twolane: Cli) -> None:
    """An old name works; one line on standard error says what it is called now."""
    done = twolane("settings", TWOLANE_LIMIT="7")
    assert "search.limit = 7  (environment)" in done.stdout
    (line,) = [one for one in done.stderr.splitlines() if one]
    assert "TWOLANE_LIMIT is now TWOLANE_SEARCH_LIMIT" in line
    assert twolane("settings", "--quiet", TWOLANE_LIMIT="7").stderr == ""


def test_settings_that_make_no_sense(twolane: Cli) -> None:
    """A wrong value exits with 2 and names the setting, its origin and the remedy."""
    said = twolane("settings", code=2, TWOLANE_SEARCH_LIMIT="0").stderr
    assert "'search.limit' (environment)" in said
    assert "between 1 and 1000" in said
    assert "unknown setting 'colour'" in twolane("settings", code=2, TWOLANE_COLOUR="no").stderr
    near = twolane("settings", code=2, TWOLANE_SEARCH_LIMITS="5").stderr
    assert "did you mean TWOLANE_SEARCH_LIMIT?" in near
    missing = twolane("settings", code=2, TWOLANE_CONFIG="nowhere.toml").stderr
    assert "nowhere.toml" in missing
