"""`twolane db`: the tables of a database, whether it is sound, and copies of all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.interfaces.conftest import Cli
from tests.postgres_server import BLANK, Server
from twolane import Library, Settings
from twolane.stores.postgres.migrating import known


def test_status_and_upgrade_of_a_server(twolane: Cli, postgres: Server) -> None:
    """An empty database has no tables; `upgrade` makes them, and again is harmless."""
    name = postgres.create(template=BLANK)
    cli = twolane.where(TWOLANE_DB=postgres.url(name))
    newest = known()[-1].number
    try:
        said = cli("db", "status", code=1).stdout
        assert "none yet" in said and "PostgreSQL" in said and "vector" in said
        assert f"version {newest} was made" in cli("db", "upgrade").stdout
        assert "as before" in cli("db", "upgrade").stdout
        assert f"version {newest}, up to date" in cli("db", "status").stdout
        with psycopg.connect(postgres.url(name)) as connection:
            connection.execute("INSERT INTO twolane.migrations(number, name) VALUES (99, 'later')")
        assert "upgrade Twolane" in cli("db", "upgrade", code=4).stderr
    finally:
        postgres.drop(name)


def test_status_and_upgrade_of_a_file(twolane: Cli, vault: Path) -> None:
    """A file has tables of its own."""
    assert "none yet" in twolane("db", "status", code=1).stdout
    assert not twolane.db.exists()
    assert "was made" in twolane("db", "upgrade").stdout
    assert "up to date" in twolane("db", "status").stdout
    twolane("index", vault)
    assert "is sound" in twolane("db", "check").stdout
    assert twolane("db", "check", "--quiet").stdout == ""


def test_check_tells_what_is_wrong(twolane: Cli, postgres: Server, vault: Path) -> None:
    """Damage is named and exits with 1; `doctor --fix` mends it, and keeps no file of it."""
    with postgres.database() as url:
        cli = twolane.where(TWOLANE_DB=url)
        cli("index", vault)
        assert "is sound" in cli("db", "check").stdout
        postgres.execute("DELETE FROM twolane.words", database=url.rpartition("/")[2])
        assert "cannot be found" in cli("db", "check", code=1).stdout
        mended = cli("doctor", "--fix").stdout
        assert "written again" in mended and "pg_dump" in mended
        assert "is sound" in cli("db", "check").stdout
        assert cli.json("search", "--mode", "lexical", "shoots")["results"]


@pytest.mark.parametrize("back", [False, True])
def test_a_copy_is_the_same_library(
    twolane: Cli, postgres_url: str, vault: Path, tmp_path: Path, back: bool
) -> None:
    """From a file to a server, or back: documents, vectors, uses and what is deleted."""
    places = [str(tmp_path / "notes.db"), postgres_url]
    source, target = (
        twolane.where(TWOLANE_DB=place) for place in (reversed(places) if back else places)
    )
    source("index", vault)
    source("save", "-", "--id", "s1", "--title", "Saved", "--tag", "kept", stdin=b"A saved text.")
    source("save", "-", "--id", "s2", "--title", "Gone", stdin=b"A deleted text.")
    source("delete", "s2")
    source("touch", "s1")
    source("token", "add", "gone")
    source("token", "revoke", "gone")
    said = source("db", "copy", target.environment["TWOLANE_DB"]).stdout
    assert "6 documents" in said and "verified" in said
    for query in ("green tea", "saved", "компост", '"side shoots"'):
        answers = [cli.json("search", query)["results"] for cli in (source, target)]
        assert [one["id"] for one in answers[0]] == [one["id"] for one in answers[1]]
        assert answers[0]
    stati = [cli.json("status") for cli in (source, target)]
    for name in ("documents", "chunks", "embedded", "pending", "failed"):
        assert stati[0][name] == stati[1][name], name
    assert "is sound" in target("db", "check").stdout
    with Library.open(settings=Settings(db=target.environment["TWOLANE_DB"])) as library:
        # Nobody gets into the copy without a token who did not get into the original.
        assert library.had_tokens() and not library.tokens()
    # Nothing is read or embedded again, and what was deleted comes back.
    again = target.json("index", vault)["collections"][0]
    assert (again["indexed"], again["unchanged"]) == (0, 4)
    target("undelete", "s2")
    assert target.json("search", "--mode", "lexical", "deleted")["results"][0]["id"] == "s2"


def test_a_copy_is_not_made_over_another_library(
    twolane: Cli, postgres_url: str, vault: Path
) -> None:
    """What holds a library already is refused, and so is the database itself."""
    twolane("index", vault)
    twolane("db", "copy", postgres_url)
    assert "holds a library already" in twolane("db", "copy", postgres_url, code=2).stderr
    assert "into itself" in twolane("db", "copy", twolane.db, "--db", twolane.db, code=2).stderr
    assert "name a file" in twolane("db", "copy", "mysql://x/y", code=2).stderr


# Dies when the documents are copied, and the vectors are not.
DYING = """
import os, sys
from twolane.interfaces.cli import main
from twolane.library.copying import Copier
Copier._copy_vectors = lambda *_: os._exit(9)
sys.argv = ["twolane", *sys.argv[1:]]
main()
"""


def test_a_copy_is_there_when_it_is_whole(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """Until then it has another name, and what a killed process left under that is no matter."""
    twolane("index", vault)
    target = tmp_path / "copy.db"
    words = [sys.executable, "-c", DYING, "db", "copy", str(target)]
    died = subprocess.run(words, env=twolane.environment, cwd=twolane.home, check=False)
    assert died.returncode == 9
    assert not target.exists() and target.with_name("copy.db.part").exists()
    assert "verified" in twolane("db", "copy", target).stdout
    assert [one.name for one in tmp_path.glob("copy.db*")] == ["copy.db"]
    assert twolane.where(TWOLANE_DB=str(target)).json("status")["documents"] == 4
