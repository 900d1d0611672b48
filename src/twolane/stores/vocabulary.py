"""All terms of an index in memory, and which of them are like another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import assert_never

from twolane.ports.lexical import Likeness
from twolane.text.spelling import rough


class Vocabulary:
    """The terms of an index, sorted."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = terms

    def like(self, term: str, likeness: Likeness, *, edits: int, limit: int) -> list[str]:
        """The terms that are like this one, as `LexicalIndex.similar_terms` promises."""
        match likeness:
            case Likeness.PREFIX:
                first = bisect_left(self.terms, term)
                behind = (self.terms[at] for at in range(first, len(self.terms)))
                found = takewhile(lambda one: one.startswith(term), behind)
                return sorted(found, key=lambda one: (len(one), one))[:limit]
            case Likeness.PART:
                return self.holding(term)[:limit]
            case Likeness.SOUND:
                return self._by_sound.get(rough(term), [])[:limit]
            case Likeness.EDITS:
                return self._near(term, edits)[:limit]
            case _:
                assert_never(likeness)

    def holding(self, part: str) -> list[str]:
        """The terms that hold these letters, shortest first."""
        return sorted((one for one in self.terms if part in one), key=lambda one: (len(one), one))

    def _near(self, term: str, edits: int) -> list[str]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        found = process.extract(
            term, self.terms, scorer=OSA.distance, score_cutoff=edits, limit=None
        )
        return [one for _, one in sorted((distance, one) for one, distance, _ in found)]

    @cached_property
    def _by_sound(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for term in self.terms:
            if not term.isascii() or term.isalpha():
                found.setdefault(rough(term), []).append(term)
        return found
