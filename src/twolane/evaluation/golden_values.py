"""Golden sets as frozen values: queries with the documents that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RELEVANT = 2
PARTIAL = 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of a document that show why it was judged as it was."""

    path: str
    quote: str


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A query and its judgments.

    Judgments are `relevant` and `partial` documents, or numbers in `graded` (document, grade)
    where the set comes from a collection with grades of its own.
    `direction` is the language of the query and of the answer, as in `en→ru`.
    `absent` are words that no document holds, which shows that the query is unanswerable;
    `rare` are words that occur in the relevant documents only.
    """

    id: str
    query: str
    relevant: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    lang: str | None = None
    direction: str | None = None
    category: str | None = None
    verified: bool = False
    unanswerable: bool = False
    evidence: tuple[Evidence, ...] = ()
    graded: tuple[tuple[str, int], ...] = ()
    absent: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()

    @property
    def grades(self) -> Mapping[str, int]:
        """Document → grade: relevant 2, partial 1, numbers as they were given."""
        return {
            **dict(self.graded),
            **dict.fromkeys(self.partial, PARTIAL),
            **dict.fromkeys(self.relevant, RELEVANT),
        }


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Queries that are judged over the same documents.

    `vault` is the folder of those documents, as the file spells it: seen from the file.
    """

    name: str
    description: str = ""
    vault: str | None = None
    queries: tuple[GoldenQuery, ...] = ()
