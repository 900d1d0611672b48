"""What a caller asks for and what is answered: modes, results, explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from twolane.model.document import EMPTY, Kind
from twolane.model.errors import BadInput
from twolane.model.values import dataclass


class Mode(StrEnum):
    """Which lanes the caller wants to hear."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    EXACT = "exact"


# The modes as they are spelled.
ModeName = Literal["hybrid", "lexical", "semantic", "exact"]


def mode_of(name: Mode | ModeName) -> Mode:
    """The mode of this name; BadInput if there is none."""
    try:
        return Mode(name)
    except ValueError as error:
        raise BadInput(f"there is no mode {name!r}; the modes are {', '.join(Mode)}") from error


class Lane(StrEnum):
    """Something that answers a query with a ranked list, or judges what others found."""

    LEXICAL = "lexical"
    DENSE = "dense"
    EXACT = "exact"
    IDENTITY = "identity"
    EXPAND = "expand"
    RERANK = "rerank"


class Sort(StrEnum):
    """In what order documents are shown."""

    RELEVANCE = "relevance"
    UPDATED = "updated"
    CREATED = "created"
    USED = "used"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class Order:
    """In what order documents are shown, and from where.

    Without a sort the query's words decide, and where there are none the latest come first.
    `cursor` is the `next` of the page before.
    """

    sort: Sort | None = None
    reverse: bool = False
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands in a sorted list: what it is sorted by, then its id.

    A key is a moment in seconds since 1970 or a folded title; a document without one comes last.
    """

    key: float | str | None
    id: str


class Feature(StrEnum):
    """What the ranking model looks at; `ranking.features` says how each is measured."""

    BM25F = "bm25f"
    COVERAGE = "coverage"
    PASSAGE_COVERAGE = "passage_coverage"
    TITLE = "title"
    PAIRS = "pairs"
    ALL_WORDS = "all_words"
    PASSAGE = "passage"
    SENTENCE = "sentence"
    DOCUMENT = "document"
    NAME = "name"
    EXACT = "exact"
    PARALLEL = "parallel"
    SMALL_LIBRARY = "small_library"
    RANK = "rank"
    SHORT_QUERY = "short_query"
    REPHRASED_QUERY = "rephrased_query"
    EXPECTED_ANSWER = "expected_answer"
    RERANK = "rerank"

    @property
    def lane(self) -> Lane:
        """The lane that measures it."""
        return _LANES.get(self, Lane.LEXICAL)


_LANES = {
    Feature.PASSAGE: Lane.DENSE,
    Feature.SENTENCE: Lane.DENSE,
    Feature.DOCUMENT: Lane.DENSE,
    Feature.PARALLEL: Lane.DENSE,
    Feature.NAME: Lane.IDENTITY,
    Feature.EXACT: Lane.EXACT,
    Feature.SHORT_QUERY: Lane.EXPAND,
    Feature.REPHRASED_QUERY: Lane.EXPAND,
    Feature.EXPECTED_ANSWER: Lane.EXPAND,
    Feature.RERANK: Lane.RERANK,
}


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature gave one result: `share` is `weight × value`, in log-odds.

    Under rank fusion the feature is the lane's rank, and the share is `weight / (k + rank)`.
    `parallel` names the document in another language that says the same and spoke for this one.
    """

    lane: Lane
    feature: Feature
    value: float
    weight: float
    share: float
    parallel: str | None = None


@dataclass(frozen=True, slots=True)
class Degradation:
    """A lane that could not run, or not to its end, and why."""

    lane: Lane
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What the caller sees of one found document.

    `title_html` and `snippet` are escaped HTML whose only tag is `<mark>`.
    `ranks` are its ranks in the lanes that brought it, `matched` the query's words that it holds.
    `foreign` is set for a document in none of the query's languages, which words judge less.
    `copies` are the ids of its copies, which come later; `copy_of` is what it is a copy of.
    """

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    title: str
    title_html: str
    tags: tuple[str, ...]
    updated: datetime | None
    score: float
    heading: tuple[str, ...]
    lines: tuple[int, int] | None
    snippet: str
    contributions: tuple[Contribution, ...]
    relevance: float | None = None
    ranks: Mapping[Lane, int] = field(default_factory=dict)
    matched: tuple[str, ...] = ()
    foreign: bool = False
    copies: tuple[str, ...] = ()
    copy_of: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """What a typed piece that no document holds was taken for, and what kind of slip it was.

    `written` is the piece as it should have been written, where that is known.
    """

    typed: str
    terms: tuple[str, ...]
    kind: str
    written: str | None = None


@dataclass(frozen=True, slots=True)
class Misread:
    """What was typed and could not be taken as it stands, so that it was searched as words.

    It looks like a filter and cannot be read as one, or there are more demands than are looked for.
    """

    typed: str
    reason: str


@dataclass(frozen=True, slots=True)
class MissingTag:
    """A tag that was asked for and that no document has, with the tags nearest to it."""

    tag: str
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        near = f"; near it: {', '.join(self.near)}" if self.near else ""
        return f"no document here has the tag {self.tag}{near}"


@dataclass(frozen=True, slots=True)
class LaneReport:
    """How one lane did for one query."""

    lane: Lane
    weight: float
    hits: int
    ms: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything a search says; `found` are the ids of all that the lanes brought, best first.

    `collections` says what the collections of the results are, where somebody described them.
    `answerable` is False where nothing found is likely to be relevant, None where that is unknown.
    `missing_tags` are told where nothing was found.
    `next` is the cursor of the page after this one, None on the last.
    `plan` is the weight of each lane that was to run, whether it could or not.
    """

    query: str
    mode: Mode
    lanes: tuple[LaneReport, ...]
    degraded: tuple[Degradation, ...]
    generation: int | None
    took_ms: float
    results: tuple[Result, ...]
    answerable: bool | None = None
    repairs: tuple[Repair, ...] = ()
    misread: tuple[Misread, ...] = ()
    missing_tags: tuple[MissingTag, ...] = ()
    intent: str | None = None
    found: tuple[str, ...] = ()
    collections: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    next: str | None = None
    plan: Mapping[Lane, float] = field(default_factory=dict)
