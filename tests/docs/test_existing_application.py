"""The example of an application with tables of its own works, on a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

import twolane
from tests.docs.pages import ROOT, read
from tests.postgres_server import BLANK, Server, free_port
from tests.waiting import eventually

PAGE = read(ROOT / "docs" / "howto" / "search-an-application.md")
EXAMPLE = ROOT / "docs" / "examples" / "team_library"


_QUIET = ("--no-access-log", "--log-level", "warning")


@dataclass
class Application:
    """The example with a database of its own."""

    url: str
    folder: Path
    port: int = field(default_factory=free_port)

    @contextmanager
    def running(self) -> Iterator[None]:
        """The application under uvicorn; it is ended by force, as a crash would."""
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "--port", str(self.port), *_QUIET, "app:app"],
            cwd=EXAMPLE,
            env={
                "HOME": str(self.folder),
                "PATH": os.environ.get("PATH", os.defpath),
                "PYTHONPATH": str(Path(twolane.__file__).parents[1]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TEAM_LIBRARY": self.url,
                "TWOLANE_EMBEDDING_EMBEDDER": "hashing",
            },
        )
        try:
            eventually(lambda: process.poll() is not None or self.get("/notes") is not None)
            assert process.poll() is None
            yield
        finally:
            process.kill()
            process.wait()

    def get(self, path: str, user: int = 1) -> Any:
        """What an address answers; None while nobody does."""
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.port}{path}", headers={"x-user": str(user)})
        except httpx.TransportError:
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]

    def titles(self, path: str, user: int = 1) -> list[str]:
        """The titles of a list, in its order."""
        return [one["title"] for one in self.get(path, user)]

    def execute(self, statement: str, *values: object) -> None:
        """What the application writes into its own tables."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode(), values or None)


@pytest.fixture
def application(postgres: Server, tmp_path: Path) -> Iterator[Application]:
    """The application, with a bookmark from before it had an outbox."""
    # A schema that has the name of the role would be looked at first.
    postgres.execute("CREATE ROLE team LOGIN")
    name = postgres.create(template=BLANK)
    postgres.execute(f"ALTER DATABASE {name} OWNER TO team")
    made = Application(postgres.url(name, "team"), tmp_path)
    made.execute((EXAMPLE / "schema.sql").read_text("utf-8"))
    made.execute("INSERT INTO users(name) VALUES ('ann'), ('bob')")
    made.execute(
        "INSERT INTO bookmarks(user_id, url, title, description)"
        " VALUES (1, 'https://tea.example', 'Brewing green tea', 'water of eighty degrees')"
    )
    made.execute((EXAMPLE / "outbox.sql").read_text("utf-8"))
    yield made
    postgres.drop(name)
    postgres.execute("DROP ROLE team")


def test_what_the_tables_hold_is_found(application: Application) -> None:
    """Insert, update, tags, archive, soft delete, restore and delete all reach the search."""
    app = application
    with app.running():
        eventually(lambda: app.titles("/bookmarks?q=tea&sort=relevance") == ["Brewing green tea"])
        app.execute(
            "INSERT INTO notes(user_id, title, content) VALUES"
            " (1, 'Kitchen', 'a kettle for tea'), (2, 'Secret', 'the tea of Bob')"
        )
        app.execute("INSERT INTO prompts(user_id, title, content) VALUES (1, 'Pairing', 'tea and')")
        every = {"Brewing green tea", "Kitchen", "Pairing"}
        eventually(lambda: set(app.titles("/content?q=tea")) == every)
        assert app.titles("/content?q=tea", user=2) == ["Secret"]
        assert app.titles("/content?q=tea&type=note") == ["Kitchen"]
        assert app.titles("/notes") == ["Kitchen"]
        (found,) = app.get("/notes?q=kettle")
        assert "<mark>kettle</mark>" in found["snippet"] and found["id"] == 1

        app.execute("UPDATE notes SET content = 'a samovar' WHERE id = 1")
        eventually(lambda: app.titles("/notes?q=samovar") == ["Kitchen"])

        app.execute("INSERT INTO tags(name) VALUES ('drinks'); INSERT INTO note_tags VALUES (1, 1)")
        eventually(lambda: app.titles("/notes?tag=drinks") == ["Kitchen"])
        app.execute("UPDATE tags SET name = 'beverages'")
        eventually(lambda: app.titles("/notes?tag=beverages") == ["Kitchen"])
        assert app.titles("/notes?tag=drinks") == []
        app.execute("DELETE FROM note_tags")
        eventually(lambda: app.titles("/notes?tag=beverages") == [])

        app.execute("UPDATE notes SET archived_at = now() WHERE id = 1")
        eventually(lambda: app.titles("/notes?q=samovar") == [])
        assert app.titles("/notes?q=samovar&archived=true") == ["Kitchen"]
        app.execute("UPDATE notes SET archived_at = NULL, deleted_at = now() WHERE id = 1")
        eventually(lambda: app.titles("/notes?q=samovar&archived=true") == [])
        app.execute("UPDATE notes SET deleted_at = NULL WHERE id = 1")
        eventually(lambda: app.titles("/notes?q=samovar") == ["Kitchen"])
        app.execute("DELETE FROM notes WHERE id = 1")
        eventually(lambda: app.titles("/notes?q=samovar") == [])
        eventually(lambda: _count(app, "search_outbox") == 0)


def test_nothing_is_lost_while_the_application_is_down(application: Application) -> None:
    """What changed meanwhile waits in the outbox; what cannot be saved is written down."""
    app = application
    with app.running():
        eventually(lambda: app.titles("/bookmarks?q=tea") == ["Brewing green tea"])
    app.execute("UPDATE bookmarks SET title = 'Brewing oolong'")
    app.execute(
        "INSERT INTO notes(user_id, title, content)"
        " VALUES (1, 'Refused', 'has a tag that none can be'), (1, 'Cups', 'of oolong')"
    )
    app.execute("INSERT INTO tags(name) VALUES (chr(7)); INSERT INTO note_tags VALUES (1, 1)")
    assert _count(app, "search_outbox") >= 4
    with app.running():
        eventually(lambda: _count(app, "search_outbox") == 0)
        assert set(app.titles("/content?q=oolong")) == {"Brewing oolong", "Cups"}
        assert _count(app, "search_problems") == 1


def _count(app: Application, table: str) -> int:
    with psycopg.connect(app.url) as connection:
        ((count,),) = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()
    return int(count)


def test_the_page_quotes_the_example() -> None:
    """Every block of the page stands in one of the files as it is."""
    files = "\n".join(file.read_text("utf-8") for file in sorted(EXAMPLE.iterdir()))
    blocks = re.findall(r"^```(?:sql|py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        assert block in files, block
