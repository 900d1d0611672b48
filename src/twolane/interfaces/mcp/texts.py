"""Answers as plain text that stays within a number of tokens.

Every passage is cited by path, heading path and line range, so that it can be quoted and read on.
What does not fit is left out at the end and said to be.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.explain.why.wording import suggested
from twolane.ingest.chunking import estimate_tokens
from twolane.results.excerpts import about, lines_of
from twolane.results.sections import section_ids

if TYPE_CHECKING:
    from twolane.explain.similar import SimilarAnswer
    from twolane.explain.why.values import Diagnosis
    from twolane.library import Library
    from twolane.model.answer import Answer, Degradation, Result
    from twolane.model.document import Document
    from twolane.model.scope import Scope
    from twolane.results.excerpts import Excerpt

_MARK = re.compile(r"</?mark>")

# What a line that something was left out costs, with room for its numbers.
_REMARK_TOKENS = 30

# So many copies of a result are named; the others are counted.
_MOST_COPIES = 3


def named(scope: Scope) -> Scope:
    """The scope for a document that is named outright: it may be archived."""
    return replace(scope, archived=True)


def found(library: Library, scope: Scope, answer: Answer, tokens: int) -> str:
    """The results of a search, each with as much of its passage as there is room for."""
    head = _warnings(answer.degraded)
    head += [
        f"{one.typed!r} was taken for {one.written or ', '.join(one.terms)!r}"
        for one in answer.repairs
    ]
    head += [f"{one.typed} was searched as words: {one.reason}" for one in answer.misread]
    head += map(str, answer.missing_tags)
    if not answer.results:
        return "\n".join([*head, "nothing found"])
    if answer.answerable is False:
        head.append("nothing relevant; nearest:")
    head += [f"{name}: {text}" for name, text in sorted(answer.collections.items())]
    places = [_cited(place, one) for place, one in enumerate(answer.results, 1)]
    left = tokens - sum(estimate_tokens(text) + 1 for text in (*head, *places)) - _REMARK_TOKENS
    share = max(0, left // len(answer.results))
    blocks = [
        f"{place}\n{_fitted(_passage(library, scope, one), share)}" if share > 15 else place
        for place, one in zip(places, answer.results, strict=True)
    ]
    return _joined(head, blocks, tokens, "\n\n")


def alike(answer: SimilarAnswer, tokens: int) -> str:
    """Documents that are similar to one, with what they share."""
    head = [f"like {answer.id}:"] if answer.results else [f"nothing is like {answer.id}"]
    head += _warnings(answer.degraded)
    lines = []
    for place, one in enumerate(answer.results, 1):
        parts = [f"{place}. {one.title} [{one.id}]"]
        if one.pair:
            where = f"{_trail(one.pair.other.heading)}{_range(one.pair.other.lines)}"
            parts.append(where.strip())
        if one.shared:
            parts.append(f"shares {', '.join(one.shared)}")
        if one.linked:
            parts.append("linked")
        lines.append("; ".join(parts))
    return _joined(head, lines, tokens, "\n")


def read(part: Excerpt, tokens: int) -> str:
    """Part of a document, cut at a line if it is too long, with where to read on."""
    document = part.document
    heading = f" > {part.heading}" if part.heading else ""
    head = f"{document.title} [{document.id}]{heading}{_range(part.lines)}"
    if document.kind != "note" and part.text == document.body:
        head = "\n".join((head, *about(document)))
    lines = part.text.removesuffix("\n").split("\n")
    room = tokens - estimate_tokens(head) - _REMARK_TOKENS
    kept = _longest(lines, room)
    shown = lines[:kept]
    if kept == 1:
        # A page that was saved as one line must not break the budget.
        shown = [_fitted(lines[0], max(room, 1))]
    text = "\n".join([head, "", *shown])
    after = part.first_line + kept
    left = len(lines) - kept
    onward = f"read on with lines {after}-{after + left - 1}" if left else ""
    if shown != lines[:kept]:
        advice = ", or ".join(filter(None, ("raise max_tokens", onward)))
        return f"{text}\n[cut within line {part.first_line}: {advice}]"
    return (
        f"{text}\n[cut: {left} {'line' if left == 1 else 'lines'} left; {onward}]" if left else text
    )


def headings(document: Document, tokens: int) -> str:
    """The headings of a document, each with the line of the file on which it stands."""
    top = min((one.level for one in document.headings), default=1)
    lines = [
        f"{'  ' * (one.level - top)}{one.text} (line {one.line}{shown})"
        for one, shown in zip(document.headings, _told_apart(document), strict=True)
    ]
    head = f"{document.title} [{document.id}]"
    return _joined([head], lines or ["it has no headings"], tokens, "\n")


def _told_apart(document: Document) -> list[str]:
    """What tells a heading from others of the same text: its id, where that is needed."""
    texts = Counter(one.text for one in document.headings)
    ids = section_ids(document.headings)
    return [
        f", #{id}" if texts[one.text] > 1 else ""
        for one, id in zip(document.headings, ids, strict=True)
    ]


def reasons(diagnosis: Diagnosis, tokens: int) -> str:
    """Why a document is, or is not, among the results."""
    named = f"{diagnosis.title} [{diagnosis.id}]"
    if diagnosis.id is None:
        # A file that gave no document.
        named = f"{diagnosis.collection}/{diagnosis.path}"
    head = [f"{named}: {diagnosis.verdict}"]
    lines = [f"{one.kind.value}: {one.reason}" for one in diagnosis.obstacles]
    for one in diagnosis.opinions:
        rank = f"rank {one.rank} of {one.hits}" if one.rank else f"not among {one.hits}"
        reason = f" ({one.reason})" if one.reason else ""
        lines.append(f"{one.lane.value} lane: {rank}{reason}")
    missing = [one.word for one in diagnosis.words if not one.held]
    if missing:
        lines.append(f"words that it does not hold: {', '.join(missing)}")
    if change := suggested(diagnosis.suggestion):
        lines.append(f"to bring it in: {change}")
    return _joined(head, lines, tokens, "\n")


def standing(library: Library, scope: Scope) -> str:
    """What is indexed, and how complete it is."""
    status = library.status(scope=scope)
    languages = ", ".join(
        f"{name} {count}" for name, count in sorted(status.stats.languages.items())
    )
    progress = status.progress
    lines = [
        f"{status.stats.documents} documents in {status.stats.chunks} passages",
        f"languages: {languages or 'none'}",
        f"vectors: {progress.ready} ready, {progress.pending} pending, {progress.failed} failed",
        *collections(library, scope),
        *_warnings(status.degraded),
    ]
    return "\n".join(lines)


def collections(library: Library, scope: Scope) -> list[str]:
    """A line for each collection that the scope may see, with its own words about itself."""
    return [
        f"collection {one.name}: {one.description}" if one.description else f"collection {one.name}"
        for one in library.collections(scope=scope)
    ]


def _warnings(degraded: Iterable[Degradation]) -> list[str]:
    return [f"warning: the {one.lane.value} lane is missing: {one.reason}" for one in degraded]


def _cited(place: int, one: Result) -> str:
    """The line that names a result and says where its passage stands."""
    relevance = "" if one.relevance is None else f" relevance {one.relevance:.2f}"
    where = f" {one.path or one.url}" if one.path or one.url else ""
    where += f"{_trail(one.heading)}{_range(one.lines)}"
    return f"{place}. {one.title} [{one.id}]{where}{relevance}{_copied(one)}"


def _copied(one: Result) -> str:
    """What a result is a copy of, and its own copies; a few ids are enough to find them all."""
    said = f"; a copy of {one.copy_of}" if one.copy_of else ""
    if one.copies:
        more = len(one.copies) - _MOST_COPIES
        said += f"; also as {', '.join(one.copies[:_MOST_COPIES])}"
        said += f" and {more} more" if more > 0 else ""
    return said


def _passage(library: Library, scope: Scope, one: Result) -> str:
    """The passage that won, as it is written; its snippet where it has no lines."""
    if one.lines is not None:
        document = library.document(one.id, scope=named(scope))
        return lines_of(document, *one.lines).text.strip()
    return html.unescape(_MARK.sub("", one.snippet))


def _trail(heading: Sequence[str]) -> str:
    return f" > {' > '.join(heading)}" if heading else ""


def _range(lines: tuple[int, int] | None) -> str:
    return f" lines {lines[0]}-{lines[1]}" if lines else ""


def _fitted(text: str, tokens: int) -> str:
    """The text, or as many of its words as fit; of a single word, its beginning."""
    if estimate_tokens(text) <= tokens:
        return text
    words = text.split(" ")
    kept = _longest(words, tokens - 2, " ")
    begun = " ".join(words[:kept])
    if kept == 1:
        # Some scripts are written without spaces.
        begun = begun[: _longest(begun, tokens - 2, "")]
    return f"{begun} …"


def _longest(pieces: Sequence[str], tokens: int, between: str = "\n") -> int:
    """How many pieces from the front fit, at least one."""
    least, most = 1, len(pieces)
    while least < most:
        middle = (least + most + 1) // 2
        if estimate_tokens(between.join(pieces[:middle])) <= tokens:
            least = middle
        else:
            most = middle - 1
    return least


def _joined(head: Sequence[str], blocks: Iterable[str], tokens: int, between: str) -> str:
    """Head and blocks; blocks that do not fit are counted instead."""
    listed = list(blocks)
    start = "\n".join(head)
    room = tokens - estimate_tokens(start) - _REMARK_TOKENS
    kept = _longest(listed, room, between) if listed else 0
    text = between.join(listed[:kept])
    left = len(listed) - kept
    remark = [f"[{left} more left out: raise max_tokens or lower limit]"] if left else []
    return "\n".join(part for part in (start, text, *remark) if part)
