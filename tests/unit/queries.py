"""Short ways to write what a query should be."""

from __future__ import annotations

from datetime import UTC, datetime

from twolane.model.scope import Phrase, Word
from twolane.query import Query, parse
from twolane.text.tokens import words_of

HELD = ("en", "ru")
NOW = datetime(2024, 3, 31, 12, 30, tzinfo=UTC)


def query(text: str) -> Query:
    """The query for an index in English and Russian, on a known day."""
    return parse(text, HELD, now=NOW)


def p(text: str) -> Phrase:
    """The text's words next to each other."""
    return Phrase(words_of(text, HELD))


def q(text: str, literal: str | None = None) -> Phrase:
    """A quotation."""
    return Phrase(words_of(text, HELD), literal or text)


def texts(words: tuple[Word, ...]) -> list[str]:
    """The words as typed."""
    return [word.text for word in words]
