"""The sentences of a passage, as they are embedded beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from twolane.ingest.chunking.splitting import SENTENCE

# A shorter piece (a heading, "Yes.", "1.") means little alone and joins its neighbour.
_SHORTEST = 25

# A table or a list of names has many lines; beyond this number its lines are taken together.
_MOST = 24


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text in order, short ones joined to a neighbour.

    They hold every word of the text, and there are at most 24 of them.
    """
    return _sentences(list(_pieces(text)))


def own_sentences(lines: Iterable[tuple[str, bool]]) -> list[str]:
    """What the sentences of lines say without those lines that are forms.

    It is empty where it would be too short for a sentence.
    """
    pieces: list[tuple[str, bool]] = []
    for line, is_form in lines:
        pieces += [(piece, is_form) for piece in _pieces(line)]
    parts = iter(pieces)
    own = []
    for sentence in _sentences([piece for piece, _ in pieces]):
        left, size = [], -1
        # Pieces were joined by blanks, so their lengths tell which of them it is made of.
        while size < len(sentence):
            piece, is_form = next(parts)
            left += [] if is_form else [piece]
            size += 1 + len(piece)
        said = " ".join(left)
        own.append(said if said == sentence or len(said) >= _SHORTEST else "")
    return own


def sentence_at(text: str, place: int) -> str | None:
    """The sentence of a plain text at this place among its sentences; None if it has fewer."""
    # Where there can be no more of them than may be, what is behind the place need not be read.
    few = sum(map(text.count, _PIECE_ENDS)) - sum(map(text.count, _TWO_ENDS)) < _MOST
    found = _joined(_pieces(text), _SHORTEST) if few else sentences(text)
    return next(islice(found, place, None), None)


# Every piece but the last ends with one of these.
_PIECE_ENDS = "\n.!?…。！？｡"
# An empty line is no piece, and what ends with its line ends once.
_TWO_ENDS = ("\n\n", ".\n")


def _sentences(pieces: list[str]) -> list[str]:
    shortest = _SHORTEST
    joined = list(_joined(pieces, shortest))
    while len(joined) > _MOST:
        shortest *= 2
        joined = list(_joined(pieces, shortest))
    return joined


def _pieces(text: str) -> Iterator[str]:
    for line in filter(None, text.split("\n")):
        start = 0
        for stop in SENTENCE.finditer(line):
            at, end = stop.span()
            if line[at] != "." or _ends(line, at, end):
                yield line[start:end].strip()
                start = end
        if rest := line[start:].strip():
            yield rest


def _ends(text: str, at: int, end: int) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number."""
    if text[end : end + 1].islower():
        return False
    first = max(0, at - 20)
    word = text[max(first, text.rfind(" ", first, at) + 1) : at]
    if not word.isalpha():
        found = _WORD.search(text[first:at])
        word = found[0] if found else ""
    return len(word) != 1 and not word.isdigit() and word.lower() not in _ABBREVIATIONS


# What stands before a capital letter or a number more often than at the end of a sentence.
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs no nr art fig vol pp cf ca approx e.g i.e bzw z.b sr sra srta mme mlle"
    " ул им рис стр табл гл руб тыс млн проф акад".split()
)
_WORD = re.compile(r"[\w.]+$")


def _joined(pieces: Iterable[str], shortest: int) -> Iterator[str]:
    """The pieces, each with those after it until it is long enough, the last with the one before.

    So one is given away only when the next is long enough, too.
    """
    before = current = ""
    for piece in pieces:
        if len(current) >= shortest:
            if before:
                yield before
            before, current = current, piece
        else:
            current = f"{current} {piece}" if current else piece
    if before and len(current) < shortest:
        current = f"{before} {current}"
    elif before:
        yield before
    if current:
        yield current
