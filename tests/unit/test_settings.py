"""Settings: defaults, file, environment, arguments, and where the library is kept."""

from __future__ import annotations

import logging
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from twolane import Library
from twolane.model.errors import BadSetting
from twolane.settings import (
    DECLARED,
    OLD_NAMES,
    Settings,
    beside_database,
    cache_path,
    database_place,
)
from twolane.settings.groups import Search
from twolane.settings.values import RENAMED, Address


def test_layers_rise(tmp_path: Path) -> None:
    """Arguments beat the environment, which beats the file, which beats the default."""
    file = tmp_path / "twolane.toml"
    file.write_text(
        'db = "~/x.db"\n[search]\nlimit = 5\npool = 50\n[ranking]\nrrf_k = 10\n[index]\n', "utf-8"
    )
    loaded = Settings.load(
        {"search.limit": 7, "search.pool": None},
        environment={
            "TWOLANE_SEARCH_LIMIT": "6",
            "TWOLANE_SEARCH_POOL": "60",
            "HOME": "/nowhere",
        },
        file=file,
    )
    assert loaded.settings.search.limit == 7
    assert loaded.settings.search.pool == 60
    assert loaded.settings.ranking.rrf_k == 10.0
    assert loaded.settings.index.batch == Settings().index.batch
    origins = {
        "search.limit": "argument",
        "search.pool": "environment",
        "ranking.rrf_k": str(file),
        "index.batch": "default",
    }
    assert {name: loaded.origins[name] for name in origins} == origins
    assert loaded.settings.db is not None
    assert "~" not in str(loaded.settings.db)


def test_a_dotted_key_is_a_key_of_its_group(tmp_path: Path) -> None:
    """`search.limit = 5` in the file is the same as `limit = 5` below `[search]`."""
    file = tmp_path / "twolane.toml"
    file.write_text("search.limit = 5\n", "utf-8")
    assert Settings.load(environment={}, file=file).settings.search.limit == 5


def test_lists_come_from_text_too() -> None:
    """The environment writes a list with commas."""
    loaded = Settings.load(environment={"TWOLANE_INDEX_LANGUAGES": "en, ru"})
    assert loaded.settings.index.languages == ("en", "ru")


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"TWOLANE_SEARCH_LIMIT": "many"}, "'search.limit' .* not a whole number"),
        ({"TWOLANE_SEARCH_LIMIT": "0"}, "must be between 1 and 1000"),
        ({"TWOLANE_RANKING_RRF_K": "nan"}, "not a number"),
        ({"TWOLANE_RANKING_RRF_K": "-1"}, "must be at least 0"),
        ({"TWOLANE_EMBEDDING_EMBEDDER": "magic"}, "must be one of auto"),
        ({"TWOLANE_INDEX_LANGUAGES": ""}, "at least one language"),
        ({"TWOLANE_CONFIG": "/no/such.toml"}, "no settings file"),
    ],
)
def test_bad_values_are_named(environment: dict[str, str], words: str) -> None:
    """A wrong setting says its name, where it came from and what is allowed."""
    with pytest.raises(BadSetting, match=words):
        Settings.load(environment=environment)


@pytest.mark.parametrize(
    "text",
    ["[search]\nlimit = " + value for value in ("", "true", "2.5", '"x"', "[1]")]
    + ["search = 5", "[search.limit]\na = 1", "[other]\nlimit = 5", "\xff"],
)
def test_bad_files_are_named(tmp_path: Path, text: str) -> None:
    """A settings file that is no TOML or holds a wrong value or name is named in the error."""
    file = tmp_path / "twolane.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadSetting, match=r"twolane\.toml"):
        Settings.load(environment={}, file=file)


def test_a_secret_is_not_repeated() -> None:
    """What is wrong with a key is told without the key."""
    with pytest.raises(BadSetting, match="not a text") as refused:
        Settings(embedding={"key": 8712})
    assert "8712" not in str(refused.value)


class TestMaking:
    """Settings in a program."""

    def test_the_ways_to_make_them_agree(self) -> None:
        """A mapping, a group and a full name say the same, and the rest is the default."""
        made = Settings(search={"limit": 5})
        assert made.search == Search(limit=5)
        assert made == Settings(search=Search(limit=5)) == Settings(**{"search.limit": 5})
        assert made.index == Settings().index
        assert hash(made) == hash(pickle.loads(pickle.dumps(made)))

    def test_others_are_kept_by_a_change(self) -> None:
        """A change of one setting of a group leaves the others of the group as they are."""
        settings = Settings(search={"limit": 5, "pool": 7}, db="x.db")
        changed = settings.changed(search={"limit": 6}, index={"batch": 9})
        assert (changed.search.limit, changed.search.pool, changed.index.batch) == (6, 7, 9)
        assert (changed.db, settings.search.limit) == (Path("x.db"), 5)
        assert replace(settings, db=Path("y.db")).search == settings.search

    @pytest.mark.parametrize("given", [{"limit": 0}, {"limit": "x"}, {"limits": 3}])
    def test_they_are_checked(self, given: dict[str, Any]) -> None:
        """An impossible value or an unknown name is refused where it is written."""
        with pytest.raises(BadSetting, match=r"search\.limit"):
            Settings(search=given)

    def test_flat_and_back(self) -> None:
        """Every value has one full name, and from all of them the same settings are made."""
        settings = Settings(ranking={"rrf_k": 3.0}, embedding={"key": "secret"})
        assert settings.flat().keys() == DECLARED.keys()
        assert Settings(**settings.flat()) == settings

    def test_an_unknown_attribute_is_none(self) -> None:
        """What is neither a group nor an old name is no attribute."""
        with pytest.raises(AttributeError, match="colour"):
            _ = Settings().colour  # type: ignore[attr-defined]


class TestUnknownNames:
    """A name that is none."""

    @pytest.mark.parametrize(
        ("environment", "nearest"),
        [
            ({"TWOLANE_SERCH_LIMIT": "5"}, "TWOLANE_SEARCH_LIMIT"),
            ({"TWOLANE_LIMITS": "5"}, "TWOLANE_SEARCH_LIMIT"),
            ({"TWOLANE_SERVER_PROT": "5"}, "TWOLANE_SERVER_PORT"),
        ],
    )
    def test_the_nearest_variable_is_named(self, environment: dict[str, str], nearest: str) -> None:
        """In the environment the nearest variable is named."""
        with pytest.raises(BadSetting, match=rf"unknown setting .*did you mean {nearest}\?"):
            Settings.load(environment=environment)

    @pytest.mark.parametrize("name", ["search.limt", "serch.limit", "seach.limits", "limitt"])
    def test_the_nearest_setting_is_named(self, name: str) -> None:
        """Elsewhere the nearest full name is named."""
        with pytest.raises(BadSetting, match=r"did you mean search\.limit\?"):
            Settings.load({name: 5}, environment={})

    def test_nothing_is_near(self) -> None:
        """A name like no other has no suggestion, but a place where all are listed."""
        with pytest.raises(BadSetting, match="unknown setting 'colour'") as refused:
            Settings.load(environment={"TWOLANE_COLOUR": "red"})
        assert "did you mean" not in str(refused.value)
        assert "twolane settings --all" in str(refused.value)


class TestOldNames:
    """Names without a group, which work for one release."""

    def test_in_a_program(self) -> None:
        """An old name sets and gives the value, and a warning points at the caller."""
        with pytest.warns(DeprecationWarning, match=r"limit is now search\.limit") as warned:
            settings = Settings(limit=5)
        assert {Path(one.filename).name for one in warned} == {"test_settings.py"}
        assert settings == Settings(search={"limit": 5})
        with pytest.warns(DeprecationWarning, match=r"limit is now search\.limit") as warned:
            assert settings.limit == 5  # type: ignore[attr-defined]
        assert {Path(one.filename).name for one in warned} == {"test_settings.py"}
        with pytest.warns(DeprecationWarning, match=r"pool is now search\.pool"):
            assert replace(settings, pool=9).search == Search(limit=5, pool=9)
        with pytest.warns(DeprecationWarning, match=r"pool is now search\.pool"):
            assert settings.changed(pool=8).search == Search(limit=5, pool=8)

    def test_where_settings_come_from(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """File, environment and arguments may use old names; each has one line in the log."""
        file = tmp_path / "twolane.toml"
        file.write_text('limit = 5\nmodel_url = "http://x"\n', "utf-8")
        with caplog.at_level(logging.WARNING):
            loaded = Settings.load({"rrf_k": "7"}, environment={"TWOLANE_POOL": "6"}, file=file)
        settings = loaded.settings
        assert (settings.search.limit, settings.search.pool) == (5, 6)
        assert (settings.ranking.rrf_k, settings.embedding.url) == (7.0, "http://x")
        assert loaded.origins["search.limit"] == str(file)
        told = sorted(line.partition(";")[0] for line in caplog.messages)
        assert told == [
            "TWOLANE_POOL is now TWOLANE_SEARCH_POOL",
            "limit is now search.limit",
            "model_url is now embedding.url",
            "rrf_k is now ranking.rrf_k",
        ]

    def test_the_new_name_wins(self, tmp_path: Path) -> None:
        """Where both names are written, the new one counts, wherever it stands."""
        file = tmp_path / "twolane.toml"
        file.write_text("limit = 5\n[search]\nlimit = 6\n", "utf-8")
        assert Settings.load(environment={}, file=file).settings.search.limit == 6

    def test_a_wrong_value_is_told_with_the_new_name(self) -> None:
        """An impossible value of an old name says what the setting is called now."""
        with pytest.raises(BadSetting, match=r"'search\.limit' \(environment\): '0' must be"):
            Settings.load(environment={"TWOLANE_LIMIT": "0"})

    def test_what_became_a_constant_is_ignored(self, caplog: pytest.LogCaptureFixture) -> None:
        """A setting that is none any more has no effect, and the user is told."""
        with caplog.at_level(logging.WARNING):
            loaded = Settings.load(environment={"TWOLANE_HALF_USES": "3"})
        assert loaded.settings == Settings.load(environment={}).settings
        assert caplog.messages == ["TWOLANE_HALF_USES is no longer a setting and has no effect"]

    def test_contracts_have_no_other_name(self, caplog: pytest.LogCaptureFixture) -> None:
        """TWOLANE_DB and TWOLANE_CACHE stay what they are, without a warning."""
        environment = {"TWOLANE_DB": "a.db", "TWOLANE_CACHE": "c"}
        settings = Settings.load(environment=environment).settings
        assert (settings.db, settings.cache) == (Path("a.db"), Path("c"))
        assert caplog.messages == []

    def test_every_old_name_leads_somewhere(self) -> None:
        """An old name is none of today's, and today's name is one."""
        assert not OLD_NAMES.keys() & DECLARED.keys()
        assert {one for one in OLD_NAMES.values() if one} <= DECLARED.keys()
        assert {one for one in RENAMED.values() if one} <= DECLARED.keys()
        variables = [one.replace(".", "_") for one in DECLARED]
        assert len(set(variables)) == len(variables)
        assert not OLD_NAMES.keys() & set(variables)


def test_every_setting_is_declared_in_full() -> None:
    """Each setting says what it is for in a sentence, and its default passes its own check."""
    for name, one in DECLARED.items():
        assert one.metadata["meaning"].endswith("."), name
    assert Settings(**{name: one.default for name, one in DECLARED.items()}) == Settings()
    assert len(DECLARED) > len(fields(Settings))


def test_about_fifteen_settings_are_shown() -> None:
    """What is listed without --all fits on a screen, and experiments are not among it."""
    shown = [name for name, one in DECLARED.items() if one.metadata["shown"]]
    assert 12 <= len(shown) <= 18
    assert not [name for name in shown if name.startswith(("experiment.", "ranking."))]


def test_places_can_be_chosen(tmp_path: Path) -> None:
    """Database and cache go where the settings say."""
    settings = Settings(db=tmp_path / "a.db", cache=tmp_path / "c")
    assert database_place(settings) == tmp_path / "a.db"
    assert cache_path(settings) == tmp_path / "c"
    assert database_place(Settings()).name == "twolane.db"


def test_a_path_that_is_set_to_nothing_is_not_set(tmp_path: Path) -> None:
    """`TWOLANE_DB=` means the usual database, not the folder that one happens to be in."""
    environment = {"TWOLANE_DB": "", "TWOLANE_CONFIG": "", "TWOLANE_CACHE": ""}
    loaded = Settings.load(environment=environment)
    assert (loaded.settings.db, loaded.settings.cache) == (None, None)
    assert loaded.origins["db"] == "default"


URL = "postgresql://ann:secret@db.example:5433/notes?sslmode=require"


@pytest.mark.parametrize("given", [URL, URL.replace("postgresql:", "postgres:"), "POSTGRESQL://x"])
def test_an_address_is_kept_as_it_is(given: str) -> None:
    """What has the scheme of a server that is known is an address, wherever it comes from."""
    for settings in (
        Settings(db=given),
        Settings.load({"db": given}).settings,
        Settings.load(environment={"TWOLANE_DB": given}).settings,
        Settings().changed(db=given).changed(search={"limit": 3}),
    ):
        assert settings.db == Address(given)
        assert database_place(settings) == Address(given)


@pytest.mark.parametrize("given", ["mysql://host/x", "sqlite:///a.db", "file:///a.db", "x+y://"])
def test_an_unknown_scheme_is_refused(given: str, tmp_path: Path) -> None:
    """It is neither opened nor taken for a file, and the message says what can be named."""
    with pytest.raises(BadSetting, match="no store here speaks; name a file"):
        Settings(db=given)
    with pytest.raises(BadSetting, match="name a file"):
        Library.open(given)
    assert not list(tmp_path.iterdir())


def test_a_path_is_a_path() -> None:
    """Names with a colon, a drive and a home are files, as they always were."""
    for given in ("a.db", "C:/notes/a.db", "a:b.db", "./postgresql:/x", "notes//a.db"):
        assert Settings(db=given).db == Path(given)
    assert Settings(db="~/a.db").db == Path("~/a.db").expanduser()


def test_an_address_that_went_through_a_path_is_one() -> None:
    """A path drops a slash of an address, which must not become a folder of that name."""
    assert Settings(db=Path(URL)).db == Address(URL)
    with pytest.raises(BadSetting):
        Settings(db=Path("mysql://host/x"))


def test_a_password_is_never_shown() -> None:
    """Printed, in a message or among the options, an address says all but that."""
    for url in (
        URL,
        "postgresql://host/x?user=ann&password=secret&connect_timeout=3",
        "postgresql://ann:a/secret@host/x",
        "postgresql://ann:secret?@[host/x",
        "postgresql://ann:p@secret@host/x",
    ):
        settings = Settings(db=url)
        assert "secret" not in str(settings.db)
        assert "secret" not in repr(settings)
        assert "***" in str(settings.db)
    assert str(Settings(db="postgresql://ann@host/x").db) == "postgresql://ann@host/x"
    with pytest.raises(BadSetting) as caught:
        Settings(db="mysql://ann:secret@host/x")
    assert "secret" not in str(caught.value)


def test_files_beside_a_server_are_where_the_database_would_be() -> None:
    """What belongs to a database has a place even where that is no file."""
    assert beside_database(Settings(db="a/b.db"), ".golden.json") == Path("a/b.golden.json")
    assert beside_database(Settings(db=URL), ".golden.json").name == "twolane.golden.json"
