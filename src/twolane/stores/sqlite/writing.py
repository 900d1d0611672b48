"""Writing a batch of documents: a few statements over all of them, not a few for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from twolane.language import fold, stream
from twolane.model import Prepared
from twolane.properties import facts
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.document_rows import (
    INSERT_DOCUMENT,
    REFRESH_DOCUMENT,
    dumped,
    dumped_texts,
    values_of,
)

_TEXT_COLUMNS = "row, listed, words, title, aliases, tags, headings, description, url, stems, body"

# The full-text index writes itself out whenever a statement with a trigger on it begins.
# So the texts of a batch are gathered aside, and then inserted by one statement.
_GATHER = f"CREATE TEMP TABLE IF NOT EXISTS gathered({_TEXT_COLUMNS})"
_GATHER_TEXT = f"INSERT INTO temp.gathered({_TEXT_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_TEXTS = f"INSERT INTO texts({_TEXT_COLUMNS}) SELECT {_TEXT_COLUMNS} FROM temp.gathered"

_INSERT_CHUNK = """
INSERT INTO chunks(document, position, start, "end", first_line, last_line, headings, language,
                   tokens, content_hash, text_hash, lender)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"""

_INSERT_VALUE = """
INSERT INTO property_values(document, name, text, number, moment) VALUES (?,?,?,?,?)"""

_Placed = tuple[int, Prepared]


def write(
    connection: apsw.Connection, upserts: Iterable[Prepared], collection: int, revision: int
) -> None:
    """Add the documents or replace those with their ids; of several with one id the last."""
    latest = {prepared.document.id: prepared for prepared in upserts}
    if not latest:
        return
    known = dict(
        rows(
            connection,
            "SELECT id, row FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (dumped(list(latest)),),
        )
    )
    free = rows(connection, "SELECT coalesce(max(row), 0) + 1 FROM documents")[0][0]
    old = [(known[id], prepared) for id, prepared in latest.items() if id in known]
    new = list(enumerate((one for id, one in latest.items() if id not in known), start=free))
    _clear(connection, [row for row, _ in old])
    for statement, placed in ((REFRESH_DOCUMENT, old), (INSERT_DOCUMENT, new)):
        connection.executemany(
            statement,
            [values_of(prepared, row, collection, revision) for row, prepared in placed],
        )
    both = [*old, *new]
    write_tags(connection, [(row, prepared.document.tags) for row, prepared in both])
    connection.executemany(_INSERT_VALUE, _property_values(both))
    connection.execute(_GATHER)
    connection.executemany(_GATHER_TEXT, [_text_values(row, one) for row, one in both])
    connection.execute(_INSERT_TEXTS)
    connection.execute("DELETE FROM temp.gathered")
    connection.executemany(_INSERT_CHUNK, _chunk_values(both))
    connection.executemany("INSERT INTO sketches(document, runs) VALUES (?,?)", _sketches(both))


def _clear(connection: apsw.Connection, old: Sequence[int]) -> None:
    # Leaving the index first keeps tag changes from rewriting it one by one.
    if not old:
        return
    for statement in (
        "DELETE FROM texts WHERE row IN (SELECT value FROM json_each(?))",
        "DELETE FROM document_tags WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM chunks WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM property_values WHERE document IN (SELECT value FROM json_each(?))",
        "DELETE FROM sketches WHERE document IN (SELECT value FROM json_each(?))",
    ):
        connection.execute(statement, (dumped(old),))


def write_tags(connection: apsw.Connection, placed: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """Give documents, named by row, their tags; they must have none."""
    names = {name for _, tags in placed for name in tags}
    if not names:
        return
    held = _tag_rows(connection, names)
    missing = sorted(names - held.keys())
    if missing:
        connection.executemany(
            "INSERT INTO tags(name, key, stems) VALUES (?,?,?)",
            [(name, fold(name), stream(name)) for name in missing],
        )
        held |= _tag_rows(connection, missing)
    given = [(row, place, held[name]) for row, tags in placed for place, name in enumerate(tags)]
    # One statement: each one that has a trigger on it costs as much as the row that it writes.
    connection.execute(
        "INSERT OR IGNORE INTO document_tags(document, position, tag)"
        " SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
        (dumped(given),),
    )


def _tag_rows(connection: apsw.Connection, names: Iterable[str]) -> dict[str, int]:
    return dict(
        rows(
            connection,
            "SELECT name, row FROM tags WHERE name IN (SELECT value FROM json_each(?))",
            (dumped(list(names)),),
        )
    )


def _property_values(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    return [
        (row, *fact)
        for row, prepared in placed
        if prepared.document.properties and not prepared.document.encrypted
        for fact in facts(prepared.document.properties)
    ]


def _sketches(placed: Sequence[_Placed]) -> list[tuple[int, bytes]]:
    # The hashes of short runs of words would tell much of what is encrypted.
    return [
        (row, prepared.sketch)
        for row, prepared in placed
        if prepared.sketch and not prepared.document.encrypted
    ]


def _text_values(row: int, prepared: Prepared) -> tuple[object, ...]:
    document, stems = prepared.document, prepared.stems
    return (
        row,
        not document.hidden,
        stems.body.count(" ") // 2,
        stems.title,
        stems.aliases,
        stems.tags,
        stems.headings,
        stems.description,
        stems.url,
        stems.body,
        document.body,
    )


def _chunk_values(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    return [
        (
            row,
            chunk.position,
            chunk.start,
            chunk.end,
            chunk.first_line,
            chunk.last_line,
            dumped_texts(chunk.headings),
            chunk.language,
            chunk.tokens,
            chunk.content_hash,
            chunk.text_hash,
            chunk.lender,
        )
        for row, prepared in placed
        for chunk in prepared.chunks
    ]
