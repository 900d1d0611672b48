"""Letters, three by three: how trigrams are spelled, made and asked for in SQLite.

They are dear to write, so writing only notes which documents lack them, and they are made
for many documents at a time.
Until then a document is unsettled, and a search looks through it as it is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import apsw

from twolane.model.candidate import Names
from twolane.stores.sql.document_rows import loaded
from twolane.stores.sqlite.database import Database, rows
from twolane.text.names import lines
from twolane.text.substrings import body_fields, spelled

# So many documents are settled at a time, so that other writers do not wait long.
_AT_A_TIME = 1000

# A few trigrams of a long text tell as much as all of them.
_MOST_TRIGRAMS = 12

_TAGS = """(SELECT json_group_array(t.name ORDER BY dt.position) FROM document_tags AS dt
 JOIN tags AS t ON t.row = dt.tag WHERE dt.document = d.row)"""

# What a document `d` is called, and what the rest of it says, with its text `x`.
CALLED_COLUMNS = "d.id, d.languages, d.title, d.aliases, d.path, d.url"
NAME_COLUMNS = f"{CALLED_COLUMNS}, {_TAGS}"
TEXT_COLUMNS = "d.description, d.summary, d.arguments, d.headings, x.body"

# The next documents to settle; nothing but the number is known of one that is gone.
_NEXT = f"""
SELECT u.document, d.listed, {NAME_COLUMNS}, {TEXT_COLUMNS} FROM unsettled AS u
LEFT JOIN documents AS d ON d.row = u.document LEFT JOIN texts AS x ON x.row = d.row
LIMIT ?"""

# All documents whose trigrams must be there.
_SETTLED = f"""
SELECT d.row, {NAME_COLUMNS}, {TEXT_COLUMNS} FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.listed AND d.row NOT IN (SELECT document FROM unsettled)"""

_NUMBERED = "(SELECT value FROM json_each(?))"


class Settling:
    """Makes the trigrams that writing left for later."""

    def __init__(self, database: Database, *, text_trigrams: bool) -> None:
        self._db = database
        self._text_trigrams = text_trigrams
        self._settled = 0

    def settle(self, *, beyond: int = 0) -> None:
        """Make all trigrams that are missing; other writers may come in between.

        Nothing happens if they are missing for no more than `beyond` documents.
        """
        if beyond and self._waiting() <= beyond:
            return
        self._make()
        if not beyond and self._settled >= _AT_A_TIME:
            # Much was written piece by piece; put together it is read in half the time.
            with self._db.write() as connection:
                for table in ("words", "name_trigrams", "text_trigrams"):
                    connection.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")
            self._settled = 0

    def _waiting(self) -> int:
        with self._db.read() as connection:
            return int(rows(connection, "SELECT count(*) FROM unsettled")[0][0])

    def _make(self) -> None:
        made = True
        while made:
            with self._db.write() as connection:
                _adopt(connection, self._text_trigrams)
                made = bool(count := _settle(connection, self._text_trigrams))
            self._settled += count


def stray_trigrams(connection: apsw.Connection) -> list[str]:
    """The trigram tables that hold other documents, or more or fewer letters, than they should."""
    kept = bool(rows(connection, "SELECT texts FROM trigrams")[0][0])
    unsettled = {row for (row,) in connection.execute("SELECT document FROM unsettled")}
    names: dict[int, int] = {}
    texts: dict[int, int] = {}
    for row in connection.execute(_SETTLED):
        # Signs overlap by two in trigrams.
        names[row[0]] = max(0, len(name_letters(row[1:8])) - 2)
        if kept:
            texts[row[0]] = max(0, len(text_letters(row[8:])) - 2)
    return [
        table
        for table, expected in (("name_trigrams", names), ("text_trigrams", texts))
        if _held(connection, table, unsettled) != expected
    ]


def name_letters(row: Sequence[Any]) -> str:
    """The letters of a row of NAME_COLUMNS."""
    return lines(names_of(row), loaded(row[6]))


def text_letters(row: Sequence[Any]) -> str:
    """The letters of a row of TEXT_COLUMNS."""
    return "\n".join(
        [spelled(text) if text else "" for _, texts in text_fields(row) for text in texts]
    )


def names_of(row: Sequence[Any]) -> Names:
    """The names that a row spells which begins with CALLED_COLUMNS."""
    id, languages, title, aliases, path, url = row[:6]
    return Names(id, tuple(languages.split()), title, tuple(loaded(aliases)), path, url)


def name_fields(row: Sequence[Any]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The fields of a row of NAME_COLUMNS, in the order in which they count."""
    _, _, title, aliases, path, url, tags = row
    yield "title", (title,)
    yield "aliases", tuple(loaded(aliases))
    yield "path", (path or "",)
    yield "url", (url or "",)
    yield "tags", tuple(loaded(tags))


def text_fields(row: Sequence[Any], needle: str = "") -> Iterable[tuple[str, tuple[str, ...]]]:
    """The fields of a row of TEXT_COLUMNS, in the order in which they count.

    What cannot hold the needle may be left out.
    """
    description, summary, arguments, headings, body = row
    yield "description", (description, summary, *loaded(arguments))
    yield "headings", tuple(text for _, text, *_ in loaded(headings))
    yield from body_fields(body, needle)


def holding(*pieces: str) -> str:
    """The FTS5 expression for rows that have the trigrams of all pieces; empty for too few."""
    found = list(dict.fromkeys([one[at : at + 3] for one in pieces for at in range(len(one) - 2)]))
    if len(found) > _MOST_TRIGRAMS:
        step = len(found) / _MOST_TRIGRAMS
        found = [found[round(number * step)] for number in range(_MOST_TRIGRAMS)]
    return " AND ".join('"' + one.replace('"', '""') + '"' for one in found)


def _held(
    connection: apsw.Connection, table: str, without: Collection[int]
) -> dict[int, int] | None:
    """How many trigrams the table has of each document; None if it cannot be read."""
    try:
        return {
            row: _number(size)
            for row, size in connection.execute(f"SELECT id, sz FROM {table}_docsize")
            if row not in without
        }
    except (apsw.CorruptError, apsw.SQLError):
        return None


def _number(written: bytes) -> int:
    """A number as FTS5 writes it: seven bits a byte, the highest first."""
    number = 0
    for byte in written:
        number = number << 7 | byte & 127
    return number


def _adopt(connection: apsw.Connection, texts: bool) -> None:
    """Begin or cease to keep the trigrams of texts, if the setting has changed."""
    if bool(rows(connection, "SELECT texts FROM trigrams")[0][0]) is texts:
        return
    connection.execute("UPDATE trigrams SET texts = ?", (texts,))
    if texts:
        connection.execute("INSERT OR IGNORE INTO unsettled SELECT row FROM texts WHERE listed")
    else:
        connection.execute("INSERT INTO text_trigrams(text_trigrams) VALUES ('delete-all')")


def _settle(connection: apsw.Connection, texts: bool) -> int:
    """Settle some documents; how many there were."""
    waiting = rows(connection, _NEXT, (_AT_A_TIME,))
    if not waiting:
        return 0
    numbers = json.dumps([row[0] for row in waiting])
    for table, column in (
        ("name_trigrams", "rowid"),
        ("text_trigrams", "rowid"),
        ("unsettled", "document"),
    ):
        connection.execute(f"DELETE FROM {table} WHERE {column} IN {_NUMBERED}", (numbers,))
    listed = [row for row in waiting if row[1]]
    connection.executemany(
        "INSERT INTO name_trigrams(rowid, names) VALUES (?, ?)",
        [(row[0], name_letters(row[2:9])) for row in listed],
    )
    if texts:
        connection.executemany(
            "INSERT INTO text_trigrams(rowid, texts) VALUES (?, ?)",
            [(row[0], text_letters(row[9:])) for row in listed],
        )
    return len(waiting)
