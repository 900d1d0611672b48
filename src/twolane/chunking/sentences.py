"""The sentences of a passage, as they are embedded beside it."""

from __future__ import annotations

from twolane.chunking.splitting import LINE, SENTENCE

# A shorter piece (a heading, "Yes.", "1.") means little alone and joins its neighbour.
_SHORTEST = 25

# A table or a list of names has many lines; beyond this number its lines are taken together.
_MOST = 24


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text in order, short ones joined to a neighbour.

    They hold every word of the text, and there are at most 24 of them.
    """
    cuts = {found.end() for pattern in (SENTENCE, LINE) for found in pattern.finditer(text)}
    pieces = []
    start = 0
    for end in (*sorted(cuts), len(text)):
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    shortest = _SHORTEST
    joined = _joined(pieces, shortest)
    while len(joined) > _MOST:
        shortest *= 2
        joined = _joined(pieces, shortest)
    return joined


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
