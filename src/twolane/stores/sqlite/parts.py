"""What a sound file consists of: tables with their columns, views, indexes and triggers.

All of it is read from the schema itself, so that nothing has to be listed twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from twolane.model.values import dataclass
from twolane.stores.sqlite.functions import register

SCHEMA_FILE = Path(__file__).with_name("schema.sql")


@dataclass(slots=True)
class Parts:
    """The schema taken apart.

    `statements` make each part by name, `kinds` say what it is (a table, a virtual table, …),
    `columns` are the declared types of the columns of ordinary tables,
    `rows` are those that a table has from the beginning.
    """

    statements: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)


@cache
def parts() -> Parts:
    """The parts of the newest schema."""
    connection = apsw.Connection(":memory:")
    try:
        register(connection)
        connection.execute(SCHEMA_FILE.read_text("utf-8"))
        return _taken_apart(connection)
    finally:
        connection.close()


def missing(connection: apsw.Connection, *kinds: str) -> list[str]:
    """Names of parts of these kinds that the file lacks, in the order of the schema."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    known = parts()
    return [name for name, kind in known.kinds.items() if kind in kinds and name not in there]


def is_newest(connection: apsw.Connection) -> bool:
    """Whether the file has every table of the newest schema, with every column."""
    if missing(connection, "table", "virtual", "view"):
        return False
    return all(
        set(columns) <= {one[1] for one in connection.execute(f"PRAGMA table_xinfo({name})")}
        for name, columns in parts().columns.items()
    )


def make(connection: apsw.Connection, name: str) -> None:
    """Make a part that is missing, with the rows that it has from the beginning."""
    connection.execute(parts().statements[name])
    fill(connection, name)


def fill(connection: apsw.Connection, name: str) -> None:
    """Give a table the rows that it has from the beginning."""
    for row in parts().rows.get(name, ()):
        connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)


def lost_rows(connection: apsw.Connection) -> list[str]:
    """Tables that lack rows which they have from the beginning."""
    return [
        name
        for name, rows in parts().rows.items()
        if rows and connection.execute(f"SELECT count(*) FROM {name}").get < len(rows)
    ]


def is_damaged(connection: apsw.Connection) -> bool:
    """Whether the file holds what no program of ours wrote; the quick look after a surprise."""
    try:
        return bool(
            missing(connection, "table", "virtual", "shadow", "view")
            or next(unsound_values(connection), None)
            or lost_rows(connection)
            or connection.execute("PRAGMA quick_check(1)").get != "ok"
        )
    except apsw.InterruptError:
        # There was no time to look.
        return False
    except (apsw.Error, UnicodeDecodeError):
        return True


def unsound_values(connection: apsw.Connection) -> Iterator[tuple[str, str, int]]:
    """Columns that hold what their type cannot be: table, column, and how many rows."""
    for table, columns in parts().columns.items():
        for column, type in columns.items():
            count = connection.execute(
                f'SELECT count(*) FROM {table} WHERE {_UNSOUND[type].format(f""""{column}" """)}'
            ).get
            if count:
                yield table, column, count


def mend_values(connection: apsw.Connection, table: str, column: str) -> None:
    """Make of each such value what its type can be: letters that are none become U+FFFD."""
    type, name = parts().columns[table][column], f'"{column}"'
    connection.execute(
        f"UPDATE OR IGNORE {table} SET {name} = {_MENDED[type].format(name)}"
        f" WHERE {_UNSOUND[type].format(name)}"
    )


# What no value of a type can be; whether a value may be missing is looked at by SQLite.
_UNSOUND: Mapping[str, str] = {
    "TEXT": "typeof({0}) NOT IN ('text', 'null') OR NOT is_text(CAST({0} AS BLOB))",
    "INTEGER": "typeof({0}) NOT IN ('integer', 'null')",
    "REAL": "typeof({0}) NOT IN ('real', 'integer', 'null')",
    "BLOB": "typeof({0}) NOT IN ('blob', 'null')",
}
_MENDED: Mapping[str, str] = {
    "TEXT": "as_text(CAST({0} AS BLOB))",
    "INTEGER": "CAST(as_text(CAST({0} AS BLOB)) AS INTEGER)",
    "REAL": "CAST(as_text(CAST({0} AS BLOB)) AS REAL)",
    "BLOB": "CAST({0} AS BLOB)",
}


def _taken_apart(connection: apsw.Connection) -> Parts:
    made = Parts()
    listed: list[Any] = connection.execute("PRAGMA main.table_list").fetchall()
    tables = {name: kind for _, name, kind, *_ in listed}
    named: list[Any] = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    ).fetchall()
    for kind, name, sql in named:
        # Shadows are made and dropped together with their virtual table.
        made.kinds[name] = tables.get(name, kind)
        made.statements[name] = sql
    made.kinds.pop("sqlite_sequence", None)
    for name, kind in made.kinds.items():
        if kind != "table":
            continue
        found: list[Any] = connection.execute(f"PRAGMA table_xinfo({name})").fetchall()
        made.columns[name] = {column: type for _, column, type, *_, hidden in found if not hidden}
        made.rows[name] = connection.execute(f"SELECT * FROM {name}").fetchall()
    return made
