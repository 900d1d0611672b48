"""Copies: documents that say the same in the same words.

Copies of one note would fill a page that has room for other answers, so they come after those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from twolane.model.candidate import Candidate
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import DocumentStore, Part, Stored
from twolane.text.shingles import WIDTH, hashes, resemblance
from twolane.text.tokens import fold

# From this share on, two texts are one with a line more or less; a form that was filled in twice
# shares less.
_SAME = 0.8

# So many documents, a page of them, are looked at before all are.
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


def collapse_duplicates(
    documents: DocumentStore, ranked: Sequence[Candidate], wanted: int
) -> list[Candidate]:
    """The ranking with every copy of a document above it behind the first `wanted` others.

    A document names its copies, and a copy the document.
    """
    same = _find_originals(documents, [one.id for one in ranked])
    if not same:
        return list(ranked)
    copies: dict[str, list[Candidate]] = {}
    for one in ranked:
        one.copy_of, one.copies = same.get(one.id), ()
        if one.copy_of:
            copies.setdefault(one.copy_of, []).append(one)
    distinct = [one for one in ranked if not one.copy_of]
    for one in distinct:
        one.copies = tuple(copy.id for copy in copies.get(one.id, ()))
    behind = [one for one in ranked if one.copy_of]
    return [*distinct[:wanted], *behind, *distinct[wanted:]]


def _find_originals(documents: DocumentStore, ids: Sequence[str]) -> dict[str, str]:
    """By copy, the first of the listed documents that it is a copy of."""
    found: dict[str, str] = {}
    # Most libraries have no copies; where the first are none, further ones do no harm.
    for depth in (_HEAD, None):
        listed = ids[:depth]
        stored = documents.get(listed, ANYWHERE, _SKETCHES) if len(listed) > 1 else {}
        found = _originals(listed, {id: one for id, one in stored.items() if one.sketch})
        if not found:
            break
    return found


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
