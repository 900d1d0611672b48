"""Settings: layers, origins, checks."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from twolane.errors import BadSetting
from twolane.settings import Settings, cache_path, database_path, meanings


def test_layers_rise(tmp_path: Path) -> None:
    """Arguments beat the environment, which beats the file, which beats the default."""
    file = tmp_path / "twolane.toml"
    file.write_text('limit = 5\npool = 50\nrrf_k = 10\ndb = "~/x.db"\n', "utf-8")
    loaded = Settings.load(
        {"limit": 7, "pool": None},
        environment={"TWOLANE_LIMIT": "6", "TWOLANE_POOL": "60", "HOME": "/nowhere"},
        file=file,
    )
    assert loaded.settings.limit == 7
    assert loaded.settings.pool == 60
    assert loaded.settings.rrf_k == 10.0
    assert loaded.settings.batch == Settings().batch
    assert {name: loaded.origins[name] for name in ("limit", "pool", "rrf_k", "batch")} == {
        "limit": "argument",
        "pool": "environment",
        "rrf_k": str(file),
        "batch": "default",
    }
    assert loaded.settings.db is not None
    assert "~" not in str(loaded.settings.db)


def test_lists_come_from_text_too() -> None:
    """The environment writes a list with commas."""
    loaded = Settings.load(environment={"TWOLANE_LANGUAGES": "en, ru"})
    assert loaded.settings.languages == ("en", "ru")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"TWOLANE_LIMITS": "5"}, "unknown setting 'limits'"),
        ({"TWOLANE_LIMIT": "many"}, "not a whole number"),
        ({"TWOLANE_LIMIT": "0"}, "must be between 1 and 1000"),
        ({"TWOLANE_RRF_K": "nan"}, "not a number"),
        ({"TWOLANE_EMBEDDER": "magic"}, "must be one of auto"),
        ({"TWOLANE_LANGUAGES": ""}, "at least one language"),
        ({"TWOLANE_CONFIG": "/no/such.toml"}, "no settings file"),
    ],
)
def test_bad_values_are_named(environment: dict[str, str], words: str) -> None:
    """A wrong setting says its name, where it came from and what is allowed."""
    with pytest.raises(BadSetting, match=words):
        Settings.load(environment=environment)


@pytest.mark.parametrize("text", ["limit = ", "limit = true", "limit = 2.5", 'limit = "x"', "\xff"])
def test_bad_files_are_named(tmp_path: Path, text: str) -> None:
    """A settings file that is no TOML or holds a wrong value is named in the error."""
    file = tmp_path / "twolane.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadSetting, match=r"twolane\.toml"):
        Settings.load(environment={}, file=file)


def test_every_setting_has_a_meaning() -> None:
    """Each setting says what it is for, in a sentence."""
    assert meanings().keys() == {one.name for one in fields(Settings)}
    for name, meaning in meanings().items():
        assert meaning.endswith("."), name


def test_places_can_be_chosen(tmp_path: Path) -> None:
    """Database and cache go where the settings say."""
    settings = Settings(db=tmp_path / "a.db", cache=tmp_path / "c")
    assert database_path(settings) == tmp_path / "a.db"
    assert cache_path(settings) == tmp_path / "c"
    assert database_path(Settings()).name == "twolane.db"
