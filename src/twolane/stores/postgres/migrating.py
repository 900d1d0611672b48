"""The tables: made and changed by numbered files of SQL, forwards only, one process at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg

from twolane.model.errors import NewerSchema, NoDatabase, NotADatabase, StoreError

Connection = psycopg.Connection[Any]

SCHEMA = "twolane"

# Whoever changes the tables holds this, whichever program it is: "twln" as a number.
_LOCK = 0x74776C6E

# So often whoever waits for another's upgrade looks whether it is done.
_LOOK_SECONDS = 0.1

# A file with this line runs statement by statement outside of a transaction, so that it may build
# indexes while others write; each of its statements must be harmless when it runs again.
_OUTSIDE = "-- outside of a transaction"

# So long a step waits for a table: whoever comes after it waits for that table, too.
LOCK_SECONDS = 5.0

_HELD = "SELECT count(*), coalesce(max(number), 0) FROM twolane.migrations"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number, its name and its statements."""

    number: int
    name: str
    text: str


def known() -> list[Migration]:
    """All steps that this version knows, in order."""
    folder = files("twolane.stores.postgres").joinpath("migrations")
    found = []
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text("utf-8")))
    return found


def prepare(
    connection: Connection,
    place: str,
    *,
    create: bool,
    steps: Sequence[Migration] | None = None,
    read_only: bool = False,
) -> frozenset[str]:
    """Bring the tables to this version; the extensions that there are.

    Tables that are not there yet are made only if `create` says so.
    Those of a copy, which is `read_only`, are brought up to date where they are copied from.
    """
    steps = known() if steps is None else steps
    held = applied(connection, place)
    newest = steps[-1].number
    if held == 0 and not create:
        raise NoDatabase(place)
    if held > newest:
        raise NewerSchema(
            f"{place} has schema {held}, this Twolane knows {newest}; upgrade Twolane"
        )
    if held < newest and read_only:
        raise StoreError(f"{place} has schema {held}, and is to have {newest} like its original")
    if held < newest:
        upgrade(connection, place, steps)
    return _extensions(connection)


def applied(connection: Connection, place: str) -> int:
    """The number of the last step that was taken; 0 where there are no tables of ours."""
    schema = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
    if not connection.execute(schema, (SCHEMA,)).fetchall():
        return 0
    there = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    tables = {name for (name,) in connection.execute(there, (SCHEMA,)).fetchall()}
    if "migrations" not in tables:
        if tables:
            raise NotADatabase(
                f"{place} has a schema {SCHEMA!r} of another program; choose another database"
            )
        return 0
    ((_, number),) = connection.execute(_HELD).fetchall()
    return int(number)


def upgrade(connection: Connection, place: str, steps: Sequence[Migration]) -> list[Migration]:
    """Take the steps that are missing, while everybody else who wants to waits; those taken."""
    # Not by a statement that waits: an index that is built beside other work waits for those.
    while not connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchall()[0][0]:
        time.sleep(_LOOK_SECONDS)
    try:
        # Another process may have done it in the meantime.
        held = applied(connection, place)
        if held == 0:
            _begin(connection, place)
        missing = [step for step in steps if step.number > held]
        for step in missing:
            _take(connection, step)
        return missing
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _begin(connection: Connection, place: str) -> None:
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations(number integer PRIMARY KEY,"
        " name text NOT NULL, taken timestamptz NOT NULL DEFAULT now())"
    )
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.Error as error:
        raise StoreError(
            f"{place} lacks the extension pgvector ({str(error).partition(chr(10))[0]}); install "
            "it on the server, and let an administrator run CREATE EXTENSION vector"
        ) from error
    offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'"
    if connection.execute(offered).fetchall():
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except psycopg.errors.InsufficientPrivilege:
            # Letters are found without it, too; it takes longer.
            return


def _take(connection: Connection, step: Migration) -> None:
    note = f"INSERT INTO {SCHEMA}.migrations(number, name) VALUES ({step.number}, '{step.name}')"
    if _OUTSIDE in step.text:
        for statement in step.text.split(";\n"):
            if statement.strip():
                connection.execute(statement.encode())
        connection.execute(note.encode())
        return
    try:
        begin = f"BEGIN;\nSET LOCAL lock_timeout = {round(LOCK_SECONDS * 1000)}"
        connection.execute(f"{begin};\n{step.text};\n{note};\nCOMMIT".encode())
    except psycopg.Error:
        connection.execute("ROLLBACK")
        raise


def _extensions(connection: Connection) -> frozenset[str]:
    found = connection.execute("SELECT extname FROM pg_extension").fetchall()
    return frozenset(name for (name,) in found)
