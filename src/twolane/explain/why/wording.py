"""The verdict in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twolane.explain.why.values import (
    MAIN_LANES,
    Change,
    Diagnosis,
    Opinion,
    Standing,
    Suggestion,
    WordFound,
)
from twolane.model.answer import Lane

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
    ranked = [f"{by_lane(one.lane)} {ordinal(one.rank)}" for one in opinions if one.rank]
    if ranked:
        yield ", ".join(ranked)
    for one in opinions:
        if one.rank is None and one.lane in MAIN_LANES:
            yield f"not found {by_lane(one.lane)}, because {one.reason}"


def _lacking(words: Sequence[WordFound]) -> Iterator[str]:
    lacking = [f"“{one.word}”" for one in words if not one.held]
    if lacking and len(lacking) < len(words):
        yield f"it lacks {_some(lacking)}"


def _some(words: Sequence[str]) -> str:
    more = "" if len(words) <= _MOST_WORDS else " and others"
    return f"{', '.join(words[:_MOST_WORDS])}{more}"
