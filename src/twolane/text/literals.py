"""Whether a quotation stands in a text letter by letter, at word boundaries."""

from __future__ import annotations

from functools import lru_cache

from twolane.text.tokens import fold, is_edge

# Common words stand early in a text; after so many places folding is quicker.
_PLACES = 4


def holds_literally(text: str, literal: str) -> bool:
    """Whether a folded literal stands in the text letter by letter, at word boundaries."""
    if stands_as_written(text, literal):
        return True
    # How wide the spaces of a text are matters only to a literal that has one.
    return stands_in(line(text) if " " in literal else fold(text), literal)


def line(text: str) -> str:
    """The folded text with its spaces and line breaks as one space each."""
    return " ".join(fold(text).split())


def stands_in(folded: str, literal: str) -> bool:
    """Whether a folded literal stands in a folded text, at word boundaries."""
    at = folded.find(literal) if literal else -1
    while at >= 0:
        if is_edge(folded, at) and is_edge(folded, at + len(literal)):
            return True
        at = folded.find(literal, at + 1)
    return False


def stands_as_written(text: str, literal: str) -> bool:
    """Whether the literal stands in the text in these very letters; if not, it still may.

    Folding a text takes a hundred times as long as this look at it.
    Next to plain signs a literal stays what it is when the text is folded.
    """
    if not _folds_to_itself(literal):
        return False
    at = text.find(literal)
    for _ in range(_PLACES):
        if at < 0:
            return False
        end = at + len(literal)
        around = text[max(0, at - 1) : at], text[end : end + 1]
        if all(sign.isascii() for sign in around) and is_edge(text, at) and is_edge(text, end):
            return True
        at = text.find(literal, at + 1)
    return False


@lru_cache(maxsize=256)
def _folds_to_itself(literal: str) -> bool:
    # A combining sign at the beginning would join the letter before it.
    begins = literal[:1]
    return bool(begins) and line(literal) == literal and (begins.isascii() or begins.isalnum())
