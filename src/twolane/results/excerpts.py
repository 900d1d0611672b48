"""Part of a document: a few lines, the section below a heading, or a block with an id of its own.

A heading that stands in a document once is named by its text, others by the headings above them
or by their section id, which no other heading of the document has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from twolane.model.document import Document, Heading
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.values import dataclass
from twolane.text.plaintext import fences
from twolane.text.tokens import fold

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


def excerpt(reference: str, resolve: Callable[[str], Document]) -> Excerpt:
    """What `DOC`, `DOC:FROM-TO`, `DOC#HEADING`, `DOC#^block` or `[[a link]]` names.

    A title or path may hold `:` or `#`, so the whole is tried first;
    after that the longest name that is a document wins.
    """
    if link := _WIKI.fullmatch(reference.strip()):
        reference = link[1].removesuffix("\\").strip()
    try:
        document = resolve(reference)
    except NoSuchDocument:
        ranged = _LINES.fullmatch(reference)
        if ranged and (found := _resolved(resolve, ranged[1])):
            return lines_of(found, *_range(ranged[2]))
        for name, heading in _splits(reference):
            if found := _resolved(resolve, name):
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
    match = _RANGE.fullmatch(lines.strip())
    if not match:
        raise BadInput("lines must look like 10-20, 10- or 10")
    first = int(match[1])
    return first, int(match[3]) if match[3] else None if match[2] else first


def _resolved(resolve: Callable[[str], Document], name: str) -> Document | None:
    try:
        return resolve(name)
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


# Stands between the headings of a path, as in the breadcrumb of a result; links write `#`.
_BELOW = " > "
_LINKED_BELOW = "#"

# Obsidian's name for a block, at the end of its last line or on a line of its own below it.
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_NO_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document's body by offsets, and the heading that it stands under, if any."""

    start: int
    end: int
    heading: Heading | None = None


def section(document: Document, name: str | Sequence[str]) -> Section:
    """The part that a name means: a heading, a path of headings, a section id, or `^block`.

    A path is a list of headings or one text with ` > ` between them; headings may be left out of
    it above the last one, and it may begin with the title.
    A name that means several sections is refused: the wrong one is worse than none.
    """
    if isinstance(name, str) and name.strip().startswith("^"):
        return _block(document, name.strip()[1:])
    found = _meant(document, name)
    if len(found) > 1:
        raise BadInput(_several(document, name, found))
    if not found:
        shown = name if isinstance(name, str) else _BELOW.join(name)
        raise BadInput(f"{document.id} has no heading {shown!r}; {_listed(document)}")
    place = found[0]
    heading = document.headings[place]
    return Section(heading.start, _end_of(document, place), heading)


def section_ids(headings: Sequence[Heading]) -> list[str]:
    """A name for each heading that no other heading of the document has: `tools`, `tools-2`."""
    taken: set[str] = set()
    ids = []
    for heading in headings:
        stem = _slug(heading.text)
        # The number of headings bounds the tries: each one before took one name.
        tries = (stem if n == 1 else f"{stem}-{n}" for n in range(1, len(headings) + 2))
        id = next(one for one in tries if one not in taken)
        taken.add(id)
        ids.append(id)
    return ids


def _meant(document: Document, name: str | Sequence[str]) -> list[int]:
    """The places of the headings that a name means, by the first way in which it means any."""
    places = range(len(document.headings))
    trails = [_trail(document.headings, place) for place in places]
    if not isinstance(name, str):
        parts = [_key(part) for part in name]
        whole = [place for place in places if trails[place] == parts]
        return whole or _ending(document, trails, parts)
    key = _key(name)
    whole = [place for place in places if _BELOW.join(trails[place]) == key]
    if len(whole) == 1:
        return whole
    alike = [place for place in places if trails[place][-1] == key]
    if alike or whole:
        return sorted({*alike, *whole})
    spelled = [place for place in places if _spells(trails[place], key, _BELOW)]
    if not spelled and (rest := _without_title(document, key)) is not None:
        spelled = [place for place in places if _spells(trails[place], rest, _BELOW)]
    if not spelled:
        spelled = [place for place in places if _spells(trails[place], key, _LINKED_BELOW)]
    if spelled:
        return spelled
    ids = section_ids(document.headings)
    return [place for place in places if ids[place] == key]


def _ending(document: Document, trails: Sequence[Sequence[str]], parts: list[str]) -> list[int]:
    found = [place for place, trail in enumerate(trails) if _ends_in(trail, parts)]
    if not found and parts[:1] == [_key(document.title)]:
        found = [place for place, trail in enumerate(trails) if _ends_in(trail, parts[1:])]
    return found


def _without_title(document: Document, key: str) -> str | None:
    begin = _key(document.title) + _BELOW
    return key.removeprefix(begin) if key.startswith(begin) else None


def _trail(headings: Sequence[Heading], place: int) -> list[str]:
    """The heading with those above it, the highest first."""
    trail = [headings[place]]
    for heading in reversed(headings[:place]):
        if heading.level < trail[0].level:
            trail.insert(0, heading)
    return [_key(one.text) for one in trail]


def _ends_in(trail: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the path names the last heading, and the others above it in their order."""
    if not path or trail[-1:] != list(path[-1:]):
        return False
    above = iter(trail[:-1])
    return all(any(part == heading for heading in above) for part in path[:-1])


def _spells(trail: Sequence[str], text: str, between: str) -> bool:
    """Whether the text is the last heading of the trail after some of those above it.

    A heading may hold the sign that stands between headings, so the text is never cut at it.
    There are at most six levels, and so at most six steps down.
    """
    if text == trail[-1]:
        return True
    end = between + trail[-1]
    if not text.endswith(end):
        return False
    rest = text[: -len(end)]
    return any(_spells(trail[:above], rest, between) for above in range(len(trail) - 1, 0, -1))


def _end_of(document: Document, place: int) -> int:
    """Where the section of a heading ends: at the next heading that is not below it."""
    level = document.headings[place].level
    following = document.headings[place + 1 :]
    return next((one.start for one in following if one.level <= level), len(document.body))


def _block(document: Document, id: str) -> Section:
    """The paragraph, list item, quotation or table that bears the id."""
    body = document.body
    code = fences(body)
    for match in _BLOCK_ID.finditer(body):
        if match[1].lower() != id.lower() or any(a <= match.start() < b for a, b in code):
            continue
        line = body.rfind("\n", 0, match.start()) + 1
        alone = not body[line : match.start()].strip()
        last = len(body[:line].rstrip()) if alone else match.end()
        return Section(_begin_of_block(body, last, whole=alone), last)
    raise BadInput(f"{document.id} has no block ^{id}; look at its text with `get`")


def _begin_of_block(body: str, last: int, *, whole: bool) -> int:
    """Where the block begins that ends at `last`; a whole list is a block, too."""
    begin = body.rfind("\n", 0, last) + 1
    while begin > 0 and not (not whole and _ITEM.match(body, begin)):
        above = body.rfind("\n", 0, begin - 1) + 1
        if not body[above:begin].strip() or _HEADING.match(body, above):
            break
        begin = above
    return begin


def _several(document: Document, name: str | Sequence[str], places: Sequence[int]) -> str:
    ids = section_ids(document.headings)
    listed = "\n".join(
        f"  #{ids[place]}  (line {document.headings[place].line})" for place in places
    )
    shown = name if isinstance(name, str) else _BELOW.join(name)
    return f"{document.id} has {len(places)} headings {shown!r}; use lines, or one of\n{listed}"


def _slug(text: str) -> str:
    return _NO_WORD.sub("-", _key(text)).strip("-") or "section"


def _key(heading: str) -> str:
    return " ".join(fold(heading).split())


def _listed(document: Document) -> str:
    if not document.headings:
        return "it has none"
    return "its headings are\n" + "\n".join(f"  {heading.text}" for heading in document.headings)
