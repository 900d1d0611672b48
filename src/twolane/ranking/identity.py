"""The identity lane: documents that are called what was typed, or nearly so.

A name may be typed in full, begun, mistyped, written in the other script or under the other
keyboard layout.
What is no name finds nothing here, so the lane is silent about questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate, Names
from twolane.model.scope import Scope
from twolane.ports.lexical import LexicalIndex
from twolane.text.languages import script_of
from twolane.text.names import key, keys
from twolane.text.spelling import in_cyrillic, other_layout, rough

# Nobody types a longer name, and comparing takes time.
_LONGEST = 120

# What has more words is a sentence, and no name with slips.
_MOST_WORDS = 8

# Shorter beginnings are the beginnings of too many names.
_SHORTEST_BEGINNING = 4

# A beginning is told by this share of the name at least.
_SMALLEST_SHARE = 0.3

# So many documents are looked at; if more names begin alike, the beginning tells nothing.
_MOST_CANDIDATES = 64

# So many letters on each side of two that changed places tell a name.
_AROUND = 3

# How sure a name is that was typed otherwise than it is written.
_OTHER_LAYOUT = 0.95
_OTHER_SCRIPT = 0.9
_PER_SLIP = 0.1


class _Reading(NamedTuple):
    """What was typed, as a key, how surely it was meant so, and how many slips it may hold."""

    key: str
    trust: float
    slips: int
    digits: str
    letters: frozenset[str]

    @classmethod
    def of(cls, typed: str, trust: float) -> _Reading:
        """The reading of a key."""
        return cls(typed, trust, slips(typed), _digits(typed), frozenset(typed))


def named_candidates(
    lexical: LexicalIndex, text: str, scope: Scope, *, limit: int
) -> list[Candidate]:
    """The few documents that go by this name, most alike first; ties by id.

    The feature is 1 for the name as it is, the share that was typed for
    the beginning of one, and less for each slip.
    """
    readings = list(_readings(text)) if len(text) <= _LONGEST else []
    for named in _offered(lexical, readings, scope):
        alike = [(_likeness(one, readings), one) for one in named]
        alike.sort(key=lambda pair: (-pair[0], pair[1].id))
        found = [
            Candidate(one.id, one.languages, {Feature.NAME: likeness}, {Lane.IDENTITY: rank})
            for rank, (likeness, one) in enumerate(alike[:limit], start=1)
            if likeness > 0
        ]
        if found:
            return found
    return []


def _offered(
    lexical: LexicalIndex, readings: Sequence[_Reading], scope: Scope
) -> Iterator[Sequence[Names]]:
    """Documents that may go by the name as it is, then by one that begins so, then with slips."""

    def ask(pieces: Callable[[str], _Pieces]) -> Sequence[Names]:
        groups = [group for reading in readings for group in pieces(reading.key)]
        return lexical.named(groups, scope, limit=_MOST_CANDIDATES) if groups else ()

    begun = ask(_begun)
    # What no name begins with is no name either; most queries are none.
    if begun or any(len(reading.key) < _SHORTEST_BEGINNING for reading in readings):
        yield ask(_called)
    if len(begun) < _MOST_CANDIDATES:
        yield begun
        yield ask(_slipped)


def slips(name: str) -> int:
    """How many slips a name of this length may hold and still be recognised."""
    return sum(len(name) >= least for least in (6, 10, 20))


def _readings(text: str) -> Iterator[_Reading]:
    """What may have been meant: as typed, under the other layout, in the other script."""
    typed = key(text)
    if not typed:
        return
    yield _Reading.of(typed, 1.0)
    layout = key(" ".join(map(_other_layout, text.split())))
    if layout != typed:
        yield _Reading.of(layout, _OTHER_LAYOUT)
    by_ear = " ".join(map(_by_ear, typed.split()))
    if by_ear != typed:
        yield _Reading.of(by_ear, _OTHER_SCRIPT)


def _other_layout(word: str) -> str:
    """The word under the other layout; a code is typed as it is under any."""
    return word if _digits(word) else other_layout(word)


def _by_ear(word: str) -> str:
    """The word in the other script; a code is the same in both."""
    if _digits(word):
        return word
    return in_cyrillic(word) if script_of(word) == "latin" else rough(word)


# ---------------------------------------------------------------------------------- candidates

_Pieces = Iterator[list[str]]


def _called(name: str) -> _Pieces:
    """Pieces of the whole name."""
    yield _pieces(f"\n{name}\n")


def _begun(name: str) -> _Pieces:
    """Pieces of a name that begins so."""
    if len(name) >= _SHORTEST_BEGINNING:
        yield _pieces(f"\n{name}")


def _slipped(name: str) -> _Pieces:
    """Pieces of the name without slips: of so many parts one has none, wherever the slips are.

    The first part begins a name and the last one ends it, which few names share.
    Two letters that changed places may spoil two parts, so they are also put back there.
    """
    parts = slips(name) + 1
    if parts > 1 and name.count(" ") < _MOST_WORDS:
        line = f"\n{name}\n"
        edges = [0, *(1 + len(name) * edge // parts for edge in range(1, parts)), len(line)]
        for start, end in pairwise(edges):
            yield _pieces(line[start:end])
        for edge in edges[1:-1]:
            before, after = line[edge - _AROUND : edge - 1], line[edge + 1 : edge + _AROUND]
            yield _pieces(f"{before}{line[edge]}{line[edge - 1]}{after}")


def _pieces(text: str) -> list[str]:
    """The words of a part of a name that are long enough to be looked up."""
    return [word for word in text.split(" ") if len(word) > 2]


# ------------------------------------------------------------------------------------ likeness


def _likeness(names: Names, readings: Sequence[_Reading]) -> float:
    """How much what was typed is like one of the names, from 0 to 1."""
    called = set(keys(names))
    return max(reading.trust * _alike(reading, name) for reading in readings for name in called)


def _alike(typed: _Reading, name: str) -> float:
    if typed.key == name:
        return 1.0
    if name.startswith(typed.key) and len(typed.key) >= _SHORTEST_BEGINNING:
        share = len(typed.key) / len(name)
        return share if share >= _SMALLEST_SHARE else 0.0
    most = typed.slips
    if not most or abs(len(typed.key) - len(name)) > most or typed.digits != _digits(name):
        # One digit more or less is another thing.
        return 0.0
    # Letters that only one of them has are slips; telling so is quicker than to load the module.
    if len(typed.letters.difference(name)) > most or (
        max(map(len, _unshared(typed.key, name))) > most
    ):
        return 0.0
    from rapidfuzz.distance import OSA

    distance = OSA.distance(typed.key, name, score_cutoff=most)
    return 1.0 - _PER_SLIP * distance if distance <= most else 0.0


def _unshared(one: str, other: str) -> tuple[list[str], list[str]]:
    """The letters that each has more of than the other."""
    first, second = Counter(one), Counter(other)
    return [*(first - second).elements()], [*(second - first).elements()]


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
