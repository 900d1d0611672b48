"""What the caller sees of a found document: the passage that won, as a snippet with marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from twolane.ingest.chunking import embedded_text, lead_text, plain
from twolane.ingest.chunking.boilerplate import own_sentence_at
from twolane.model import deadlines
from twolane.model.answer import Lane, Result
from twolane.model.candidate import Candidate
from twolane.model.document import Chunk, Document
from twolane.model.scope import Word
from twolane.results.highlighting import highlighted, one_line, snippet
from twolane.results.mentions import Mention, Sought, mentions, sought

# One word may stand anywhere; so many in one passage are hardly there by chance.
_SEVERAL = 2

# A snippet around words, and one without any.
_LENGTH = 240
_OPENING = 150


def results_of(
    candidates: Iterable[Candidate],
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[Chunk]],
    marks: Sequence[Word],
) -> tuple[Result, ...]:
    """The results that show candidates; one that is not among the documents is left out.

    Where the time of the question is over, no words are looked for, and how a document begins is
    shown.
    """
    words, nothing = sought(marks), sought(())
    return tuple(
        _by_words_or_meaning(
            one,
            documents[one.id],
            chunks.get(one.id, ()),
            nothing if deadlines.is_over() else words,
        )
        for one in candidates
        if one.id in documents
    )


def passage_to_read(
    candidate: Candidate, document: Document, chunks: Sequence[Chunk], words: Sought
) -> str:
    """The passage that would be shown, whole, under its title and headings."""
    chunk = _shown(candidate, document, chunks, words, _won_by_words(candidate))
    text = document.body[chunk.start : chunk.end] if chunk else ""
    if not text.strip():
        text = lead_text(document.description, document.summary, document.arguments)
    headings, boilerplate = (chunk.headings, chunk.boilerplate) if chunk else ((), ())
    return embedded_text(document.title, headings, text, boilerplate)


def _by_words_or_meaning(
    candidate: Candidate, document: Document, chunks: Sequence[Chunk], words: Sought
) -> Result:
    """The result that shows the passage that won.

    That is the one with the query's words if words say more for the document than meaning does,
    else the nearest one, unless another passage holds several words of the query and more of it:
    models are sure of documents, less of passages.
    A passage that meaning found and that holds no sought word has its nearest sentence marked.
    """
    by_words = _won_by_words(candidate)
    chunk = _shown(candidate, document, chunks, words, by_words)
    languages = sorted({chunk.language for chunk in chunks if chunk.language})
    reading = _reading(document, chunk) if chunk else _NOTHING
    text, found = _text(document, chunk, reading, words, languages, by_words)
    if chunk and not found and not by_words and chunk.position == candidate.position:
        found = _nearest_sentence(text, document, chunk, reading, candidate.sentence)
    in_title = mentions(one_line(document.title), words, languages)
    return result_with(candidate, document, chunk, in_title, text, found)


def result_with(
    candidate: Candidate,
    document: Document,
    chunk: Chunk | None,
    in_title: Sequence[Mention],
    text: str,
    found: Sequence[Mention],
) -> Result:
    """The result that shows a text of the document, with the mentions in it and in the title."""
    return Result(
        id=document.id,
        kind=document.kind,
        collection=document.collection,
        path=document.path,
        url=document.url,
        title=document.title,
        title_html=highlighted(one_line(document.title), in_title),
        tags=document.tags,
        updated=document.updated,
        score=candidate.score,
        heading=chunk.headings if chunk else (),
        lines=(chunk.first_line, chunk.last_line) if chunk else None,
        snippet=snippet(text, found, _LENGTH if found else _OPENING),
        contributions=candidate.contributions,
        relevance=candidate.relevance,
        ranks=candidate.ranks,
        matched=candidate.matched,
        foreign=candidate.foreign,
        copies=candidate.copies,
        copy_of=candidate.copy_of,
    )


# -------------------------------------------------------------------------------- the passage


def _won_by_words(candidate: Candidate) -> bool:
    """Whether words and letters say more for the document than its meaning does."""
    by_meaning = sum(one.share for one in candidate.contributions if one.lane is Lane.DENSE)
    return sum(one.share for one in candidate.contributions) > 2 * by_meaning


def _shown(
    candidate: Candidate, document: Document, chunks: Sequence[Chunk], words: Sought, by_words: bool
) -> Chunk | None:
    """The chunk that won, or the next best: the other lane's, then the first."""
    if len(chunks) < 2:
        return chunks[0] if chunks else None
    by_position = {chunk.position: chunk for chunk in chunks}
    near = by_position.get(-1 if candidate.position is None else candidate.position)
    best = by_position.get(-1 if candidate.passage is None else candidate.passage)
    if by_words:
        return best or near or chunks[0]
    if near is None or best is None:
        return near or best or chunks[0]
    held = _words_in(document, best, words)
    return best if held >= _SEVERAL and held > _words_in(document, near, words) else near


def _words_in(document: Document, chunk: Chunk, words: Sought) -> int:
    """How many words of the query the chunk shows."""
    bits = 0
    for mention in mentions(plain(document.body[chunk.start : chunk.end]), words, [chunk.language]):
        bits |= mention.words
    return bits.bit_count()


# -------------------------------------------------------------------------------- the snippet


def _text(
    document: Document,
    chunk: Chunk | None,
    reading: _Reading,
    words: Sought,
    languages: Sequence[str],
    by_words: bool,
) -> tuple[str, list[Mention]]:
    """The text that shows best why the document was found, with its mentions."""
    passage, found = _passage(reading, chunk.language if chunk else None, words)
    if found or (passage and not by_words):
        return passage, found
    fields = [one_line(field) for field in _fields(document)]
    if by_words:
        tags = " ".join(f"#{tag}" for tag in document.tags)
        *others, title = fields
        for field in (one_line(tags), *others, one_line(", ".join(document.aliases)), title):
            if found := mentions(field, words, languages):
                return field, found
    if passage:
        return passage, []
    text = next(filter(None, fields), "")
    return text, mentions(text, words, languages)


def _fields(document: Document) -> tuple[str, ...]:
    """What may stand for a body that is empty or does not hold the words."""
    arguments = ", ".join(document.arguments)
    return document.description, document.summary, arguments, document.url or "", document.title


class _Reading(NamedTuple):
    """How a chunk reads: the leading headings that the heading path shows anyway, and the rest.

    `whole` is both together, cut into the same lines as when it was embedded.
    """

    headings: str
    text: str
    whole: str


_NOTHING = _Reading("", "", "")


def _reading(document: Document, chunk: Chunk) -> _Reading:
    start = _after_headings(document, chunk)
    text = plain(document.body[start : chunk.end])
    if start == chunk.start:
        return _Reading("", text, text)
    source = document.body[chunk.start : start]
    headings = plain(source)
    if _REACHES_ON.isdisjoint(source):
        return _Reading(headings, text, f"{headings}\n{text}")
    return _Reading(headings, text, plain(document.body[chunk.start : chunk.end]))


# Markup that may begin in one line and end in another.
_REACHES_ON = frozenset("`[]<>~\\")


def _passage(reading: _Reading, language: str | None, words: Sought) -> tuple[str, list[Mention]]:
    """The chunk as it can be shown, with its mentions.

    Headings that the heading path shows anyway are left out, unless only they hold the words.
    """
    text = one_line(reading.text)
    found = mentions(text, words, [language])
    if found or not reading.headings:
        return text, found
    headings = one_line(reading.headings)
    found = mentions(headings, words, [language])
    if text and not found:
        return text, []
    return f"{headings} {text}".strip(), found


def _nearest_sentence(
    text: str, document: Document, chunk: Chunk, reading: _Reading, place: int | None
) -> list[Mention]:
    """Where the sentence that the dense lane found stands in the shown text; nowhere is possible.

    The lane knows its place among the sentences that were embedded, which are those of the whole
    chunk; it is looked for blank by blank, since pieces were joined by blanks and shown in a line.
    """
    if place is None:
        return []
    markdown = document.body[chunk.start : chunk.end]
    found = own_sentence_at(markdown, reading.whole, chunk.boilerplate, place)
    if not found:
        return []
    # A short heading is one with the sentence below it, and is left out of what is shown.
    headings = one_line(reading.headings)
    sentence = one_line(found).removeprefix(headings).strip()
    start, end = _span(text, sentence)
    return [Mention(start, end, 0)] if start < end else []


def _span(text: str, sentence: str) -> tuple[int, int]:
    """Where the sentence begins and ends in the text, whatever blanks are between its words."""
    start = text.find(sentence)
    if start >= 0:
        return start, start + len(sentence)
    # Making a pattern takes longer than all the rest, so it is made only where one may fit.
    if sentence.replace(" ", "") not in text.replace(" ", ""):
        return 0, 0
    found = re.search(r"\s*".join(map(re.escape, sentence.split(" "))), text)
    return found.span() if found else (0, 0)


def _after_headings(document: Document, chunk: Chunk) -> int:
    """Where the chunk's own text begins: after the leading headings that its path shows."""
    shown = {*chunk.headings, document.title}
    start = chunk.start
    for heading in document.headings:
        if heading.start >= chunk.end:
            break
        if heading.start < start:
            continue
        if heading.text not in shown or document.body[start : heading.start].strip():
            break
        line_end = document.body.find("\n", heading.start, chunk.end)
        start = chunk.end if line_end < 0 else line_end + 1
    return start
