"""Part of a document: a few lines, or the section below a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from twolane.model.document import Document
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.results.sections import section

_RANGE = re.compile(r"([0-9]{1,9})(?:(-)([0-9]{1,9})?)?")
_LINES = re.compile(rf"(.+):({_RANGE.pattern})", re.DOTALL)

# A link between notes as it is written: `[[name#heading|words]]`.
_WIKI = re.compile(r"!?\[\[([^\[\]\n|]+)(?:\|[^\[\]\n]*)?\]\]")

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
    """What `DOC`, `DOC:FROM-TO`, `DOC#HEADING`, `DOC#^block` or `[[a link]]` names.

    A title or path may hold `:` or `#`, so the whole is tried first;
    after that the longest name that is a document wins.
    """
    if link := _WIKI.fullmatch(reference.strip()):
        reference = link[1].removesuffix("\\").strip()
    try:
        document = named(reference)
    except NoSuchDocument:
        ranged = _LINES.fullmatch(reference)
        if ranged and (found := _found(named, ranged[1])):
            return lines_of(found, *_range(ranged[2]))
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


def section_of(document: Document, name: str | Sequence[str]) -> Excerpt:
    """The part that a heading, a path of headings, a section id or `^block` names."""
    found = section(document, name)
    text = document.body[found.start : found.end].rstrip()
    line = document.first_line + document.body.count("\n", 0, found.start)
    return Excerpt(document, f"{text}\n", line, found.heading.text if found.heading else None)


def part_of(document: Document, section: str | Sequence[str], lines: str) -> Excerpt:
    """A section of the document, or lines of its file such as `10-20`; whole without either."""
    if section and lines:
        raise BadInput("name a section or lines, not both")
    if section:
        return section_of(document, section)
    return lines_of(document, *_range(lines)) if lines else whole(document)


def _range(lines: str) -> tuple[int, int | None]:
    found = _RANGE.fullmatch(lines.strip())
    if not found:
        raise BadInput("lines must look like 10-20, 10- or 10")
    first = int(found[1])
    return first, int(found[3]) if found[3] else None if found[2] else first


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
