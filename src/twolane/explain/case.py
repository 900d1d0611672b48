"""One document under one query: what it holds of it, and where the search put it."""

from __future__ import annotations

from contextlib import closing

from twolane.explain.diagnosis import Passage, WordFound
from twolane.model.answer import Feature, Lane, Mode
from twolane.model.candidate import Candidate, DocumentTerms
from twolane.model.document import FIELDS, Document
from twolane.model.scope import ANYWHERE, Scope, Word
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Part
from twolane.ranking.features import WordFeatures
from twolane.ranking.rankings import Ranking
from twolane.ranking.search import Searcher
from twolane.results.results import passage_with
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

    `bm25f` is None if it holds no word of it, `covered` the share of the query that it holds.
    """

    question: Question
    ranking: Ranking
    words: tuple[WordFound, ...]
    bm25f: float | None
    covered: float
    passage: Passage | None

    @property
    def similarity(self) -> float | None:
        """How similar its nearest passage is, None without vectors."""
        return self.passage.similarity if self.passage else None

    @property
    def coverage(self) -> float | None:
        """The share of the query's information that it holds, None if the query has no words."""
        return self.covered if self.ranking.query.parsed.marks else None


def case_of(
    stores: Stores, settings: Settings, searcher: Searcher, question: Question, ranking: Ranking
) -> Case:
    """Look at the document in a scope of its own."""
    id, marks, sequence = question.document.id, ranking.query.parsed.marks, ranking.query.sequence
    document = stores.lexical.term_frequencies([id], marks, sequence).get(id)
    frequencies = stores.lexical.document_frequencies([*marks, *sequence], question.scope)
    features = WordFeatures(marks, sequence, frequencies)
    matched = features.of(document) if marks and document else None
    fullest = matched.passage if matched else None
    return Case(
        question,
        ranking,
        words=_words(ranking, document) if document else (),
        bm25f=matched.features[Feature.BM25F] if matched else None,
        covered=matched.features[Feature.COVERAGE] if matched else 0.0,
        passage=_passage(stores, settings, searcher, question, ranking, fullest),
    )


def place_of(ranking: Ranking, id: str) -> tuple[int, Candidate] | None:
    """The rank of a document and the candidate itself, None if it is not in the ranking."""
    for rank, candidate in enumerate(ranking.candidates, start=1):
        if candidate.id == id:
            return rank, candidate
    return None


def _words(ranking: Ranking, document: DocumentTerms) -> tuple[WordFound, ...]:
    """Each word of the query as typed, with the fields that hold it.

    A word of a script without spaces has several positions, and all of them must be held.
    """
    taken = {repair.typed: repair.terms for repair in ranking.query.repairs}
    fields: dict[str, set[str]] = {}
    for word in ranking.query.parsed.marks:
        holding = _fields(word, document)
        fields[word.text] = fields[word.text] & holding if word.text in fields else holding
    return tuple(
        WordFound(
            text,
            tuple(name for name in FIELDS if name in holding),
            next((terms for typed, terms in taken.items() if text in typed), ()),
        )
        for text, holding in fields.items()
    )


def _fields(word: Word, document: DocumentTerms) -> set[str]:
    rows = [document.frequencies[key] for key in word.keys if key in document.frequencies]
    return {name for place, name in enumerate(FIELDS) if any(counts[place] for counts in rows)}


def _passage(
    stores: Stores,
    settings: Settings,
    searcher: Searcher,
    question: Question,
    ranking: Ranking,
    fullest: int | None,
) -> Passage | None:
    """The nearest passage by meaning, however far; the fullest of words where it says nothing."""
    document, query = question.document, ranking.query.parsed
    stored = stores.documents.get([document.id], ANYWHERE, frozenset({Part.CHUNKS}))
    chunks = stored[document.id].chunks if document.id in stored else ()
    position, similarity = None, None
    not_run = {one.lane for one in ranking.not_run}
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
            position, similarity = place[1].position, place[1].similarity
    if position is None:
        position = fullest
    if position is None:
        position = passage_with(document, chunks, ranking.query.literal)
    chunk = next((one for one in chunks if one.position == position), None)
    if chunk is None:
        return None
    lines = chunk.first_line, chunk.last_line
    return Passage(chunk.position, chunk.headings, lines, similarity)
