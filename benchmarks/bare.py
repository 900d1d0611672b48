"""The baseline of the store: the same streams in a full-text table and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

from twolane.model.document import FIELDS, Stems

# As FTS5 comes: it keeps the texts that it indexes. The columns and the tokenizer are the store's.
_PLAIN = """
CREATE VIRTUAL TABLE words USING fts5(
    title, aliases, tags, headings, description, url, body, tokenize="ascii tokenchars '+#'")"""

# As the store declares it: the same columns, tokenizer and way of deleting, and no texts.
_WORDS = """
CREATE VIRTUAL TABLE words USING fts5(
    title, aliases, tags, headings, description, url, body,
    content='', contentless_delete=1, tokenize="ascii tokenchars '+#'")"""

_TEXTS = """
CREATE TABLE texts(
    row INTEGER PRIMARY KEY, title TEXT, aliases TEXT, tags TEXT, headings TEXT,
    description TEXT, url TEXT, stems TEXT, body TEXT)"""

_INSERT_WORDS = f"INSERT INTO words(rowid, {', '.join(FIELDS)}) VALUES (?,?,?,?,?,?,?,?)"
_INSERT_TEXT = "INSERT INTO texts VALUES (?,?,?,?,?,?,?,?,?)"

# What the lexical lane asks of its index.
MATCH = """
SELECT rowid FROM words WHERE words MATCH ?
ORDER BY bm25(words, 10, 8, 5, 4, 4, 3, 1), rowid LIMIT ?"""

Row = tuple[int, str, str, str, str, str, str, str]


def streams(row: int, stems: Stems) -> Row:
    """A document's streams as a row."""
    return (
        row,
        stems.title,
        stems.aliases,
        stems.tags,
        stems.headings,
        stems.description,
        stems.url,
        stems.body,
    )


def connect(path: Path) -> apsw.Connection:
    """A file with the store's own page size, journal and care for durability."""
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"
    )
    return connection


def fill(path: Path, batches: Iterable[Sequence[Row]], *, contentless: bool = True) -> None:
    """Index the streams, one transaction per batch."""
    connection = connect(path)
    connection.execute(_WORDS if contentless else _PLAIN)
    for batch in batches:
        with connection:
            connection.executemany(_INSERT_WORDS, batch)
    connection.close()


def fill_with_texts(path: Path, batches: Iterable[Sequence[tuple[Row, str]]]) -> None:
    """Index the streams and keep them with the bodies in one table more."""
    connection = connect(path)
    connection.execute(_WORDS)
    connection.execute(_TEXTS)
    for batch in batches:
        with connection:
            connection.executemany(_INSERT_WORDS, [row for row, _ in batch])
            connection.executemany(_INSERT_TEXT, [(*row, body) for row, body in batch])
    connection.close()
