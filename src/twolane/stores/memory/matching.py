"""Whether a document's words meet a word or a clause."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from twolane.model.document import FIELDS, Document, Prepared, Stems
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Without, Word
from twolane.text.substrings import holds_literally, spread
from twolane.text.tokens import fold


def holds(stems: Stems, word: Word) -> bool:
    """Whether the word stands in any field."""
    return any(_is(word, stem) for name in FIELDS for stem in stream(stems, name))


def meets(prepared: Prepared, clause: Clause, fields: Collection[str] = FIELDS) -> bool:
    """Whether the document meets the clause, looking at these fields alone.

    A field inside a field narrows further, so two different ones leave nothing to look at.
    """
    match clause:
        case Phrase():
            return _says(prepared, clause, fields)
        case Near():
            return _near(prepared, clause, fields)
        case InField(name, inner):
            return meets(prepared, inner, tuple(field for field in fields if field == name))
        case All(clauses):
            return all(meets(prepared, each, fields) for each in clauses)
        case Either(clauses):
            return any(meets(prepared, each, fields) for each in clauses)
        case Without(inner):
            return not meets(prepared, inner, fields)
        case _:
            assert_never(clause)


def stream(stems: Stems, field: str) -> list[str]:
    """A field's stems in order."""
    return str(getattr(stems, field)).split()


def _says(prepared: Prepared, phrase: Phrase, fields: Collection[str]) -> bool:
    if phrase.literal is None:
        return any(_starts(phrase, stream(prepared.stems, name)) for name in fields)
    # Quoted signs such as "->" have no words; only the letters can tell.
    apart = Near(tuple(Phrase((word,)) for word in phrase.words), spread(len(phrase.words)))
    found = not phrase.words or any(_close(apart, stream(prepared.stems, name)) for name in fields)
    return found and _spelled(prepared.document, phrase, fields)


def _near(prepared: Prepared, near: Near, fields: Collection[str]) -> bool:
    close = any(_close(near, stream(prepared.stems, name)) for name in fields)
    return close and all(_spelled(prepared.document, phrase, fields) for phrase in near.phrases)


def _close(near: Near, stems: list[str]) -> bool:
    """Whether each phrase ends at most `distance` words before the last one starts.

    This is how SQLite's FTS5 defines NEAR: phrases may come in any order and may overlap,
    and the words of a phrase in the middle count as distance.
    """
    places = [
        (_starts(phrase, stems), len(phrase.words)) for phrase in near.phrases if phrase.words
    ]
    return any(
        all(
            any(at <= last and last - (at + length) <= near.distance for at in starts)
            for starts, length in places
        )
        for last in {at for starts, _ in places for at in starts}
    )


def _starts(phrase: Phrase, stems: list[str]) -> list[int]:
    words = phrase.words
    return [
        start
        for start in range(len(stems) - len(words) + 1)
        if all(_is(word, stems[start + offset]) for offset, word in enumerate(words))
    ]


def _spelled(document: Document, phrase: Phrase, fields: Collection[str]) -> bool:
    """Whether a quoted phrase stands letter by letter in the text of one of the fields."""
    if phrase.literal is None:
        return True
    literal = " ".join(fold(phrase.literal).split())
    return any(holds_literally(text, literal) for name in fields for text in _texts(document, name))


def _texts(document: Document, field: str) -> tuple[str, ...]:
    """The original texts behind a field's stream of stems."""
    match field:
        case "title":
            return (document.title,)
        case "aliases":
            return document.aliases
        case "tags":
            return document.tags
        case "headings":
            return tuple(heading.text for heading in document.headings)
        case "description":
            return (document.description, document.summary, *document.arguments)
        case "url":
            return (document.url or "",)
        case "body":
            return (document.body,)
        case _:
            return ()


def _is(word: Word, stem: str) -> bool:
    if word.prefix:
        return stem.startswith(word.terms)
    return stem in word.terms
