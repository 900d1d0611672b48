"""Writing a batch of documents: a few statements over all of them, not a few for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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
from twolane.stores.sqlite.form_keys import packed
from twolane.stores.sqlite.overlapping import run_beside

_TEXT_COLUMNS = "row, listed, words, title, aliases, tags, headings, description, url, stems, body"

# The full-text index writes itself out whenever a statement with a trigger on it begins.
# So the texts of a batch are inserted by one statement.
_INSERT_TEXTS = f"INSERT INTO texts({_TEXT_COLUMNS}) VALUES "
_TEXT = f"({','.join('?' * len(_TEXT_COLUMNS.split(',')))})"

_INSERT_CHUNK = """
INSERT INTO chunks(document, position, start, "end", first_line, last_line, headings, language,
                   tokens, content_hash, text_hash, lender, forms)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"""

_INSERT_VALUE = """
INSERT INTO property_values(document, name, text, number, moment) VALUES (?,?,?,?,?)"""

_INSERT_SKETCH = "INSERT INTO sketches(document, runs) VALUES (?,?)"

# So few documents are written before a thread has begun.
_FEW = 50

# A statement may have 32,766 values, of which a text takes eleven.
_MOST = 2000

_Placed = tuple[int, Prepared]

# A statement and the rows that it is run for.
_Rows = tuple[str, list[tuple[object, ...]]]


def write(
    connection: apsw.Connection, upserts: Iterable[Prepared], collection: int, revision: int
) -> None:
    """Add the documents or replace those with their ids; of several with one id the last."""
    latest = list({prepared.document.id: prepared for prepared in upserts}.values())
    for start in range(0, len(latest), _MOST):
        _write(connection, latest[start : start + _MOST], collection, revision)


def _write(
    connection: apsw.Connection, upserts: Sequence[Prepared], collection: int, revision: int
) -> None:
    """Write documents of different ids."""
    known = dict(
        rows(
            connection,
            "SELECT id, row FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (dumped_texts([one.document.id for one in upserts]),),
        )
    )
    free = rows(connection, "SELECT coalesce(max(row), 0) + 1 FROM documents")[0][0]
    old = [(known[one.document.id], one) for one in upserts if one.document.id in known]
    fresh = (one for one in upserts if one.document.id not in known)
    new = list(enumerate(fresh, start=free))
    both = [*old, *new]
    _clear(connection, [row for row, _ in old])
    connection.executemany(REFRESH_DOCUMENT, _document_values(old, collection, revision))
    write_tags(connection, [(row, prepared.document.tags) for row, prepared in both])

    def others() -> list[_Rows]:
        return [
            (INSERT_DOCUMENT, _document_values(new, collection, revision)),
            (_INSERT_VALUE, _property_values(both)),
            (_INSERT_CHUNK, _chunk_values(both)),
            (_INSERT_SKETCH, _sketches(both)),
        ]

    for statement, values in _write_texts(connection, both, others):
        connection.executemany(statement, values)


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
            (dumped_texts(list(names)),),
        )
    )


def _write_texts(
    connection: apsw.Connection, placed: Sequence[_Placed], others: Callable[[], list[_Rows]]
) -> list[_Rows]:
    """Insert the texts, and make the `others` meanwhile."""
    statement = _INSERT_TEXTS + ",".join([_TEXT] * len(placed))
    values: list[object] = []
    for row, prepared in placed:
        values += _text_values(row, prepared)
    if len(placed) > _FEW:
        return run_beside(connection, statement, values, others)
    connection.execute(statement, values)
    return others()


def _document_values(
    placed: Sequence[_Placed], collection: int, revision: int
) -> list[tuple[object, ...]]:
    return [values_of(prepared, row, collection, revision) for row, prepared in placed]


def _property_values(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    return [
        (row, *fact)
        for row, prepared in placed
        if prepared.document.properties and not prepared.document.encrypted
        for fact in facts(prepared.document.properties)
    ]


def _sketches(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
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
            packed(chunk.forms),
        )
        for row, prepared in placed
        for chunk in prepared.chunks
    ]
