"""Where a library is kept: a file, or the address of a server, and never one for the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from twolane import Library
from twolane.model.errors import BadSetting
from twolane.settings import Settings, beside_database, database_place
from twolane.settings.values import Address

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
