"""From the bytes of a note to a document.

Comments are for the author alone (`<!-- … -->` and `%% … %%`); inline fields are properties that
stand in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from twolane.ingest.parsing.decoding import decode
from twolane.ingest.parsing.front_matter import read_front_matter, recognise
from twolane.ingest.parsing.outline import outline
from twolane.model.document import (
    EMPTY,
    Document,
    Heading,
    Kind,
    Prepared,
    TitleOrigin,
    digest,
)
from twolane.model.problem import Problem, ProblemCode
from twolane.model.values import dataclass
from twolane.text.plaintext import blank, closing_ticks, code_spans, fence_end, fences, plain_line


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of a file: a document unless it is not text, and what is wrong with it.

    `prepared` is the document once it is analysed, unless it is not searchable.
    """

    document: Document | None
    problems: tuple[Problem, ...]
    prepared: Prepared | None = None


def parse_note(
    data: bytes, *, path: str, collection: str, modified: datetime, kind: Kind = Kind.NOTE
) -> Parsed:
    """Read a note; whatever the bytes are, this never raises.

    The body keeps the file's lines: what is dropped from it leaves its line ends.
    A note without a date of change in its front matter changed when the file was `modified`;
    one without a kind is of the given `kind`.
    """
    decoded = decode(data)
    problems = []
    if decoded.code is not None:
        problems.append(Problem(path, decoded.code, decoded.reason))
    if decoded.text is None:
        return Parsed(None, tuple(problems))
    front = read_front_matter(decoded.text)
    if front.reason:
        problems.append(Problem(path, ProblemCode.FRONT_MATTER, front.reason))
    said = recognise(front.values)
    body = drop_comments(front.body)
    found = outline(body, first_line=front.first_line)
    title, origin = _title(said.title, found.headings, path)
    document = Document(
        id=f"{collection}/{path}",
        collection=collection,
        title=title,
        body=body,
        kind=said.kind or kind,
        path=path,
        url=said.url,
        title_origin=origin,
        aliases=said.aliases,
        tags=_distinct((*said.tags, *found.tags)),
        description=said.description,
        summary=said.summary,
        headings=found.headings,
        links=found.links,
        arguments=said.arguments,
        # What stands in front matter is said on purpose, and so goes first.
        properties={**inline_fields(body), **front.properties} or EMPTY,
        first_line=front.first_line,
        created=said.created,
        updated=said.updated or _aware(modified),
        searchable=said.searchable and not front.hidden,
        archived=said.archived,
        content_hash=digest(decoded.text),
    )
    return Parsed(document, tuple(problems))


def _title(given: str, headings: tuple[Heading, ...], path: str) -> tuple[str, TitleOrigin]:
    if given:
        return given, TitleOrigin.PROPERTY
    for heading in headings:
        if heading.level == 1:
            return heading.text, TitleOrigin.HEADING
    return PurePosixPath(path).stem, TitleOrigin.PATH


def _distinct(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags in order, each in the spelling in which it was met first."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


_INTERESTING = re.compile(r"\\[!-/:-@\[-`{-~]|`+|~~~+|<!--|%%")

_LONGEST_LEAD = 200


def drop_comments(text: str) -> str:
    """The text without its comments; their line ends stay, so that lines keep their numbers.

    What looks like a comment inside code is code.
    A comment that is never closed is text: losing the rest of a note to a typing mistake is worse.
    """
    if "<!--" not in text and "%%" not in text:
        return text
    spans = closing_ticks(text)
    kept: list[str] = []
    # A mark that is not closed once is not closed later either.
    open_marks = {"<!--", "%%"}
    done = 0
    position = 0
    while match := _INTERESTING.search(text, position):
        start, mark = match.start(), match.group()
        position = match.end()
        if mark in open_marks:
            end = _comment_end(text, start, mark)
            if end is None:
                open_marks.remove(mark)
                continue
            kept += (text[done:start], "\n" * text.count("\n", start, end))
            done = position = end
        elif mark[0] in "`~":
            position = _code_end(text, match, spans)
    kept.append(text[done:])
    return "".join(kept)


def _comment_end(text: str, start: int, mark: str) -> int | None:
    """Where the comment ends, if it ever does."""
    closing = "-->" if mark == "<!--" else mark
    # `<!-->` and `<!--->` are whole comments: the closing mark may share their dashes.
    found = text.find(closing, start + 2)
    return None if found < 0 else found + len(closing)


def _code_end(text: str, match: re.Match[str], spans: dict[int, int]) -> int:
    """Where the code ends that this mark opens, or else where the mark ends."""
    start = match.start()
    if len(match.group()) >= 3:
        # A fence is the first thing on its line; markers of lists before it are short.
        line = text.rfind("\n", max(0, start - _LONGEST_LEAD), start) + 1
        if line or start < _LONGEST_LEAD:
            end = fence_end(text, line)
            if end is not None and end > start:
                return end
    return spans.get(start, match.end())


# A hostile file may hold nothing else.
_MOST = 500
_LONGEST = 2000

_KEY = r"[^\W\d_][\w \-/]{0,60}"
_LINE = re.compile(
    rf"^[ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?:\[.\][ \t]+)?)?"
    rf"(?:\*\*|__|\*|_)?({_KEY}?)(?:\*\*|__|\*|_)?::(?:\*\*|__)?[ \t]+(\S.*)$",
    re.MULTILINE,
)
_BRACKETED = re.compile(
    rf"[\[(]({_KEY}?)::[ \t]+([^\[\]()\n]*(?:\[\[[^\[\]\n]*\]\][^\[\]()\n]*)*)[\])]"
)
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def inline_fields(body: str) -> dict[str, Any]:
    """The fields of a text by name, small letters and hyphens; one that is repeated is a list."""
    if "::" not in body:
        return {}
    prose = blank(body, [*fences(body), *code_spans(body)])
    bracketed = list(islice(_BRACKETED.finditer(prose), _MOST))
    # What stands in brackets is no line of its own.
    lines = islice(_LINE.finditer(blank(prose, [one.span() for one in bracketed])), _MOST)
    found: dict[str, list[Any]] = {}
    for match in (*bracketed, *lines):
        name = "-".join(match[1].casefold().split())
        found.setdefault(name, []).append(_value(match[2].strip()[:_LONGEST]))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _value(text: str) -> Any:
    """A number, a day or a truth value if it looks like one, else the words that a reader sees."""
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    if text in ("true", "false"):
        return text == "true"
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            return text
    return plain_line(text)
