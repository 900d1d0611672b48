"""A note in Markdown as a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from twolane.ingest.parsing.comments import drop_comments
from twolane.ingest.parsing.decoding import decode
from twolane.ingest.parsing.front_matter import read_front_matter
from twolane.ingest.parsing.inline_fields import inline_fields
from twolane.ingest.parsing.outline import outline
from twolane.ingest.parsing.properties import recognise
from twolane.model.document import EMPTY, Document, Heading, Kind, TitleOrigin, digest
from twolane.model.problem import Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class Parsed:
    """What became of a file: a document unless it is not text, and what is wrong with it."""

    document: Document | None
    problems: tuple[Problem, ...]


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
