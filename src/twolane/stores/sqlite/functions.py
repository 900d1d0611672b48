"""What SQL cannot say by itself, as functions of every connection."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import apsw

from twolane.stores.sql.document_rows import loaded
from twolane.stores.sqlite.seals import seal
from twolane.stores.term_vectors import pack
from twolane.text.names import matches_any, path_ends_in
from twolane.text.substrings import may_stand_in, reads, stands_as_written, stands_in
from twolane.text.tokens import fold

# The fields of a document as they were written, in the order of `_fields`.
_WRITTEN = """
SELECT d.title, d.aliases, d.headings, d.description, d.summary, d.arguments, d.url, x.body,
       (SELECT json_group_array(t.name) FROM document_tags AS dt
        JOIN tags AS t ON t.row = dt.tag WHERE dt.document = d.row)
FROM documents AS d JOIN texts AS x ON x.row = d.row WHERE d.row = ?"""


def register(connection: apsw.Connection) -> None:
    """Give the connection our functions."""
    functions: tuple[tuple[str, Callable[..., Any], int], ...] = (
        ("path_matches", _path_matches, 2),
        ("path_ends_in", _path_ends_in, 2),
        ("holds_literally", _Literals(connection).held, 4),
        ("seal", seal, -1),
        ("term_vector", pack, 1),
        ("is_text", _is_text, 1),
        ("as_text", _as_text, 1),
    )
    for name, function, arguments in functions:
        connection.create_scalar_function(
            name, function, arguments, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
        )


def _is_text(value: bytes | None) -> bool:
    """Whether bytes are UTF-8, as all our texts are."""
    try:
        (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_text(value: bytes | None) -> str | None:
    """The text that bytes are, or are nearest to."""
    return None if value is None else value.decode("utf-8", "replace").replace("\0", "\ufffd")


def _path_matches(path: str | None, patterns: str) -> bool:
    return path is not None and matches_any(path, tuple(patterns.split("\n")))


def _path_ends_in(path: str | None, names: str) -> bool:
    return path is not None and path_ends_in(path, names.split("\n"))


class _Literals:
    """Whether quotations stand in documents letter by letter.

    A row is asked for one quotation after the other, so the row that was asked for last is kept,
    as it was written and as it is folded, with what was answered: a query may repeat a quotation.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        # The connection holds its functions; if they held it, too, nobody would ever close it.
        self._connection = weakref.ref(connection)
        self._asked: tuple[int, int] | None = None
        self._fields: dict[str, list[str]] = {}
        self._folded: dict[str, str] = {}
        self._answered: dict[tuple[str, str | None], bool] = {}

    def held(self, row: int, revision: int, literal: str, field: str | None) -> bool:
        """Whether a field of the row, or any, holds the literal; a change has a new revision."""
        if self._asked != (row, revision):
            connection = self._connection()
            found = connection and connection.execute(_WRITTEN, (row,)).fetchone()
            self._fields = _fields(found) if found else {}
            self._folded, self._answered = {}, {}
            self._asked = row, revision
        key = literal, field
        if key not in self._answered:
            self._answered[key] = self._stands(literal, field)
        return self._answered[key]

    def _stands(self, literal: str, field: str | None) -> bool:
        names = list(self._fields) if field is None else [field] if field in self._fields else []
        texts = [text for name in names for text in self._fields[name] if text]
        return any(stands_as_written(text, literal) for text in texts) or any(
            self._holds(text, literal) for text in texts
        )

    def _holds(self, text: str, literal: str) -> bool:
        """Whether the literal stands in a text as it is written or as a reader sees it."""
        if text not in self._folded:
            self._folded[text] = fold(text)
        folded = self._folded[text]
        if not may_stand_in(folded, literal):
            return False
        # How wide the spaces of a text are matters only to a literal that has one.
        spaced = " ".join(folded.split()) if " " in literal else folded
        return stands_in(spaced, literal) or reads(text, literal)


def _fields(row: Any) -> dict[str, list[str]]:
    """The texts behind each field, those first that are likely to hold most."""
    title, aliases, headings, description, summary, arguments, url, body, tags = row
    return {
        "body": [body],
        "title": [title],
        "headings": [text for _, text, *_ in loaded(headings)],
        "description": [description, summary, *loaded(arguments)],
        "tags": loaded(tags),
        "aliases": loaded(aliases),
        "url": [url or ""],
    }
