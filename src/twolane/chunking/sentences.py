"""The sentences of a passage, as they are embedded beside it."""

from __future__ import annotations

import re

from twolane.chunking.splitting import SENTENCE

# A shorter piece (a heading, "Yes.", "1.") means little alone and joins its neighbour.
_SHORTEST = 25

# A table or a list of names has many lines; beyond this number its lines are taken together.
_MOST = 24


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text in order, short ones joined to a neighbour.

    They hold every word of the text, and there are at most 24 of them.
    """
    pieces: list[str] = []
    for line in text.split("\n"):
        start = 0
        for stop in SENTENCE.finditer(line):
            at, end = stop.span()
            if line[at] != "." or _ends(line, at, end):
                pieces.append(line[start:end].strip())
                start = end
        if rest := line[start:].strip():
            pieces.append(rest)
    shortest = _SHORTEST
    joined = _joined(pieces, shortest)
    while len(joined) > _MOST:
        shortest *= 2
        joined = _joined(pieces, shortest)
    return joined


def _ends(text: str, at: int, end: int) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number."""
    if text[end : end + 1].islower():
        return False
    before = text[max(0, at - 20) : at]
    word = before.rpartition(" ")[2]
    if not word.isalpha():
        found = _WORD.search(before)
        word = found[0] if found else ""
    return len(word) != 1 and not word.isdigit() and word.lower() not in _ABBREVIATIONS


# What stands before a capital letter or a number more often than at the end of a sentence.
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs no nr art fig vol pp cf ca approx e.g i.e bzw z.b sr sra srta mme mlle"
    " ул им рис стр табл гл руб тыс млн проф акад".split()
)
_WORD = re.compile(r"[\w.]+$")


def _joined(pieces: list[str], shortest: int) -> list[str]:
    joined: list[str] = []
    for piece in pieces:
        if joined and len(joined[-1]) < shortest:
            joined[-1] += f" {piece}"
        else:
            joined.append(piece)
    if len(joined) > 1 and len(joined[-1]) < shortest:
        last = joined.pop()
        joined[-1] += f" {last}"
    return joined
