"""What is said of one document and one query, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


# How each lane looks at a document; a lane that is not here is called by its name.
_BY = {
    Lane.LEXICAL: "by words",
    Lane.DENSE: "by meaning",
    Lane.EXACT: "by letters",
    Lane.IDENTITY: "by name",
}

# A verdict is read at a glance; the table below it has the rest.
_MOST_REASONS = 2
_MOST_WORDS = 4


def verdict(diagnosis: Diagnosis) -> str:
    """Where the document is and the main reason, as a sentence."""
    rank, opinions = diagnosis.rank, diagnosis.opinions
    if rank is None:
        reasons = [obstacle.reason for obstacle in diagnosis.obstacles[:_MOST_REASONS]]
        because = ", and ".join(reasons) or "no lane brought it"
        return f"It is not found because {because}."
    place = f"It is {ordinal(rank)} of {diagnosis.found}"
    if diagnosis.standing == Standing.BELOW:
        limit = diagnosis.limit
        place += f", below the {'one that is' if limit == 1 else f'{limit} that are'} shown"
    reasons = [*_opinions(opinions), *_lacking(diagnosis.words)]
    if diagnosis.copy_of:
        reasons.insert(0, f"it is a copy of {diagnosis.copy_of}, and copies come later")
    if diagnosis.foreign:
        reasons.append("it is in another language than the query, which words can hardly judge")
    if not opinions:
        reasons = ["a query of filters alone lists what they leave, newest first"]
    return f"{place}: {'; '.join(reasons)}." if reasons else f"{place}."


def suggested(suggestion: Suggestion | None) -> str:
    """What to try, in half a sentence; empty if nothing helps."""
    if suggestion is None:
        return ""
    place = f"it is {ordinal(suggestion.rank)}"
    match suggestion.change:
        case Change.THRESHOLD:
            return f"with {suggestion.what} = {suggestion.value:g} {place}"
        case Change.ARCHIVED:
            return f"with archived documents {place}"
        case Change.TERM:
            return f"without {suggestion.what} {place}: {suggestion.query}"
        case Change.FILTER:
            return f"without the filter {suggestion.what} {place}: {suggestion.query}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def by_lane(lane: Lane) -> str:
    """How the lane looks at a document, in words."""
    return _BY.get(lane, f"by {lane.value}")


def _opinions(opinions: Sequence[Opinion]) -> Iterator[str]:
    ranked = [
        f"{by_lane(opinion.lane)} {ordinal(opinion.rank)}" for opinion in opinions if opinion.rank
    ]
    if ranked:
        yield ", ".join(ranked)
    for opinion in opinions:
        if opinion.rank is None and opinion.lane in MAIN_LANES:
            yield f"not found {by_lane(opinion.lane)}, because {opinion.reason}"


def _lacking(words: Sequence[WordFound]) -> Iterator[str]:
    lacking = [f"“{word.word}”" for word in words if not word.held]
    if lacking and len(lacking) < len(words):
        yield f"it lacks {_some(lacking)}"


def _some(words: Sequence[str]) -> str:
    more = "" if len(words) <= _MOST_WORDS else " and others"
    return f"{', '.join(words[:_MOST_WORDS])}{more}"
