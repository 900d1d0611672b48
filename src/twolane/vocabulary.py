"""The terms that an index holds, as repairing slips needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twolane.ports import Retrieval
from twolane.spelling import rough


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms that the index holds, with what repairing needs to know of them."""

    terms: Sequence[str]
    known: frozenset[str]
    rough: dict[str, list[str]]

    @classmethod
    def of(cls, terms: Sequence[str]) -> Vocabulary:
        """A vocabulary of these terms."""
        roughly: dict[str, list[str]] = {}
        for term in terms:
            if not term.isascii() or term.isalpha():
                roughly.setdefault(rough(term), []).append(term)
        return cls(terms, frozenset(terms), roughly)


class HeldVocabulary:
    """The vocabulary of a store, made anew only when the store's terms change."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._made: tuple[Sequence[str], Vocabulary] | None = None

    def current(self) -> Vocabulary:
        """The vocabulary as it is now."""
        terms = self._retrieval.vocabulary()
        made = self._made
        if made is None or made[0] is not terms:
            made = self._made = (terms, Vocabulary.of(terms))
        return made[1]
