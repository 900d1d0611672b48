"""What a caller asks for and what is answered: modes, results, explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from twolane.model.document import EMPTY, Kind


class Mode(StrEnum):
    """Which lanes the caller wants to hear."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    EXACT = "exact"


class Lane(StrEnum):
    """Something that answers a query with a ranked list."""

    LEXICAL = "lexical"
    DENSE = "dense"
    EXACT = "exact"
    IDENTITY = "identity"


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


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A document that says the same in another language, and how surely, from 0 to 1."""

    id: str
    closeness: float


# Every search makes some hundreds of these, of signs and of fused documents; a named tuple is made
# in a fifth of the time.
class Contribution(NamedTuple):
    """What one lane gave one result: `weight × vote / (k + rank)`.

    `abstained` is set where the lane could not judge the document and lent its weight to the
    dense rank; `rank` is then None unless the lane had found a stray word in it.
    `counterpart` is the document in another language whose vote counted here, too: then the value
    is what the lane gave that one, as far as the two say the same.
    """

    lane: Lane
    rank: int | None
    score: float | None
    weight: float
    vote: float
    value: float
    abstained: bool = False
    matched: tuple[str, ...] = ()
    counterpart: Counterpart | None = None


class Signs(NamedTuple):
    """What speaks for the relevance of one result; more of anything is a better sign.

    `similarity` is that of its best passage, at least 0; `prominence` how far that stands out from
    what is usual for the query; `foreign` the similarity once more where words cannot judge.
    `coverage` is the share of the query's information that its words hold, `complete` whether they
    hold all of it, `wording` 1 / rank by words, `naming` the same by the lanes that look for names
    and literal text, `height` 1 / rank in the answer.
    """

    similarity: float = 0.0
    prominence: float = 0.0
    foreign: float = 0.0
    coverage: float = 0.0
    complete: float = 0.0
    wording: float = 0.0
    naming: float = 0.0
    height: float = 0.0


class Signal(StrEnum):
    """What may speak for a document beside the lanes."""

    RECENCY = "recency"
    USE = "use"
    USAGE = "usage"
    TAGS = "tags"


@dataclass(frozen=True, slots=True)
class Boost:
    """What one signal gave one result: `weight × strength / (k + 1)`."""

    signal: Signal
    strength: float
    weight: float
    value: float


@dataclass(frozen=True, slots=True)
class Degradation:
    """A lane that could not run, or not to its end, and why."""

    lane: Lane
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What the caller sees of one found document.

    `title_html` and `snippet` are escaped HTML whose only tag is `<mark>`.
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
    boosts: tuple[Boost, ...] = ()
    signs: Signs | None = None
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
