"""The exact lane: documents that hold what was typed, letter by letter.

It finds what words cannot: parts of words, addresses, symbols, signs.
"""

from __future__ import annotations

from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate, Match
from twolane.model.scope import Scope
from twolane.ports.lexical import LexicalIndex
from twolane.text.substrings import NAMES, TEXTS

# The store picks this many documents per document wanted; the lane then ranks them.
_MATCHES_PER_CANDIDATE = 2

# What a match is worth: a name tells more than a text, a word of its own more than part of one.
_WORTH = {(True, True): 1.0, (True, False): 0.9, (False, True): 0.8, (False, False): 0.7}

_PLACE = {name: place for place, name in enumerate((*NAMES, *TEXTS))}


def exact_candidates(
    lexical: LexicalIndex, text: str, scope: Scope, *, limit: int
) -> list[Candidate]:
    """Documents that hold the text: in a name before in a text, as a word before inside one.

    Among equals the field that names a document best counts, then the earlier place,
    then the shorter field, then the id.
    """
    found = lexical.substring(text, scope, limit=limit * _MATCHES_PER_CANDIDATE)
    found.sort(key=_order)
    return [
        Candidate(one.id, one.languages, {Feature.EXACT: _worth(one)}, {Lane.EXACT: rank}, (text,))
        for rank, one in enumerate(found[:limit], start=1)
    ]


def _worth(match: Match) -> float:
    return _WORTH[match.field in NAMES, match.whole]


def _order(match: Match) -> tuple[float, int, int, int, str]:
    return -_worth(match), _PLACE[match.field], match.at, match.length, match.id
