"""Part of a document: a few lines, or the section below a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from twolane.model.document import Document, Heading
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.text.tokens import fold

_LINES = re.compile(r"(.+):([0-9]{1,9})(?:(-)([0-9]{1,9})?)?", re.DOTALL)

# Stands between the headings of a path, as in the breadcrumb of a result.
_BELOW = " > "

# Each `#` may be the one before the heading, and to look every name up takes time.
_MOST_SIGNS = 16


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a document's body, and the line of the file on which it begins."""

    document: Document
    text: str
    first_line: int
    heading: str | None = None

    @property
    def lines(self) -> tuple[int, int] | None:
        """The lines of the file that it spans, if it holds any text."""
        if not self.text.strip():
            return None
        return self.first_line, self.first_line + self.text.removesuffix("\n").count("\n")


def excerpt(reference: str, named: Callable[[str], Document]) -> Excerpt:
    """What `DOC`, `DOC:FROM-TO` or `DOC#HEADING` names.

    A title or path may hold `:` or `#`, so the whole is tried first;
    after that the longest name that is a document wins.
    """
    try:
        document = named(reference)
    except NoSuchDocument:
        ranged = _LINES.fullmatch(reference)
        if ranged and (found := _found(named, ranged[1])):
            first = int(ranged[2])
            last = int(ranged[4]) if ranged[4] else None if ranged[3] else first
            return lines_of(found, first, last)
        for name, heading in _splits(reference):
            if found := _found(named, name):
                return section_of(found, heading)
        raise
    return whole(document)


def whole(document: Document) -> Excerpt:
    """All of a document."""
    return Excerpt(document, document.body, document.first_line)


def about(document: Document) -> tuple[str, ...]:
    """What a bookmark or a prompt says of itself beside its text, a line each."""
    arguments = f"arguments: {', '.join(document.arguments)}" if document.arguments else ""
    said = (document.url or "", document.description, document.summary, arguments)
    return tuple(" ".join(one.split()) for one in said if one)


def lines_of(document: Document, first: int, last: int | None) -> Excerpt:
    """Lines of the document's file, both included; to the end without a last one."""
    lines = document.body.removesuffix("\n").split("\n")
    begin = document.first_line
    end = begin + len(lines) - 1
    last = end if last is None else last
    if first > last or first > end or last < begin:
        raise BadInput(f"{document.id!r} has the lines {begin}-{end}; {first}-{last} are not in it")
    # Front matter is not shown, so a range that begins in it begins after it.
    first = max(first, begin)
    text = "\n".join(lines[first - begin : last - begin + 1])
    return Excerpt(document, f"{text}\n", first)


def section_of(document: Document, heading: str) -> Excerpt:
    """The section below a heading, or below the last heading of a path `A > B`."""
    path = [_key(part) for part in heading.split(_BELOW)]
    for place, one in enumerate(document.headings):
        # A heading may hold the sign itself, so its whole text is compared, too.
        trail = _trail(document.headings, place)
        if _key(one.text) == _key(heading) or _ends_in(trail, path):
            text = document.body[one.start : _end_of(document, place)]
            return Excerpt(document, f"{text.rstrip()}\n", one.line, one.text)
    raise BadInput(f"{document.id} has no heading {heading!r}; {_listed(document.headings)}")


def _found(named: Callable[[str], Document], name: str) -> Document | None:
    try:
        return named(name)
    except NoSuchDocument:
        return None


def _splits(reference: str) -> Iterator[tuple[str, str]]:
    """Name and heading at each `#`, the last one first; a heading holds no more than a few."""
    at = reference.rfind("#")
    for _ in range(_MOST_SIGNS):
        if at <= 0:
            return
        yield reference[:at], reference[at + 1 :]
        at = reference.rfind("#", 0, at)


def _trail(headings: Sequence[Heading], place: int) -> list[str]:
    """The heading with those above it, the highest first."""
    trail = [headings[place]]
    for one in reversed(headings[:place]):
        if one.level < trail[0].level:
            trail.insert(0, one)
    return [_key(one.text) for one in trail]


def _ends_in(trail: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the path names the last heading, and the others above it in their order."""
    if not path or trail[-1:] != list(path[-1:]):
        return False
    above = iter(trail[:-1])
    return all(any(part == one for one in above) for part in path[:-1])


def _end_of(document: Document, place: int) -> int:
    """Where the section of a heading ends: at the next heading that is not below it."""
    level = document.headings[place].level
    following = document.headings[place + 1 :]
    return next((one.start for one in following if one.level <= level), len(document.body))


def _key(heading: str) -> str:
    return " ".join(fold(heading).split())


def _listed(headings: tuple[Heading, ...]) -> str:
    if not headings:
        return "it has none"
    return "its headings are\n" + "\n".join(f"  {one.text}" for one in headings)
