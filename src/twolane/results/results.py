"""What the caller sees of the documents that were found: the passage that won, as a snippet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from twolane.model import deadlines
from twolane.model.answer import Answer, Lane, Mode, Result
from twolane.model.candidate import Candidate
from twolane.model.document import Chunk, Document
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import DocumentStore, Part
from twolane.query import Query
from twolane.query.analyzer import AnalyzedQuery
from twolane.ranking.rankings import Ranking
from twolane.results.highlighting import (
    Mention,
    Sought,
    count_words,
    highlighted,
    mentions,
    one_line,
    snippet,
    sought,
)
from twolane.text.plaintext import plain
from twolane.text.substrings import places, spelled

# One word may stand anywhere; so many in one passage are hardly there by chance.
_SEVERAL = 2

# A snippet around words, and one without any.
_LENGTH = 240
_OPENING = 150

_SHOWN_PARTS = frozenset({Part.TEXT, Part.CHUNKS})


def answer_of(
    documents: DocumentStore, text: str, mode: Mode, ranking: Ranking, shown: Sequence[Candidate]
) -> Answer:
    """The answer that shows some of a ranking."""
    query = ranking.query
    results = shown_results(documents, shown, query.parsed, query.literal)
    return Answer(
        query=text,
        mode=mode,
        lanes=ranking.lanes,
        degraded=ranking.degraded,
        generation=ranking.generation,
        took_ms=0.0,
        results=results,
        repairs=query.repairs,
        misread=query.parsed.misread,
        intent=str(query.intent),
        found=ranking.found,
        collections=descriptions(documents, results),
        answerable=ranking.answerable,
        plan=ranking.plan.weights,
    )


def descriptions(documents: DocumentStore, results: Sequence[Result]) -> dict[str, str]:
    """What the collections of the results are, where somebody described them."""
    names = {result.collection for result in results}
    with deadlines.time_to_show():
        collections = documents.collections() if names else []
    return {
        collection.name: collection.description
        for collection in collections
        if collection.name in names and collection.description
    }


def passages_to_read(
    store: DocumentStore,
    query: AnalyzedQuery,
    candidates: Sequence[Candidate],
    *,
    whole: bool = False,
    letters: int | None = None,
) -> dict[str, str]:
    """What a reranker reads of each candidate, by id: the passage that would be shown.

    Or the `whole` document; of either at most so many `letters`.
    """
    from twolane.ingest.chunking import embedded_text

    stored = store.get([one.id for one in candidates], ANYWHERE, _SHOWN_PARTS)
    words = sought(query.parsed.marks)
    texts = {}
    for candidate in candidates:
        if candidate.id in stored:
            document, chunks = stored[candidate.id].document, stored[candidate.id].chunks
            text = (
                embedded_text(document.title, (), document.body)
                if whole
                else _passage_to_read(candidate, document, chunks, words)
            )
            texts[candidate.id] = text[:letters]
    return texts


def shown_results(
    store: DocumentStore, candidates: Sequence[Candidate], query: Query, literal: str = ""
) -> tuple[Result, ...]:
    """What is shown of documents that were found."""
    words = sought(query.marks)
    with deadlines.time_to_show():
        stored = store.get([one.id for one in candidates], ANYWHERE, _SHOWN_PARTS)
        return tuple(
            result_of(
                candidate,
                stored[candidate.id].document,
                stored[candidate.id].chunks,
                words,
                literal,
            )
            for candidate in candidates
            # A document may go between the lanes and here; it is then rightly missing.
            if candidate.id in stored
        )


def result_of(
    candidate: Candidate,
    document: Document,
    chunks: Sequence[Chunk],
    words: Sought,
    literal: str = "",
) -> Result:
    """The result that shows a candidate: by its letters if only they found it, else its passage.

    Where the time of the question is over, no words are looked for, and how the document begins
    is shown.
    """
    if deadlines.is_over():
        words = sought(())
    if Lane.EXACT in candidate.ranks and Lane.LEXICAL not in candidate.ranks:
        needle = spelled(literal)
        chunk = _chunk_with(document, chunks, needle) or (chunks[0] if chunks else None)
        text, found = _text_with(document, chunk, needle)
        in_title = _literal_mentions(one_line(document.title), needle)
    else:
        languages = sorted({chunk.language for chunk in chunks if chunk.language})
        chunk, text, found = _winning_text(candidate, document, chunks, words, languages)
        in_title = mentions(one_line(document.title), words, languages)
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
        # What a document says of itself beside its body stands on no line of it.
        lines=(chunk.first_line, chunk.last_line) if chunk and chunk.start < chunk.end else None,
        snippet=snippet(text, found, _LENGTH if found else _OPENING),
        contributions=candidate.contributions,
        relevance=candidate.relevance,
        ranks=candidate.ranks,
        matched=candidate.matched,
        foreign=candidate.foreign,
        copies=candidate.copies,
        copy_of=candidate.copy_of,
    )


def _winning_text(
    candidate: Candidate,
    document: Document,
    chunks: Sequence[Chunk],
    words: Sought,
    languages: Sequence[str],
) -> tuple[Chunk | None, str, list[Mention]]:
    """The chunk that won, and the text that shows why, with its mentions.

    That is the one with the query's words if words say more for the document than meaning does,
    else the nearest one, unless another passage holds several words of the query and more of it:
    models are sure of documents, less of passages.
    A passage that meaning found and that holds no sought word has its nearest sentence marked.
    """
    by_words = _won_by_words(candidate)
    chunk = _winning_chunk(candidate, document, chunks, words, by_words)
    reading = _reading(document, chunk) if chunk else _NOTHING
    text, found = _text(document, chunk, reading, words, languages, by_words)
    if chunk and not found and not by_words and chunk.position == candidate.position:
        found = _nearest_sentence(text, document, chunk, reading, candidate.sentence)
    return chunk, text, found


def _passage_to_read(
    candidate: Candidate, document: Document, chunks: Sequence[Chunk], words: Sought
) -> str:
    """The passage that would be shown, whole, under its title and headings."""
    from twolane.ingest.chunking import embedded_text, lead_text

    chunk = _winning_chunk(candidate, document, chunks, words, _won_by_words(candidate))
    text = document.body[chunk.start : chunk.end] if chunk else ""
    if not text.strip():
        text = lead_text(document.description, document.summary, document.arguments)
    headings, boilerplate = (chunk.headings, chunk.boilerplate) if chunk else ((), ())
    return embedded_text(document.title, headings, text, boilerplate)


# -------------------------------------------------------------------------------- the passage


def _won_by_words(candidate: Candidate) -> bool:
    """Whether words and letters say more for the document than its meaning does."""
    by_meaning = sum(
        contribution.share
        for contribution in candidate.contributions
        if contribution.lane is Lane.DENSE
    )
    return sum(contribution.share for contribution in candidate.contributions) > 2 * by_meaning


def _winning_chunk(
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
    matched = _words_in(document, best, words)
    return best if matched >= _SEVERAL and matched > _words_in(document, near, words) else near


def _words_in(document: Document, chunk: Chunk, words: Sought) -> int:
    """How many words of the query the chunk shows."""
    return count_words(plain(document.body[chunk.start : chunk.end]), words, [chunk.language])


# -------------------------------------------------------------------------------- the snippet


def _text(
    document: Document,
    chunk: Chunk | None,
    reading: _Reading,
    words: Sought,
    languages: Sequence[str],
    by_words: bool,
) -> tuple[str, list[Mention]]:
    """The text that shows best why the document was found, with its mentions.

    The title stands above it, with its words marked, and is not said again.
    """
    title = one_line(document.title)
    passage, found = _passage(reading, title, chunk.language if chunk else None, words)
    if found or (passage and not by_words):
        return passage, found
    fields = [one_line(field) for field in _fields(document)]
    if not passage or not mentions(title, words, languages):
        tags = " ".join(f"#{tag}" for tag in document.tags) if by_words else ""
        for field in (one_line(tags), *fields, one_line(", ".join(document.aliases))):
            if found := mentions(field, words, languages):
                return field, found
    return passage or next(filter(None, fields), ""), []


def _fields(document: Document) -> tuple[str, ...]:
    """What may stand for a body that is empty or does not hold the words."""
    arguments = ", ".join(document.arguments)
    return document.description, document.summary, arguments, document.url or ""


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


def _passage(
    reading: _Reading, title: str, language: str | None, words: Sought
) -> tuple[str, list[Mention]]:
    """The chunk as it can be shown, with its mentions.

    The title is left out, and so are headings that the heading path shows anyway, unless only they
    hold the words: the path marks none.
    """
    text = one_line(reading.text)
    found = mentions(text, words, [language])
    if found or not reading.headings:
        return text, found
    lines = map(one_line, reading.headings.split("\n"))
    headings = " ".join(line for line in lines if line and line != title)
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
    # A search by words needs nothing of it.
    from twolane.ingest.chunking.boilerplate import own_sentence_at

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
    match = re.search(r"\s*".join(map(re.escape, sentence.split(" "))), text)
    return match.span() if match else (0, 0)


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


# ------------------------------------------------------------------ documents found by letters


def passage_with(document: Document, chunks: Sequence[Chunk], text: str) -> int | None:
    """The position of the chunk that holds the text, None if none does."""
    chunk = _chunk_with(document, chunks, spelled(text))
    return None if chunk is None else chunk.position


def _chunk_with(document: Document, chunks: Sequence[Chunk], needle: str) -> Chunk | None:
    found = places(document.body, needle)
    if found:
        at = found[0][0]
        return next((chunk for chunk in chunks if chunk.start <= at < chunk.end), None)
    # A reader may see it where it is not written so: `**green tea** from`.
    readable = ((chunk, plain(document.body[chunk.start : chunk.end])) for chunk in chunks)
    return next((chunk for chunk, text in readable if needle in spelled(text)), None)


def _text_with(document: Document, chunk: Chunk | None, needle: str) -> tuple[str, list[Mention]]:
    """The text that holds the needle with its places, or the beginning of the document."""
    reading = _reading(document, chunk) if chunk else _NOTHING
    raw = document.body[chunk.start : chunk.end] if chunk else ""
    passage = one_line(reading.text)
    found = _literal_mentions(passage, needle)
    if passage and (found or _literal_mentions(one_line(document.title), needle)):
        return passage, found
    fields = (
        reading.whole,
        # What a reader does not see of Markdown, such as the target of a link, was sought too.
        raw,
        *_fields(document),
        " ".join(f"#{tag}" for tag in document.tags),
        ", ".join(document.aliases),
        document.path or "",
    )
    for field in map(one_line, fields):
        if found := _literal_mentions(field, needle):
            return field, found
    return one_line(next(filter(None, (passage, *_fields(document))), "")), []


def _literal_mentions(text: str, needle: str) -> list[Mention]:
    return [Mention(start, end, 1) for start, end in places(text, needle)]
