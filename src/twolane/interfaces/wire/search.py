"""The answer to a search.

What the library gives in the very shape that is told is not defined here once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import UNSET, Meta, UnsetType

from twolane.interfaces.wire.shape import Counts, Headings, Html, Lines, Rounded, Shape, Time, shape
from twolane.model.answer import Contribution, Degradation, Lane, Misread, MissingTag, Repair
from twolane.model.document import Kind
from twolane.ports.documents import Facets

if TYPE_CHECKING:
    from pathlib import Path

    from twolane.model import answer as model

T = TypeVar("T")

_NO_LINKS: Mapping[str, str] = MappingProxyType({})

Link = Annotated[
    str | None, Meta(description="Opens it in another program, by `results.link_template`.")
]


# Where things lie on a disk is nothing that a server tells.
File = Annotated[
    str | UnsetType | None,
    Meta(description="Its file, as an absolute path; only the command line tells it."),
]

Degraded = Annotated[
    list[Degradation],
    Meta(description="Lanes that should have run and could not; usually empty."),
]


class LaneReport(Shape):
    """What a lane found, and how long it took."""

    hits: int
    ms: Rounded


class SearchResult(Shape):
    """A document that was found."""

    id: Annotated[str, Meta(description="The document's id; `/api/v1/documents/{id}` reads it.")]
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    link: Link
    title: str
    title_html: Html
    tags: list[str]
    updated: Time | None
    score: Annotated[
        float,
        Meta(description="What orders the answer: the log-odds that the result is relevant."),
    ]
    relevance: Annotated[
        float | None, Meta(description="The chance that it is relevant, from 0 to 1.")
    ]
    heading: Headings
    lines: Lines | None
    snippet: Html
    contributions: Annotated[
        list[Contribution],
        Meta(description="What each feature gave: `share = weight × value`, in log-odds."),
    ]
    ranks: Annotated[dict[Lane, int], Meta(description="Its rank in each lane that brought it.")]
    matched: Annotated[list[str], Meta(description="The words of the query that it holds.")]
    foreign: Annotated[bool, Meta(description="Whether it is in none of the query's languages.")]
    copies: Annotated[
        list[str], Meta(description="Ids of its copies, which come after other documents.")
    ]
    copy_of: Annotated[str | None, Meta(description="The document before it that it is a copy of.")]
    file: File = UNSET


class SearchAnswer(Shape):
    """The documents that were found, best first, and how."""

    query: str
    intent: str | None
    plan: Annotated[dict[Lane, float], Meta(description="The weight of each lane.")]
    lanes: dict[Lane, LaneReport]
    degraded: Degraded
    generation: int | None
    answerable: bool | None
    repairs: list[Repair]
    misread: list[Misread]
    missing_tags: list[MissingTag]
    took_ms: Rounded
    next: str | None
    collections: Annotated[dict[str, str], Meta(description="What the collections of results are.")]
    results: list[SearchResult]
    facets: Annotated[
        Facets | UnsetType | None,
        Meta(description="How all that was found is spread; null where that was not asked."),
    ] = UNSET


def search_answer(
    answer: model.Answer,
    links: Mapping[str, str] = _NO_LINKS,
    file_of: Callable[[model.Result], Path | None] | None = None,
) -> SearchAnswer:
    """A search's answer, with links that open the results, by their ids, and their files."""
    return shape(
        SearchAnswer,
        answer,
        lanes={lane.lane: lane for lane in answer.lanes},
        results=[
            shape(SearchResult, result, link=links.get(result.id), file=file_in(file_of, result))
            for result in answer.results
        ],
    )


def file_in(file_of: Callable[[T], Path | None] | None, document: T) -> str | UnsetType | None:
    """The file of a document as JSON says it; nothing at all where nobody may know."""
    if file_of is None:
        return UNSET
    file = file_of(document)
    return None if file is None else str(file)


def facets(found: Facets) -> Facets:
    """How documents are spread, the most frequent tags first."""
    return replace(found, tags=most_first(found.tags))


def most_first(counts: Mapping[str, int]) -> Counts:
    """The counts, highest first."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
