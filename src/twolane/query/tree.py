"""What was typed, as a tree; see `query.syntax` for the grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Words as typed: one token, or what stands between quotes.

    `prefix` is set when its last word was typed with a `*`, which is not part of the text.
    """

    text: str
    quoted: bool = False
    prefix: bool = False

    @property
    def demands(self) -> bool:
        """Whether there is anything to look for: a word, or a quoted sign."""
        return bool(self.text.strip()) if self.quoted else has_words(self.text)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Texts that stand close to each other."""

    items: tuple[Text, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class Named:
    """A part after a name and a colon; `raw` is the whole as typed."""

    name: str
    value: Node
    raw: str


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that must all match, or of which one is enough."""

    parts: tuple[Node, ...]
    either: bool = False


@dataclass(frozen=True, slots=True)
class Negated:
    """A part that must not match."""

    part: Node


Node = Text | Nearby | Named | Group | Negated


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return _WORDLIKE.search(text) is not None


_WORDLIKE = re.compile(r"[^\W_]")
