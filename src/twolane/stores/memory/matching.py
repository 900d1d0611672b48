"""Whether a document is in a scope, passes a filter, and meets a word or a clause."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

from twolane.model import deadlines
from twolane.model.document import FIELDS, Document, Prepared, Stems
from twolane.model.scope import (
    All,
    Among,
    Clause,
    During,
    Either,
    Except,
    Filter,
    Having,
    InField,
    Near,
    Part,
    Phrase,
    Scope,
    Span,
    Trait,
    Valued,
    Without,
    Word,
)
from twolane.text.names import matches_any
from twolane.text.property_values import Fact, facts
from twolane.text.substrings import holds_literally, spread
from twolane.text.tokens import fold


def passes(prepared: Prepared, filter: Filter) -> bool:
    """Whether the document is what the filter says."""
    document = prepared.document
    match filter:
        case Among(trait, values):
            return is_among(prepared, trait, values)
        case During(time, start, end):
            return happened(getattr(document, time.value), start, end)
        case Having(part):
            return bool(_part(prepared, part))
        case Valued(name, spans):
            held = [fact for fact in facts(document.properties) if fact.name == name]
            return any(not spans or any(_within(fact, span) for span in spans) for fact in held)
        case Except(inner):
            return not passes(prepared, inner)
        case _:
            assert_never(filter)


def is_among(prepared: Prepared, trait: Trait, values: Sequence[str]) -> bool:
    """Whether the document has the trait with one of the values."""
    document = prepared.document
    match trait:
        case Trait.KIND:
            return document.kind in values
        case Trait.COLLECTION:
            return document.collection in values
        case Trait.TAG:
            return any(_tagged(document, tag) for tag in values)
        case Trait.PATH:
            return document.path is not None and matches_any(document.path, tuple(values))
        case Trait.LANGUAGE:
            return not set(values).isdisjoint(prepared.languages)
        case _:
            assert_never(trait)


def happened(at: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    """Whether this was at `start` or later and before `end`; what never was is at no time."""
    if at is None:
        return False
    if start is not None and moment(at) < moment(start):
        return False
    return end is None or moment(at) < moment(end)


def moment(time: datetime) -> datetime:
    """The time with a zone; one without is read as UTC, so that any two can be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _tagged(document: Document, wanted: str) -> bool:
    folded = fold(wanted)
    held = [fold(tag) for tag in document.tags]
    return any(tag == folded or tag.startswith(folded + "/") for tag in held)


def _part(prepared: Prepared, part: Part) -> object:
    if part == Part.BODY:
        return prepared.chunks
    if part == Part.LANGUAGE:
        return prepared.languages
    value = getattr(prepared.document, _NAMES.get(part, part.value))
    # A moment is there whatever it says, and so is a path.
    return value if part not in _THERE else value is not None


_NAMES = {
    Part.TAG: "tags",
    Part.ALIAS: "aliases",
    Part.HEADING: "headings",
    Part.LINK: "links",
    Part.ARGUMENT: "arguments",
    Part.PROPERTY: "properties",
}
_THERE = (Part.PATH, Part.CREATED, Part.UPDATED, Part.USED)


def _within(fact: Fact, span: Span) -> bool:
    value: Any = getattr(fact, span.measure.value)
    low: Any = span.low
    high: Any = span.high
    return (
        value is not None
        and (low is None or (value > low if span.above else value >= low))
        and (high is None or (value < high if span.below else value <= high))
    )


def in_scope(prepared: Prepared, scope: Scope) -> bool:
    """Whether the document counts for this scope; a hidden one never does.

    TooSlow if the time of the question is over: whoever looks through all documents comes by here.
    """
    deadlines.check()
    document = prepared.document
    return (
        not document.hidden
        and (scope.archived or not document.archived)
        and is_owned(document, scope)
        and (not scope.collections or document.collection in scope.collections)
        and (not scope.kinds or document.kind in scope.kinds)
        and (not scope.documents or document.id in scope.documents)
        and (not scope.languages or is_among(prepared, Trait.LANGUAGE, scope.languages))
        and all(is_among(prepared, Trait.TAG, (tag,)) for tag in scope.tags)
        and not is_among(prepared, Trait.TAG, scope.without_tags)
        and (not scope.paths or is_among(prepared, Trait.PATH, scope.paths))
        and _dated(prepared, scope)
        and all(passes(prepared, one) for one in scope.filters)
        and (scope.clause is None or meets(prepared, scope.clause))
    )


def is_owned(document: Document, scope: Scope) -> bool:
    """Whether the document is the scope's owner's, or the scope has none."""
    return scope.owner is None or document.owner == scope.owner


def _dated(prepared: Prepared, scope: Scope) -> bool:
    if scope.updated_from is None and scope.updated_before is None:
        return True
    return happened(prepared.document.updated, scope.updated_from, scope.updated_before)


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
