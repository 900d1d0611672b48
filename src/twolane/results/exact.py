"""What the caller sees of a document that was found by its letters: the letters, marked."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.ingest.chunking import plain
from twolane.model.answer import Lane, Result
from twolane.model.candidate import Candidate
from twolane.model.document import Chunk, Document
from twolane.results.highlighting import one_line
from twolane.results.mentions import Mention
from twolane.results.results import result_with
from twolane.text.substrings import places, spelled


def exact_result_of(
    candidate: Candidate, document: Document, chunks: Sequence[Chunk], text: str
) -> Result:
    """The result that shows where the document holds the text.

    That is the passage with the first place in the body, or the field that holds it.
    """
    needle = spelled(text)
    chunk = _holding(document, chunks, needle) or (chunks[0] if chunks else None)
    shown, found = _shown(document, chunk, needle)
    in_title = _mentions(one_line(document.title), needle)
    return result_with(candidate, document, chunk, in_title, shown, found)


def passage_with(document: Document, chunks: Sequence[Chunk], text: str) -> int | None:
    """The position of the chunk that holds the text, None if none does."""
    chunk = _holding(document, chunks, spelled(text))
    return None if chunk is None else chunk.position


def _holding(document: Document, chunks: Sequence[Chunk], needle: str) -> Chunk | None:
    found = places(document.body, needle)
    if not found:
        # A reader may see it where it is not written so: `**green tea** from`.
        return next((one for one in chunks if needle in spelled(_seen(document, one))), None)
    at = found[0][0]
    return next((chunk for chunk in chunks if chunk.start <= at < chunk.end), None)


def _seen(document: Document, chunk: Chunk) -> str:
    return plain(document.body[chunk.start : chunk.end])


def _shown(document: Document, chunk: Chunk | None, needle: str) -> tuple[str, list[Mention]]:
    """The text that holds the needle with its places, or the beginning of the document."""
    raw = document.body[chunk.start : chunk.end] if chunk else ""
    passage = one_line(plain(raw))
    fields = (
        passage,
        # What a reader does not see of Markdown, such as the target of a link, was sought too.
        one_line(raw),
        document.description,
        document.summary,
        ", ".join(document.arguments),
        document.url or "",
        " ".join(f"#{tag}" for tag in document.tags),
        ", ".join(document.aliases),
        document.path or "",
    )
    for field in map(one_line, fields):
        if found := _mentions(field, needle):
            return field, found
    opening = next(filter(None, (passage, document.description, document.url)), document.title)
    return one_line(opening), []


def _mentions(text: str, needle: str) -> list[Mention]:
    return [Mention(start, end, 1) for start, end in places(text, needle)]


def only_by_letters(candidate: Candidate) -> bool:
    """Whether words did not find the document, so that its letters have to be shown."""
    return Lane.EXACT in candidate.ranks and Lane.LEXICAL not in candidate.ranks
