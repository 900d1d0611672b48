"""Why a document is found or not, and which documents are similar to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, Meta

from twolane.explain.diagnosis import Obstacle, Standing, Suggestion
from twolane.interfaces.wire.search import Degraded, File, file_in
from twolane.interfaces.wire.shape import Headings, Lines, Rounded, Shape, Time, shape
from twolane.model.answer import Contribution, Lane, Mode
from twolane.model.document import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from twolane.explain.diagnosis import Diagnosis
    from twolane.explain.similar import Similar
    from twolane.explain.similar import SimilarAnswer as Alike


class Opinion(Shape):
    """What one lane says of the document."""

    lane: Lane
    hits: int | None
    rank: int | None
    share: Annotated[float, Meta(description="What its features gave, in log-odds.")]
    reason: str | None


class Word(Shape):
    """A word of the query, and the fields of the document that hold it."""

    word: str
    held: bool
    fields: list[str]
    taken_for: list[str]


class NearestPassage(Shape):
    """The document's nearest passage to the query."""

    heading: Headings
    lines: Lines
    similarity: float | None


class WhyAnswer(Shape):
    """Why a document is, or is not, among the results of a query."""

    query: str
    mode: Mode
    limit: int
    id: str | None
    collection: str | None
    path: str | None
    url: str | None
    title: str | None
    standing: Standing
    verdict: Annotated[str, Meta(description="The answer in a sentence.")]
    rank: int | None
    score: float | None
    relevance: float | None
    found: int | None
    copy_of: str | None
    foreign: bool
    contributions: list[Contribution]
    obstacles: list[Obstacle]
    opinions: list[Opinion]
    words: list[Word]
    coverage: float | None
    passage: NearestPassage | None
    suggestion: Suggestion | None
    degraded: Degraded
    generation: int | None
    took_ms: Rounded


class Place(Shape):
    """Where a passage stands."""

    heading: Headings
    lines: Lines


class PassagePair(Shape):
    """The two passages that make two documents similar."""

    own: Place
    other: Place
    similarity: float


class SimilarResult(Shape):
    """A document that is similar to the one that was asked about."""

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    title: str
    tags: list[str]
    updated: Time | None
    score: float
    similarity: float | None
    shared: Annotated[
        list[str], Meta(description="Words that both documents hold and few others do.")
    ]
    linked: bool
    passages: PassagePair | None
    file: File = UNSET


class SimilarAnswer(Shape):
    """The documents that are most similar to one, best first."""

    id: str
    title: str
    generation: int | None
    degraded: Degraded
    took_ms: Rounded
    results: list[SimilarResult]


def why_answer(diagnosis: Diagnosis) -> WhyAnswer:
    """What a diagnosis says."""
    opinions = [
        shape(Opinion, opinion, reason=opinion.reason or None) for opinion in diagnosis.opinions
    ]
    return shape(WhyAnswer, diagnosis, opinions=opinions)


def similar_answer(
    answer: Alike, file_of: Callable[[Similar], Path | None] | None = None
) -> SimilarAnswer:
    """The documents that are most similar to one, and their files where these may be told."""
    results = [
        shape(SimilarResult, result, passages=result.pair, file=file_in(file_of, result))
        for result in answer.results
    ]
    return shape(SimilarAnswer, answer, results=results)
