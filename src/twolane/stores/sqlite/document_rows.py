"""A document as a row of SQLite's table, and back: its lists are JSON."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from twolane.model.document import Document, Prepared
from twolane.stores.sql import document_rows
from twolane.stores.sql.document_rows import NAMES, REFRESH, dumped_texts, loaded

# Add a document's metadata under a row of its own.
INSERT_DOCUMENT = (
    f"INSERT INTO documents AS held (row, revision, {NAMES}) VALUES ({', '.join('?' * 33)})"
)

# Refresh it; the row number survives, so that vectors stay mapped.
REFRESH_DOCUMENT = f"{INSERT_DOCUMENT} ON CONFLICT(row) DO UPDATE SET id = excluded.id, {REFRESH}"

COLUMNS = document_rows.columns(
    "(SELECT json_group_array(t.name ORDER BY dt.position) FROM document_tags AS dt"
    " JOIN tags AS t ON t.row = dt.tag WHERE dt.document = d.row)"
)
LIGHT_COLUMNS = document_rows.light_columns("'[]'")


def values_of(prepared: Prepared, row: int, collection: int, revision: int) -> tuple[Any, ...]:
    """The values that INSERT_DOCUMENT and REFRESH_DOCUMENT bind."""
    languages = "".join(f" {language} " for language in prepared.languages)
    return (
        row,
        revision,
        *document_rows.values_of(prepared, collection, languages, dumped_texts),
    )


def document_of(row: Sequence[Any]) -> Document:
    """The document that a row of COLUMNS spells; NotADatabase if it spells none."""
    return document_rows.document_of(row, loaded)


def packed(keys: Sequence[int]) -> bytes | None:
    """The keys of a passage's boilerplate as they are stored, eight bytes each; None without."""
    return struct.pack(f"<{len(keys)}q", *keys) if keys else None


def unpacked(stored: bytes | None) -> tuple[int, ...]:
    """The keys that are stored."""
    return struct.unpack(f"<{len(stored) // 8}q", stored) if stored else ()
