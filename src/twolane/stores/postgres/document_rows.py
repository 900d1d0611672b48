"""A document as a row of PostgreSQL's table: its lists are arrays."""

from __future__ import annotations

from typing import Any

from twolane.model.document import Prepared
from twolane.stores.sql import document_rows
from twolane.stores.sql.document_rows import NAMES, REFRESH
from twolane.text.tokens import fold

# An entry of an index has to be shorter than 2,700 bytes.
_LONGEST_END = 600

# Add a document's metadata, or refresh it under the row that it has.
PUT_DOCUMENT = (
    f"INSERT INTO documents AS held ({NAMES}, path_end, revision)"
    f" VALUES ({', '.join('?' * len(NAMES.split(', ')))}, ?, nextval('revisions'))"
    f" ON CONFLICT (id) DO UPDATE SET {REFRESH}, path_end = excluded.path_end RETURNING row"
)

COLUMNS = document_rows.columns(
    "ARRAY(SELECT t.name FROM tags AS t WHERE t.document = d.row ORDER BY t.position)"
)
LIGHT_COLUMNS = document_rows.light_columns("'{}'::text[]")

# The streams of stems of a text `x`, in the order of FIELDS.
STREAMS = "x.title, x.aliases, x.tags, x.headings, x.description, x.url, x.stems"


def values_of(prepared: Prepared, collection: int) -> tuple[Any, ...]:
    """The values that PUT_DOCUMENT binds."""
    path = prepared.document.path
    return (
        *document_rows.values_of(prepared, collection, list(prepared.languages), list),
        None if path is None else path_end(path),
    )


def path_end(path: str) -> str:
    """A path as its end is compared: backwards, after a `/`, no longer than an index takes."""
    return f"/{fold(path)}"[::-1][:_LONGEST_END]
