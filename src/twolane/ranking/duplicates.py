"""Copies: documents that say the same in the same words.

Copies of one note would fill a page that has room for other answers, so they come after those, and
share one rank in each lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from twolane.model.candidate import Fused, Hit
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import DocumentStore, Part, Stored
from twolane.text.shingles import WIDTH, hashes, resemblance
from twolane.text.tokens import fold

# From this share on, two texts are one with a line more or less; a form that was filled in twice
# shares less.
_SAME = 0.8

# So many documents of each list, a page of them, are looked at before all are.
_HEAD = 20

# Texts that share so much share one of their smallest hashes.
_FIRST = 3

_SKETCHES = frozenset({Part.SKETCH})


def are_copies(one: Stored, other: Stored) -> bool:
    """Whether two documents are the same, but for a few words.

    Under titles of their own they may be about two things in the same words, so that nothing
    may differ then.
    """
    return _same(one, other) or (
        _akin(one, other) and resemblance(one.sketch, other.sketch) >= _SAME
    )


def originals(documents: DocumentStore, lists: Iterable[Sequence[Hit | Fused]]) -> dict[str, str]:
    """By copy, the first of the listed documents that it is a copy of."""
    ids = [[one.id for one in each] for each in lists]
    found: dict[str, str] = {}
    # Most libraries have no copies; where the first are none, further ones do no harm.
    for depth in (_HEAD, None):
        listed = list(dict.fromkeys(id for each in ids for id in each[:depth]))
        held = documents.get(listed, ANYWHERE, _SKETCHES) if len(listed) > 1 else {}
        found = _originals(listed, {id: one for id, one in held.items() if one.sketch})
        if not found:
            break
    return found


def folded(fused: Sequence[Fused], same: Mapping[str, str], wanted: int) -> list[Fused]:
    """The ranking with every copy of a document above it behind the first `wanted` others.

    `same` tells which documents say the same: those with one original, and the original.
    A document names its copies, and a copy the document.
    """
    if not same:
        return list(fused)
    first: dict[str, str] = {}
    copies: dict[str, list[Fused]] = {}
    distinct = []
    for one in fused:
        best = first.setdefault(same.get(one.id, one.id), one.id)
        if best == one.id:
            distinct.append(one)
        else:
            copies.setdefault(best, []).append(one._replace(copy_of=best))
    named = [
        one._replace(copies=tuple(copy.id for copy in copies[one.id])) if one.id in copies else one
        for one in distinct
    ]
    behind = sorted((one for each in copies.values() for one in each), key=_place)
    return [*named[:wanted], *behind, *named[wanted:]]


def _originals(ids: Sequence[str], stored: Mapping[str, Stored]) -> dict[str, str]:
    found: dict[str, str] = {}
    known: dict[bytes, list[str]] = {}
    # What is the same shares one of the smallest hashes, so few pairs are compared, mostly none.
    smallest = {id: hashes(one.sketch[: _FIRST * WIDTH]) for id, one in stored.items()}
    several = list(chain.from_iterable(smallest.values()))
    if len(set(several)) == len(several):
        return found
    for id in ids:
        copy = stored.get(id)
        if copy is None or id in found:
            continue
        keys = smallest[id]
        near = dict.fromkeys(other for key in keys for other in known.get(key, ()) if other != id)
        original = next((other for other in near if are_copies(stored[other], copy)), None)
        if original is not None:
            found[id] = original
        else:
            for key in keys:
                known.setdefault(key, []).append(id)
    return found


def _same(one: Stored, other: Stored) -> bool:
    return one.document.content_hash == other.document.content_hash


def _akin(one: Stored, other: Stored) -> bool:
    """Whether one is called as the other, or as the other with something added."""
    short, long = sorted((fold(one.document.title), fold(other.document.title)), key=len)
    return short in long


def _place(one: Fused) -> tuple[float, str]:
    return -one.score, one.id
