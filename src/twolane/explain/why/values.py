"""What is said of one document and one query."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from twolane.model.answer import Contribution, Degradation, Lane, Mode, Repair

# The lanes that have something to say of every document; others only of a few.
MAIN_LANES = frozenset((Lane.LEXICAL, Lane.DENSE))


class Standing(StrEnum):
    """Whether a document is among the results, further down, or not found at all."""

    SHOWN = "shown"
    BELOW = "below"
    MISSING = "missing"


class ObstacleKind(StrEnum):
    """What can keep a document out of an answer."""

    EXCLUDED = "excluded"
    NOT_INDEXED = "not-indexed"
    ARCHIVED = "archived"
    COLLECTION = "collection"
    KIND = "kind"
    TAG = "tag"
    NOT_TAG = "not-tag"
    PATH = "path"
    LANGUAGE = "lang"
    DATE = "date"
    FILTER = "filter"
    LISTED = "documents"
    CONTRADICTION = "contradiction"
    DEMAND = "demand"
    EXCLUSION = "exclusion"
    NO_WORDS = "no-words"
    NO_LETTERS = "no-letters"
    NO_VECTORS = "no-vectors"
    THRESHOLD = "threshold"
    POOL = "pool"
    LANE = "lane"


class Origin(StrEnum):
    """Where an obstacle comes from, and so where it can be removed."""

    QUERY = "query"
    SCOPE = "scope"
    SETTING = "setting"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that keeps the document out of the answer.

    `what` is the filter, demand or setting itself; `reason` completes "because".
    """

    kind: ObstacleKind
    origin: Origin
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one lane says of the document.

    `hits` is how many documents the lane found.
    `rank` is None if the document is not one of them; `reason` says why.
    `share` is what the features that the lane measures gave it, in log-odds.
    """

    lane: Lane
    hits: int
    rank: int | None
    share: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WordFound:
    """A word of the query as typed, and the fields of the document that hold it, if any.

    `taken_for` are the terms that it was repaired to.
    """

    word: str
    fields: tuple[str, ...]
    taken_for: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether the document holds the word."""
        return bool(self.fields)


@dataclass(frozen=True, slots=True)
class Passage:
    """The document's nearest passage to the query; without vectors, the one with its words."""

    position: int
    heading: tuple[str, ...]
    lines: tuple[int, int]
    similarity: float | None


class Change(StrEnum):
    """What a suggestion changes."""

    TERM = "drop-term"
    THRESHOLD = "lower-threshold"
    FILTER = "drop-filter"
    ARCHIVED = "include-archived"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A single change that brings the document among the results; it was tried, and it works.

    `what` is the term or filter to drop, or the setting to change.
    `query` is what to type, `value` what to set, `rank` where the document then is.
    """

    change: Change
    what: str
    query: str
    rank: int
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Why a document is, or is not, among the results of a query.

    `rank` counts from 1 among all `found` documents; it is None for a document that is not found.
    `id` and `title` are None for a file that gave no document.
    `foreign` is set where it is in none of the query's languages.
    `contributions` are what each feature gave it.
    `coverage` is the share of the query's information that the document holds.
    `copy_of` is the document before it that it is a copy of, if it comes later for that.
    """

    query: str
    mode: Mode
    limit: int
    id: str | None = None
    collection: str
    path: str | None
    url: str | None = None
    title: str | None = None
    standing: Standing
    verdict: str = ""
    rank: int | None = None
    score: float | None = None
    found: int = 0
    obstacles: tuple[Obstacle, ...]
    opinions: tuple[Opinion, ...] = ()
    words: tuple[WordFound, ...] = ()
    coverage: float | None = None
    passage: Passage | None = None
    suggestion: Suggestion | None = None
    repairs: tuple[Repair, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    generation: int | None = None
    took_ms: float = 0.0
    relevance: float | None = None
    copy_of: str | None = None
    foreign: bool = False
    contributions: tuple[Contribution, ...] = ()
