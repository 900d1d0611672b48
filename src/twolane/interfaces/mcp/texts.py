"""Answers as plain text that stays within a number of tokens, whatever notes hold.

Every passage is cited by path, heading path and line range, so that it can be quoted and read on.
What does not fit is left out at the end and said to be.
What is ours on the line of a result (id, relevance, lines) stands before what the note is called.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.explain.diagnosis import suggested
from twolane.interfaces.failures import for_strangers, without_places
from twolane.interfaces.mcp import quoting
from twolane.interfaces.mcp.quoting import NAME_TOKENS, bounded, cost, line, longest, name, quoted
from twolane.results.excerpts import about, lines_of, section_ids
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.explain.diagnosis import Diagnosis
    from twolane.explain.similar import SimilarAnswer
    from twolane.library import Library
    from twolane.model.answer import Answer, Degradation, Result
    from twolane.model.document import Document
    from twolane.model.scope import Scope
    from twolane.results.excerpts import Excerpt

_MARK = re.compile(r"</?mark>")

# What a line that something was left out costs, with room for its numbers.
_REMARK_TOKENS = 24

# A passage with less room than this is not worth its place.
_LEAST_TOKENS = 40

# So many remarks of a kind are made about one query.
_MOST_REMARKS = 5

# So many copies of a result are named; the others are counted.
_MOST_COPIES = 3


def named(scope: Scope) -> Scope:
    """The scope for a document that is named outright: it may be archived."""
    return replace(scope, archived=True)


def found(library: Library, scope: Scope, answer: Answer, tokens: int) -> str:
    """The results of a search, each with as much of its passage as there is room for."""
    head = _warnings(answer.degraded)
    head += _few(
        f"{line(repr(repair.typed))} was taken for "
        f"{line(repr(repair.written or ', '.join(repair.terms)))}"
        for repair in answer.repairs
    )
    head += _few(
        f"{line(misread.typed)} was searched as words: {line(misread.reason)}"
        for misread in answer.misread
    )
    head += _few(line(str(missing), 2 * NAME_TOKENS) for missing in answer.missing_tags)
    if not answer.results:
        return _joined(head, ["nothing found"], tokens, "\n")
    if answer.answerable is False:
        head.append("nothing relevant; nearest:")
    described = sorted(answer.collections.items())
    head += _few(f"{name(one)}: {line(text)}" for one, text in described)
    places = [_cited(place, one) for place, one in enumerate(answer.results, 1)]
    left = tokens - sum(cost(text) + 1 for text in head) - _REMARK_TOKENS
    costs = [cost(place) + 1 for place in places]
    # Fewer results with something to read say more than many without.
    count, share = len(places), 0
    while count and (share := (left - sum(costs[:count])) // count) < _LEAST_TOKENS:
        count -= 1
    passages = [_passage(library, scope, result) for result in answer.results[:count]]
    blocks = [
        f"{place}\n{_fitted(quoted(passage), share)}" if passage else place
        for place, passage in zip(places[:count], passages, strict=True)
    ]
    blocks += places[count:]
    return _joined(head, blocks, tokens, "\n\n")


def alike(answer: SimilarAnswer, tokens: int) -> str:
    """Documents that are similar to one, with what they share."""
    one_like = quoting.id(answer.id)
    head = [f"like {one_like}:"] if answer.results else [f"nothing is like {one_like}"]
    head += _warnings(answer.degraded)
    lines = []
    for place, one in enumerate(answer.results, 1):
        parts = [f"{place}. {name(one.title)} {quoting.id(one.id)}"]
        if one.linked:
            parts.append("linked")
        if one.pair:
            where = f"{_range(one.pair.other.lines)}{_trail(one.pair.other.heading)}"
            parts.append(where.strip())
        if one.shared:
            parts.append(f"shares {line(', '.join(one.shared))}")
        lines.append("; ".join(parts))
    return _joined(head, lines, tokens, "\n")


def read(part: Excerpt, tokens: int) -> str:
    """Part of a document, cut at a line if it is too long, with where to read on."""
    document = part.document
    heading = f" > {name(part.heading)}" if part.heading else ""
    head = f"{name(document.title)} {quoting.id(document.id)}{_range(part.lines)}{heading}"
    if document.kind != "note" and part.text == document.body:
        about_it = [line(one, max(NAME_TOKENS, tokens // 8)) for one in about(document)]
        head = "\n".join((head, *map(quoted, about_it)))
    head = bounded(head, max(tokens - 2 * _REMARK_TOKENS, tokens // 2))
    lines = quoted(part.text.removesuffix("\n")).split("\n")
    room = tokens - cost(head) - _REMARK_TOKENS
    kept = longest(lines, room)
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
    top = min((heading.level for heading in document.headings), default=1)
    lines = [
        f"{'  ' * (one.level - top)}{name(one.text)} (line {one.line}{shown})"
        for one, shown in zip(document.headings, _told_apart(document), strict=True)
    ]
    head = f"{name(document.title)} {quoting.id(document.id)}"
    return _joined([head], lines or ["it has no headings"], tokens, "\n")


def _told_apart(document: Document) -> list[str]:
    """What tells a heading from others of the same text: its id, where that is needed."""
    texts = Counter(heading.text for heading in document.headings)
    ids = section_ids(document.headings)
    return [
        f", #{id}" if texts[one.text] > 1 else ""
        for one, id in zip(document.headings, ids, strict=True)
    ]


def reasons(diagnosis: Diagnosis, tokens: int) -> str:
    """Why a document is, or is not, among the results."""
    place = f"{name(diagnosis.title or '')} {quoting.id(diagnosis.id or '')}"
    if diagnosis.id is None:
        # A file that gave no document.
        place = line(f"{diagnosis.collection}/{diagnosis.path}")
    head = [f"{place}: {line(without_places(diagnosis.verdict), 2 * NAME_TOKENS)}"]
    lines = [f"{one.kind.value}: {without_places(one.reason)}" for one in diagnosis.obstacles]
    for one in diagnosis.opinions:
        rank = f"rank {one.rank} of {one.hits}" if one.rank else f"not among {one.hits}"
        reason = f" ({one.reason})" if one.reason else ""
        lines.append(f"{one.lane.value} lane: {rank}{reason}")
    missing = [word.word for word in diagnosis.words if not word.held]
    if missing:
        lines.append(f"words that it does not hold: {', '.join(missing)}")
    if change := suggested(diagnosis.suggestion):
        lines.append(f"to bring it in: {change}")
    return _joined(head, [line(one, 2 * NAME_TOKENS) for one in lines], tokens, "\n")


def standing(library: Library, scope: Scope, tokens: int) -> str:
    """What is indexed, and how complete it is."""
    status = library.status(scope=scope)
    languages = ", ".join(f"{one} {count}" for one, count in sorted(status.stats.languages.items()))
    progress, stats = status.progress, status.stats
    head = [
        f"{counted(stats.documents, 'document')} in {counted(stats.chunks, 'passage')}",
        f"languages: {line(languages) or 'none'}",
        f"vectors: {progress.ready} ready, {progress.pending} pending, {progress.failed} failed",
        *_warnings(status.degraded),
    ]
    return _joined(head, collections(library, scope), tokens, "\n")


def collections(library: Library, scope: Scope) -> list[str]:
    """A line for each collection that the scope may see, with its own words about itself."""
    return [
        f"collection {name(collection.name)}"
        + (f": {line(collection.description)}" if collection.description else "")
        for collection in library.collections(scope=scope)
    ]


def introduction(head: Sequence[str], lines: Sequence[str], foot: str, tokens: int) -> str:
    """Lines between a head and a foot that are always there."""
    room = tokens - cost(foot) - 1
    return f"{_joined(head, [f'- {one}' for one in lines], room, chr(10))}\n{foot}"


def _warnings(degraded: Iterable[Degradation]) -> list[str]:
    return [
        f"warning: {degradation.lane.value} lane: {line(degradation.reason)}"
        for degradation in for_strangers(degraded)
    ]


def _few(lines: Iterable[str]) -> list[str]:
    """The first few of many remarks, and how many there are beside them."""
    listed = list(lines)
    more = len(listed) - _MOST_REMARKS
    return [*listed[:_MOST_REMARKS], f"… and {more} more like this"] if more > 0 else listed


def _cited(place: int, one: Result) -> str:
    """The line that names a result and says where its passage stands."""
    relevance = "" if one.relevance is None else f" relevance {one.relevance:.2f}"
    where = f" {line(one.path or one.url or '')}" if one.path or one.url else ""
    ours = f"{name(one.title)} {quoting.id(one.id)}{relevance}{_range(one.lines)}"
    return f"{place}. {ours}{where}{_trail(one.heading)}{_copied(one)}"


def _copied(one: Result) -> str:
    """What a result is a copy of, and its own copies; a few ids are enough to find them all."""
    said = f"; a copy of {line(one.copy_of)}" if one.copy_of else ""
    if one.copies:
        more = len(one.copies) - _MOST_COPIES
        said += f"; also as {', '.join(map(line, one.copies[:_MOST_COPIES]))}"
        said += f" and {more} more" if more > 0 else ""
    return said


def _passage(library: Library, scope: Scope, one: Result) -> str:
    """The passage that won, as it is written; where it has no lines, what the document says of
    itself, if that is more than its address."""
    if one.lines is not None:
        document = library.document(one.id, scope=named(scope))
        return lines_of(document, *one.lines).text.strip()
    said = html.unescape(_MARK.sub("", one.snippet))
    return "" if said == one.url else said


def _trail(heading: Sequence[str]) -> str:
    return f" > {name(' > '.join(heading))}" if heading else ""


def _range(lines: tuple[int, int] | None) -> str:
    return f" lines {lines[0]}-{lines[1]}" if lines else ""


def _fitted(text: str, tokens: int) -> str:
    """The text, or as many of its words as fit; of a single word, its beginning."""
    return bounded(text, max(tokens, 1))


def _joined(head: Sequence[str], blocks: Sequence[str], tokens: int, between: str) -> str:
    """Head and blocks; blocks that do not fit are counted instead. Never more than `tokens`."""
    start = bounded("\n".join(head), max(tokens - 2 * _REMARK_TOKENS, tokens // 2))
    room = tokens - cost(start) - _REMARK_TOKENS
    kept = longest(blocks, room, between) if blocks else 0
    text = bounded(between.join(blocks[:kept]), max(room, 1))
    left = len(blocks) - kept
    remark = [f"[{left} more left out: raise max_tokens or lower limit]"] if left else []
    return "\n".join(part for part in (start, text, *remark) if part)
