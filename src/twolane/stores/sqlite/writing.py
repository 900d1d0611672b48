"""Writing a batch of documents: a few statements over all of them, not a few for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from twolane.model.document import Prepared
from twolane.stores.sql.document_rows import dumped_texts
from twolane.stores.sqlite.database import Session
from twolane.stores.sqlite.document_rows import (
    INSERT_DOCUMENT,
    REFRESH_DOCUMENT,
    packed,
    values_of,
)
from twolane.stores.sqlite.seals import seal_rows
from twolane.stores.sqlite.versions import free_row
from twolane.stores.term_vectors import pack
from twolane.text.property_values import facts
from twolane.text.tokens import fold, stream

_TEXT_COLUMNS = "row, listed, words, title, aliases, tags, headings, description, url, stems, body"

# The full-text index writes itself out whenever a statement with a trigger on it begins.
# So the texts of a batch are inserted by one statement.
_INSERT_TEXTS = f"INSERT INTO texts({_TEXT_COLUMNS}) VALUES "
_TEXT = f"({','.join('?' * len(_TEXT_COLUMNS.split(',')))})"

_INSERT_CHUNK = """
INSERT INTO chunks(document, position, start, "end", first_line, last_line, headings, language,
                   tokens, content_hash, text_hash, forms)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"""

_INSERT_VALUE = """
INSERT INTO property_values(document, name, text, number, moment) VALUES (?,?,?,?,?)"""

_INSERT_SKETCH = "INSERT INTO sketches(document, runs) VALUES (?,?)"

_INSERT_TERMS = "INSERT INTO term_vectors(document, terms) VALUES (?,?)"

# A statement may have 32,766 values, of which a text takes eleven.
_MOST = 2000

_Placed = tuple[int, Prepared]


def write(
    session: Session, upserts: Iterable[Prepared], collection: int, revision: int
) -> set[str]:
    """Add the documents or replace those with their ids; of several with one id the last.

    The content hashes of the passages that were replaced.
    """
    latest = list({prepared.document.id: prepared for prepared in upserts}.values())
    replaced: set[str] = set()
    for start in range(0, len(latest), _MOST):
        replaced |= _write(session, latest[start : start + _MOST], collection, revision)
    return replaced


def _write(
    session: Session, upserts: Sequence[Prepared], collection: int, revision: int
) -> set[str]:
    """Write documents of different ids."""
    known = dict(
        session.rows(
            "SELECT id, row FROM documents WHERE id = ANY(?)",
            ([one.document.id for one in upserts],),
        )
    )
    free = free_row(session.connection, "documents")
    old = [(known[one.document.id], one) for one in upserts if one.document.id in known]
    fresh = (one for one in upserts if one.document.id not in known)
    new = list(enumerate(fresh, start=free))
    both = [*old, *new]
    replaced = _clear(session, [row for row, _ in old])
    session.run_all(REFRESH_DOCUMENT, _document_values(old, collection, revision))
    write_tags(session, [(row, prepared.document.tags) for row, prepared in both])
    _write_texts(session, both)
    session.run_all(INSERT_DOCUMENT, _document_values(new, collection, revision))
    session.run_all(_INSERT_VALUE, _property_values(both))
    session.run_all(_INSERT_CHUNK, _chunk_values(both))
    session.run_all(_INSERT_SKETCH, _sketches(both))
    session.run_all(_INSERT_TERMS, _term_vectors(both))
    seal_rows(session.connection, [row for row, _ in both])
    return replaced


def _clear(session: Session, old: Sequence[int]) -> set[str]:
    """Take out what is written anew; the content hashes of the passages that go."""
    if not old:
        return set()
    passages = "SELECT content_hash FROM chunks WHERE document = ANY(?)"
    replaced = {content for (content,) in session.rows(passages, (list(old),))}
    # Leaving the index first keeps tag changes from rewriting it one by one.
    session.run("DELETE FROM texts WHERE row = ANY(?)", (list(old),))
    for table in ("document_tags", "chunks", "property_values", "sketches"):
        session.run(f"DELETE FROM {table} WHERE document = ANY(?)", (list(old),))
    return replaced


def write_tags(session: Session, placed: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """Give documents, named by row, their tags; they must have none."""
    names = {name for _, tags in placed for name in tags}
    if not names:
        return
    held = _tag_rows(session, names)
    missing = sorted(names - held.keys())
    if missing:
        numbered = enumerate(missing, start=free_row(session.connection, "tags"))
        session.run_all(
            "INSERT INTO tags(row, name, key, stems) VALUES (?,?,?,?)",
            [(row, name, fold(name), stream(name)) for row, name in numbered],
        )
        held |= _tag_rows(session, missing)
    given = [(row, place, held[name]) for row, tags in placed for place, name in enumerate(tags)]
    # One statement: each one that has a trigger on it costs as much as the row that it writes.
    session.run(
        "INSERT OR IGNORE INTO document_tags(document, position, tag)"
        " SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
        (given,),
    )


def _tag_rows(session: Session, names: Iterable[str]) -> dict[str, int]:
    return dict(session.rows("SELECT name, row FROM tags WHERE name = ANY(?)", (list(names),)))


def _write_texts(session: Session, placed: Sequence[_Placed]) -> None:
    statement = _INSERT_TEXTS + ",".join([_TEXT] * len(placed))
    values: list[object] = []
    for row, prepared in placed:
        values += _text_values(row, prepared)
    session.run(statement, values)


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


def _term_vectors(placed: Sequence[_Placed]) -> list[tuple[object, ...]]:
    packed_terms = ((row, pack(prepared.stems.body)) for row, prepared in placed)
    return [(row, terms) for row, terms in packed_terms if terms is not None]


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
            packed(chunk.boilerplate),
        )
        for row, prepared in placed
        for chunk in prepared.chunks
    ]
