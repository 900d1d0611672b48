"""Documents into chunks: answer-sized passages that know which headings they stand under.

A document is cut at its headings; a section that is too long is cut between paragraphs, then
between list items, sentences and lines, and at last anywhere.
Code blocks and tables stay whole where they fit.

Two sections that have text of their own are never in one chunk, however small they are: a small
section under its own breadcrumb is what answers a precise question.
A heading without text joins the section below it, whose breadcrumb names it,
or else the one before it if both stand under the same heading.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import replace

from twolane.ingest.chunking.boilerplate import stripped
from twolane.ingest.chunking.splitting import (
    SPACE,
    estimate_tokens,
    is_heading,
    longest_beginning,
    own_sentences,
    sentences,
    split,
    split_anywhere,
)
from twolane.model.document import Chunk, Document, Heading, Kind, passage_digest
from twolane.model.errors import BadSetting
from twolane.model.values import dataclass
from twolane.text.languages import USUAL
from twolane.text.plaintext import plain

__all__ = [
    "CHUNKER",
    "chunk_document",
    "embedded_sentences",
    "embedded_text",
    "estimate_tokens",
    "lead_text",
    "plain",
    "without_boilerplate",
]

# Part of every embedding space: whatever changes a chunk's embedded text changes this.
CHUNKER = "1"

# What a breadcrumb may take; longer ones are cut, so that a passage has most of the room.
CRUMB_TOKENS = 64
_NAME_TOKENS = 24

# What is embedded of a description and a summary; more would not make them clearer.
LEAD_TOKENS = 200

# Below this a breadcrumb would leave less than half of the room.
SMALLEST = 2 * CRUMB_TOKENS


def chunk_document(
    document: Document,
    *,
    size: int = 450,
    overlap: int = 0,
    breadcrumb: bool = True,
    language_of: Callable[[str], str | None],
) -> tuple[Chunk, ...]:
    """The document's chunks in order.

    They cover everything in the body that is not white space.
    None is more than `size` estimated tokens with its breadcrumb, and a chunk repeats at most
    `overlap` estimated tokens of the one before it, within the same section.
    A document without text has one empty chunk, so that its title can be found by meaning.
    What a bookmark or a prompt says of itself is its first chunk, empty in the body, and so is
    what a note with a summary or without text says.
    Without `breadcrumb` a passage is embedded under the title alone.
    """
    if size < SMALLEST:
        raise BadSetting(f"a chunk size of {size} is too small; use at least {SMALLEST}")
    if not 0 <= overlap <= size // 4:
        raise BadSetting(f"an overlap of {overlap} is out of range; use 0 to {size // 4}")
    chunks: list[Chunk] = []
    lines = _Lines(document)
    lead = _lead(document) if size >= CRUMB_TOKENS + LEAD_TOKENS else ""
    if lead:
        chunks.append(_lead_chunk(document, lead, language_of(lead)))
    for section in _sections(document, size):
        if lead and section.start == section.end:
            continue
        crumb = _breadcrumb(document.title, section.path if breadcrumb else ())
        cost = estimate_tokens(crumb)
        for passage in _passages(document.body, section, size - cost, overlap):
            chunks.append(
                Chunk(
                    position=len(chunks),
                    start=passage.start,
                    end=passage.end,
                    first_line=lines.at(passage.start),
                    last_line=lines.at(max(passage.start, passage.end - 1)),
                    headings=section.path,
                    language=language_of(passage.text or document.title),
                    tokens=cost + passage.tokens,
                    content_hash=passage_digest(_under(crumb, passage.text)),
                    # Two documents without text have nothing in common that a vector could show.
                    text_hash=passage_digest(passage.text or crumb),
                )
            )
    return tuple(chunks)


def without_boilerplate(
    document: Document,
    chunks: Sequence[Chunk],
    boilerplate: Container[int],
    *,
    breadcrumb: bool = True,
    language_of: Callable[[str, str | None], str | None],
) -> tuple[Chunk, ...]:
    """The document's chunks as they are if the lines with these keys say nothing.

    They are left out of what is embedded, and do not speak for a language, unless nothing else
    does; `language_of` is told a text and what stands around it speaks, if that is known.
    """
    found = [
        _without_boilerplate(document, chunk, boilerplate, breadcrumb, language_of)
        for chunk in chunks
    ]
    if not any(one.language for one in found):
        found = [
            replace(one, language=language_of(plain(document.body[one.start : one.end]), None))
            if one.boilerplate
            else one
            for one in found
        ]
    return tuple(found)


def embedded_text(
    title: str, headings: Sequence[str], text: str, boilerplate: Collection[int] = ()
) -> str:
    """What is embedded for a passage: `title > heading > heading`, a blank line, plain text.

    Without the lines whose keys are in `boilerplate`, if anything remains.
    """
    own = stripped(text, boilerplate) if boilerplate else None
    return _under(_breadcrumb(title, headings), own.rest if own and own.rest else plain(text))


def lead_text(description: str, summary: str, arguments: Sequence[str]) -> str:
    """What is embedded of what a document says of itself beside its body."""
    whole = "\n\n".join(part for part in (description, summary, ", ".join(arguments)) if part)
    if estimate_tokens(whole) <= LEAD_TOKENS:
        return whole
    return whole[: longest_beginning(whole, 0, len(whole), LEAD_TOKENS)].rstrip()


def _lead(document: Document) -> str:
    if document.kind == Kind.NOTE and document.body.strip() and not document.summary:
        return ""
    return lead_text(document.description, document.summary, document.arguments)


def _lead_chunk(document: Document, lead: str, language: str | None) -> Chunk:
    crumb, text = _breadcrumb(document.title, ()), plain(lead)
    return Chunk(
        position=0,
        start=0,
        end=0,
        first_line=document.first_line,
        last_line=document.first_line,
        headings=(),
        language=language,
        tokens=estimate_tokens(crumb) + estimate_tokens(text),
        content_hash=passage_digest(_under(crumb, text)),
        text_hash=passage_digest(text),
    )


def embedded_sentences(
    title: str, headings: Sequence[str], text: str, boilerplate: Collection[int] = ()
) -> list[str]:
    """What is embedded for the sentences of a passage, each under the breadcrumb.

    None if it is a single one, which says what the passage says.
    They are those of the whole passage; one that is nothing but a form is an empty text.
    """
    own = stripped(text, boilerplate) if boilerplate else None
    found = own_sentences(own.lines) if own and own.rest else sentences(plain(text))
    if len(found) < 2 or not any(found):
        return []
    crumb = _breadcrumb(title, headings)
    return [one and _under(crumb, one) for one in found]


def _without_boilerplate(
    document: Document,
    chunk: Chunk,
    boilerplate: Container[int],
    breadcrumb: bool,
    language_of: Callable[[str, str | None], str | None],
) -> Chunk:
    markdown = document.body[chunk.start : chunk.end]
    own = stripped(markdown, boilerplate)
    if own is None and not chunk.boilerplate:
        return chunk
    text = own.whole if own else plain(markdown)
    if passage_digest(text) != chunk.text_hash:
        # The document was changed after its chunks were read.
        return chunk
    content = _under(_breadcrumb(document.title, chunk.headings if breadcrumb else ()), text)
    language = language_of(text, None) if chunk.boilerplate else chunk.language
    if own is not None and language in USUAL.values():
        # Words of such a language are found whether or not anything else is in it.
        language = language_of(own.rest, language) if own.rest else None
    if own is not None and own.rest:
        # Sentences are numbered by the whole text, so equal content must be equal text.
        content = f"{content.removesuffix(text)}{own.rest}\0{chunk.text_hash}"
    return replace(
        chunk,
        content_hash=passage_digest(content),
        language=language,
        boilerplate=own.keys if own else (),
    )


@dataclass(frozen=True, slots=True)
class _Section:
    """A stretch of the body that stands under one heading path."""

    start: int
    end: int
    path: tuple[str, ...]


def _sections(document: Document, size: int) -> list[_Section]:
    """The sections that hold anything, headings without text joined to their neighbours."""
    found: list[_Section] = []
    lead: int | None = None
    for start, end, path, deeper in _stretches(document):
        text = document.body[start:end]
        if not text.strip():
            continue
        begin = start if lead is None else lead
        lead = None
        if is_heading(text) and path:
            if deeper:
                lead = begin
                continue
            before = found[-1] if found else None
            if begin == start and before and before.path and before.path[:-1] == path[:-1]:
                joined = document.body[before.start : end]
                if estimate_tokens(joined) <= size - CRUMB_TOKENS:
                    found[-1] = _Section(before.start, end, before.path)
                    continue
        found.append(_Section(begin, end, path))
    if not found and document.title.strip():
        found.append(_Section(0, 0, ()))
    return [_Section(one.start, one.end, _without_title(one.path, document.title)) for one in found]


def _stretches(document: Document) -> Iterator[tuple[int, int, tuple[str, ...], bool]]:
    """Start, end and heading path of each stretch, and whether the next one is below it."""
    headings = _ordered(document)
    starts = [*(heading.start for heading in headings), len(document.body)]
    levels = [*(heading.level for heading in headings), 0]
    yield 0, starts[0], (), False
    above: list[Heading] = []
    for position, heading in enumerate(headings, 1):
        above = [one for one in above if one.level < heading.level] + [heading]
        path = tuple(one.text for one in above)
        yield heading.start, starts[position], path, levels[position] > heading.level


def _ordered(document: Document) -> list[Heading]:
    """The headings that lie in the body, each after the one before it.

    Documents come from other programs too, and their headings need not be right.
    """
    found: list[Heading] = []
    for heading in document.headings:
        if (found[-1].start if found else -1) < heading.start < len(document.body):
            found.append(heading)
    return found


def _breadcrumb(title: str, headings: Sequence[str]) -> str:
    """The title and headings in one line, at most `CRUMB_TOKENS` long.

    In one that is too long the title and the last heading are kept, in part if need be,
    and of the headings between them those that are nearest to the passage.
    """
    # Names are cut to a length that is too long in any script before anything reads them.
    names = [" ".join(name[:1000].split()) for name in (title, *headings)]
    first, *rest = names
    names = [name for name in (first, *_without_title(tuple(rest), first)) if name]
    whole = " > ".join(names)
    if estimate_tokens(whole) <= CRUMB_TOKENS:
        return whole
    first, *middle = [_cut(name) for name in names]
    kept = [middle.pop()] if middle else []
    while middle and estimate_tokens(" > ".join([first, "…", middle[-1], *kept])) <= CRUMB_TOKENS:
        kept.insert(0, middle.pop())
    return " > ".join([first, *(["…"] if middle else []), *kept])


def _without_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """The path without a first heading that only repeats the title."""
    same = bool(path) and " ".join(path[0].split()).casefold() == " ".join(title.split()).casefold()
    return path[1:] if same else path


def _cut(name: str) -> str:
    """The beginning of a name, at most `_NAME_TOKENS` long, with an ellipsis if that is less."""
    if estimate_tokens(name) <= _NAME_TOKENS:
        return name
    end = longest_beginning(name, 0, len(name), _NAME_TOKENS - 1)
    return name[:end].rstrip() + "…"


def _under(crumb: str, text: str) -> str:
    return "\n\n".join(part for part in (crumb, text) if part)


@dataclass(frozen=True, slots=True)
class _Passage:
    """A piece of the body, without white space around it, and what it reads as."""

    start: int
    end: int
    text: str
    tokens: int


def _passages(body: str, section: _Section, room: int, overlap: int) -> Iterator[_Passage]:
    """The section in passages of at most `room` estimated tokens."""
    whole = _passage(body, section.start, section.end)
    if whole.tokens <= room:
        yield whole
        return
    before = None
    for start, end in split(body, whole.start, whole.end, room - overlap):
        for passage in _fitting(body, start, end, room - overlap):
            yield _reaching_back(body, passage, before, room, overlap)
            before = passage


def _passage(body: str, start: int, end: int) -> _Passage:
    text = body[start:end]
    start += len(text) - len(text.lstrip())
    end = max(start, end - (len(text) - len(text.rstrip())))
    readable = plain(body[start:end])
    return _Passage(start, end, readable, estimate_tokens(readable))


def _fitting(body: str, start: int, end: int, room: int) -> Iterator[_Passage]:
    """The piece, in smaller ones if it reads longer than its parts promised.

    Markup that is cut in two is no markup any more, and then stays in the text.
    """
    passage = _passage(body, start, end)
    if passage.start == passage.end:
        return
    if passage.tokens <= room:
        yield passage
        return
    for piece in split_anywhere(body, start, end, max(1, estimate_tokens(body[start:end]) // 2)):
        yield from _fitting(body, *piece, room)


def _reaching_back(
    body: str, passage: _Passage, before: _Passage | None, room: int, overlap: int
) -> _Passage:
    """The passage with the end of the one before it, if that fits."""
    if before is None or not overlap:
        return passage
    # No text has more than eight letters to an estimated token unless most of it is space.
    earliest = max(before.start + 1, passage.start - 8 * overlap)
    starts = [match.end() for match in SPACE.finditer(body, earliest, before.end)]
    first = bisect_left(
        starts, True, key=lambda start: estimate_tokens(body[start : before.end]) <= overlap
    )
    if first == len(starts):
        return passage
    longer = _passage(body, starts[first], passage.end)
    return longer if longer.tokens <= room else passage


class _Lines:
    """The line of the file for offsets, asked for in growing order or nearly so."""

    def __init__(self, document: Document) -> None:
        self._body = document.body
        self._offset = 0
        self._line = document.first_line

    def at(self, offset: int) -> int:
        """The line of the file on which the character at `offset` stands."""
        if offset >= self._offset:
            self._line += self._body.count("\n", self._offset, offset)
        else:
            self._line -= self._body.count("\n", offset, self._offset)
        self._offset = offset
        return self._line
