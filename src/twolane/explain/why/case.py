"""One document under one query: what it holds of it, and where the search put it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from twolane.explain.why.values import Passage, WordFound
from twolane.model.answer import Lane, Mode
from twolane.model.candidate import Candidate, Fused
from twolane.model.document import FIELDS, Document
from twolane.model.scope import ANYWHERE, Scope, Word
from twolane.ports import Stores
from twolane.ports.documents import Part
from twolane.ranking.bm25f import Scored, score
from twolane.ranking.rankings import Ranked
from twolane.ranking.search import Searcher
from twolane.results.exact import passage_with
from twolane.results.passages import passage_for
from twolane.settings import Settings


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked about which document."""

    text: str
    scope: Scope
    mode: Mode
    limit: int
    document: Document

    @property
    def alone(self) -> Scope:
        """The document and nothing else, whatever the filters say.

        Only the owner decides who may see a document.
        """
        return Scope(
            owner=self.scope.owner,
            capabilities=self.scope.capabilities,
            archived=True,
            documents=(self.document.id,),
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A question, what the search made of it, and what the document holds of the query.

    `scored` is None if it holds no word of it.
    """

    question: Question
    ranked: Ranked
    words: tuple[WordFound, ...]
    scored: Scored | None
    passage: Passage | None

    @property
    def similarity(self) -> float | None:
        """How similar its nearest passage is, None without vectors."""
        return self.passage.similarity if self.passage else None

    @property
    def coverage(self) -> float | None:
        """The share of the query's information that it holds, None if the query has no words."""
        if not self.ranked.query.marks:
            return None
        return self.scored.coverage if self.scored else 0.0


def case_of(
    stores: Stores, settings: Settings, searcher: Searcher, question: Question, ranked: Ranked
) -> Case:
    """Look at the document in a scope of its own."""
    marks = ranked.query.marks
    asked = (*marks, *_alone(ranked.translated))
    candidates = list(stores.lexical.term_frequencies([question.document.id], asked).values())
    frequencies = stores.lexical.document_frequencies(marks, question.scope)
    scored = score(marks, candidates, frequencies) if marks else []
    return Case(
        question,
        ranked,
        words=_words(ranked, candidates[0]) if candidates else (),
        scored=scored[0] if scored else None,
        passage=_passage(stores, settings, searcher, question, ranked),
    )


def place_of(ranked: Ranked, id: str) -> tuple[int, Fused] | None:
    """The rank of a document and the votes that made it, None if it is not in the ranking."""
    for rank, fused in enumerate(ranked.fused, start=1):
        if fused.id == id:
            return rank, fused
    return None


def _words(ranked: Ranked, candidate: Candidate) -> tuple[WordFound, ...]:
    """Each word of the query as typed, with the fields that hold it.

    A word of a script without spaces has several positions, and all of them must be held.
    """
    taken = {repair.typed: repair.terms for repair in ranked.repairs}
    translations = _translations(ranked, candidate)
    fields: dict[str, set[str]] = {}
    for word in ranked.query.marks:
        held = _fields(word, candidate)
        fields[word.text] = fields[word.text] & held if word.text in fields else held
    return tuple(
        WordFound(
            text,
            tuple(name for name in FIELDS if name in held),
            next((terms for typed, terms in taken.items() if text in typed), ()),
            translations.get(text, ()),
        )
        for text, held in fields.items()
    )


def _translations(ranked: Ranked, candidate: Candidate) -> dict[str, tuple[str, ...]]:
    """By word of the query, the terms that mean the same in a document of another language."""
    if not ranked.query.reading.languages.isdisjoint(candidate.languages):
        return {}
    return {
        word.text: tuple(term for term, _ in word.kin if term in candidate.frequencies)
        for word in ranked.translated
    }


def _alone(words: Sequence[Word]) -> list[Word]:
    """The terms that mean the same as the words, each as a word of its own."""
    return [Word(term, (term,)) for word in words for term, _ in word.kin]


def _fields(word: Word, candidate: Candidate) -> set[str]:
    held = [candidate.frequencies[key] for key in word.keys if key in candidate.frequencies]
    return {name for place, name in enumerate(FIELDS) if any(counts[place] for counts in held)}


def _passage(
    stores: Stores, settings: Settings, searcher: Searcher, question: Question, ranked: Ranked
) -> Passage | None:
    """The nearest passage by meaning, however far; by words where meaning says nothing."""
    document, query = question.document, ranked.query
    held = stores.documents.get([document.id], ANYWHERE, frozenset({Part.CHUNKS}))
    chunks = held[document.id].chunks if document.id in held else ()
    position, similarity = None, None
    not_run = {one.lane for one in ranked.not_run}
    if (
        question.mode in (Mode.HYBRID, Mode.SEMANTIC)
        and query.meaning
        and Lane.DENSE not in not_run
    ):
        # The text is repaired already, and no threshold may cut the passage off.
        lenient = settings.changed(search={"min_similarity": -1.0, "repair": False})
        with closing(searcher.under(lenient)) as near:
            found = near.rank(query.meaning, question.alone, mode=Mode.SEMANTIC, limit=1)
        place = place_of(found, document.id)
        if place is not None:
            position = place[1].position
            votes = {one.lane: one.score for one in place[1].contributions}
            similarity = votes.get(Lane.DENSE)
    if position is None:
        position = passage_for(document, chunks, query.marks)
    if position is None:
        position = passage_with(document, chunks, ranked.letters)
    chunk = next((one for one in chunks if one.position == position), None)
    if chunk is None:
        return None
    lines = chunk.first_line, chunk.last_line
    return Passage(chunk.position, chunk.headings, lines, similarity)
