"""Seals: a digest of what was written of each document, by which damage is told from change.

A seal is made from the bytes that are stored, in the transaction that stores them, and is compared
with them by `doctor`; a byte that changed by itself breaks it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import apsw

from twolane.stores.sql.document_rows import dumped

# What only a write of the whole document changes: flags, times, tags and ids change without one.
_OF_DOCUMENT = (
    "kind path url owner title title_key title_origin content_hash first_line aliases description"
    " summary headings links arguments properties"
).split()
_OF_TEXT = "words title aliases headings description url stems body".split()

# As bytes: a text that is damaged may be none any more.
_VALUES = ", ".join(
    f"CAST({one} AS BLOB)"
    for one in (*(f"d.{name}" for name in _OF_DOCUMENT), *(f"x.{name}" for name in _OF_TEXT))
)

# Also what a file of an earlier version is sealed with, when it is brought up to date.
SEAL_ALL = f"""
INSERT INTO seals(document, digest)
SELECT d.row, seal({_VALUES}) FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE true ON CONFLICT(document) DO UPDATE SET digest = excluded.digest
WHERE digest IS NOT excluded.digest"""

_SEAL = f"""
INSERT INTO seals(document, digest)
SELECT d.row, seal({_VALUES}) FROM json_each(?) AS wanted
JOIN documents AS d ON d.row = wanted.value JOIN texts AS x ON x.row = d.row
WHERE true ON CONFLICT(document) DO UPDATE SET digest = excluded.digest"""

_BROKEN = f"""
SELECT d.row, CAST(d.id AS BLOB), d.size IS NOT NULL
FROM documents AS d JOIN texts AS x ON x.row = d.row JOIN seals AS s ON s.document = d.row
WHERE s.digest IS NOT seal({_VALUES}) ORDER BY d.row"""

_UNSEALED = """
SELECT d.row FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.row NOT IN (SELECT document FROM seals)"""


def seal(*values: bytes | None) -> bytes:
    """The digest of stored values; where one ends and the next begins is part of it."""
    found = hashlib.blake2b(digest_size=16)
    for value in values:
        found.update(b"-" if value is None else b"%d:" % len(value))
        found.update(value or b"")
    return found.digest()


def seal_rows(connection: apsw.Connection, documents: Sequence[int]) -> None:
    """Seal documents that were just written."""
    connection.execute(_SEAL, (dumped(list(documents)),))


def seal_everything(connection: apsw.Connection) -> int:
    """Seal every document as it stands; how many were not, or not so."""
    connection.execute(SEAL_ALL)
    return connection.changes()


def broken_seals(connection: apsw.Connection) -> list[tuple[int, str, bool]]:
    """Documents that are not as they were written: row, id, and whether a file holds their text."""
    return [
        (row, id.decode("utf-8", "replace"), bool(filed))
        for row, id, filed in connection.execute(_BROKEN)
    ]


def unsealed(connection: apsw.Connection) -> int:
    """How many documents have no seal at all."""
    return len(connection.execute(_UNSEALED).fetchall())
