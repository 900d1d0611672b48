"""Whether a quotation stands in a text letter by letter, at word boundaries."""

from __future__ import annotations

import re
from functools import lru_cache

from twolane.text.plaintext import has_marks, plain
from twolane.text.tokens import fold, is_edge

# Common words stand early in a text; after so many places folding is quicker.
_PLACES = 4

# So many words that nobody sees may stand after each word of a quotation; an address has ten.
_UNSEEN = 12

_WORD = re.compile(r"[^\W_]+")
# What may stand between two words that a reader sees side by side: the target of a link, a tag,
# any signs. Nothing in it is tried twice.
_BETWEEN = (
    r"(?:\]\([^()\s]{0,2000}+(?:\s\"[^\"\n]{0,200}+\")?\)|\[\[[^\[\]|\n]{1,500}+\||<[^<>\n]{1,500}+>"
    r"|\]\[[^\[\]\n]{0,200}+\]|&\w{1,30}+;|[\W_])*+"
)


def holds_literally(text: str, literal: str) -> bool:
    """Whether a folded literal stands in the text letter by letter, at word boundaries.

    That is the text as it is written, or as a reader sees it.
    """
    if stands_as_written(text, literal):
        return True
    folded = fold(text)
    if not may_stand_in(folded, literal):
        return False
    # How wide the spaces of a text are matters only to a literal that has one.
    spaced = " ".join(folded.split()) if " " in literal else folded
    return stands_in(spaced, literal) or reads(text, literal)


def spread(words: int) -> int:
    """How far apart so many words of a quotation may stand in a text, counted in words.

    What a reader does not see may stand between them: the target of a link, a tag.
    """
    return _UNSEEN * words


def reads(text: str, literal: str) -> bool:
    """Whether a folded literal stands in what a reader sees of a Markdown text.

    The signs of emphasis, links and code go, as in snippets; a quotation does not go on beyond
    its paragraph.
    """
    return has_marks(text) and any(
        stands_in(line(plain(paragraph)), literal)
        for paragraph in text.split("\n\n")
        if has_marks(paragraph) and may_stand_in(fold(paragraph), literal)
    )


def may_stand_in(folded: str, literal: str) -> bool:
    """Whether the words of a literal follow each other in a folded text, signs left aside.

    If not, the literal stands in it neither as it is written nor as it is read; to tell this
    takes a tenth of the time of reading it.
    """
    return _sequence(literal).search(folded) is not None


@lru_cache(maxsize=256)
def _sequence(literal: str) -> re.Pattern[str]:
    return re.compile(_BETWEEN.join(map(re.escape, _WORD.findall(literal))))


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
