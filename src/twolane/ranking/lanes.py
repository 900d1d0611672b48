"""The lanes: each answers a query with a ranked list of candidates.

A lane knows ports, not adapters, and one query at a time. It measures its features for what
other lanes found, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import isnan
from operator import itemgetter
from typing import TYPE_CHECKING

from twolane.embedding.sentence_codes import nearest_sentences, sentence_part
from twolane.model import deadlines
from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate, DocumentTerms, Frequencies, Neighbour
from twolane.model.errors import EngineUnavailable, TooSlow
from twolane.model.scope import Scope, Word
from twolane.model.space import Generation
from twolane.model.values import dataclass
from twolane.ports.lexical import LexicalIndex
from twolane.ports.vectors import VectorIndex
from twolane.query.analyzer import AnalyzedQuery
from twolane.ranking.background import Usual
from twolane.ranking.features import MatchedWords, WordFeatures

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# So many passages of a document are looked at sentence by sentence; more would change little.
_CLOSELY = 3


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What a lane brought back, how long it took, and what went wrong if it could not run."""

    candidates: Sequence[Candidate]
    ms: float
    generation: Generation | None = None
    failure: str | None = None
    remark: str | None = None


def in_time(find: Callable[[], Sequence[Candidate]]) -> LaneResult:
    """What a lane finds within the time of the question.

    A lane that was stopped gives what it has, if it has anything; what it says is why.
    So does one whose engine does not answer.
    """
    started = time.perf_counter()
    found: Sequence[Candidate] = ()
    failure = remark = None
    try:
        found = find()
        remark = deadlines.reason() if deadlines.is_over() else None
    except TooSlow as error:
        failure = error.reason
    except EngineUnavailable as error:
        failure = str(error)
    taken = (time.perf_counter() - started) * 1000
    return LaneResult(found, taken, failure=failure, remark=remark)


class LexicalLane:
    """Documents by their words: all words first, then most, then some.

    `relaxation` narrows this to documents with `all` words, or widens it to those with `any`.
    A query of nothing but demands (phrases, `AND`, `OR`, `NOT`) is met or not met, never in part.
    """

    def __init__(
        self,
        index: LexicalIndex,
        query: AnalyzedQuery,
        *,
        common_share: float,
        relaxation: str = "graded",
    ) -> None:
        self._index = index
        self._query = query
        self._common_share = common_share
        self._relaxation = relaxation
        # Who meets demands alone has all that was asked for: of `a OR b` one is enough.
        parsed = query.parsed
        self._demands_alone = not parsed.words and parsed.clause is not None
        # What the words of documents say, told once; None for those without any.
        self._known: dict[str, MatchedWords | None] = {}
        # Whether all documents in scope that hold a word of the query are among these.
        self._knows_all = False

    def candidates(self, limit: int) -> list[Candidate]:
        """Documents that the index offers, best first by BM25F times coverage, ties by id."""
        marks = self._query.parsed.marks
        if not marks and self._query.scope.clause is None:
            return []
        graded = self._relaxation != "any" and not self._demands_alone
        ranked = []
        for document in self._picked(limit):
            matched = self._known[document.id] = self._words.of(document)
            if matched or not marks:
                score = matched.features if matched else {}
                order = score.get(Feature.BM25F, 0.0)
                order *= score.get(Feature.COVERAGE, 0.0) if graded else 1.0
                ranked.append((-order, document.id, document.languages, matched))
        ranked.sort(key=itemgetter(0, 1))
        found = []
        for rank, (_, id, languages, matched) in enumerate(ranked[:limit], start=1):
            candidate = Candidate(id, languages, ranks={Lane.LEXICAL: rank})
            self._tell(candidate, matched)
            found.append(candidate)
        return found

    def measure(self, candidates: Sequence[Candidate]) -> None:
        """Give candidates that other lanes found the features of their words."""
        marks, sequence = self._query.parsed.marks, self._query.sequence
        others = [one for one in candidates if Lane.LEXICAL not in one.ranks] if marks else []
        unknown = [one.id for one in others if one.id not in self._known]
        if unknown and not self._knows_all:
            told = self._index.term_frequencies(unknown, marks, sequence)
            self._known |= {id: self._words.of(document) for id, document in told.items()}
        for candidate in others:
            self._tell(candidate, self._known.get(candidate.id))

    def _tell(self, candidate: Candidate, matched: MatchedWords | None) -> None:
        if matched is None:
            return
        candidate.features |= matched.features
        if self._demands_alone:
            candidate.features[Feature.COVERAGE] = 1.0
        candidate.matched = matched.words
        candidate.passage = matched.passage

    @cached_property
    def _words(self) -> WordFeatures:
        return WordFeatures(self._query.parsed.marks, self._query.sequence, self.frequencies)

    @cached_property
    def frequencies(self) -> Frequencies:
        """What is known of the query's words in the whole index, asked once."""
        words = dict.fromkeys((*self._query.parsed.marks, *self._query.sequence))
        return self._index.document_frequencies(list(words), self._query.scope)

    def _picked(self, limit: int) -> list[DocumentTerms]:
        """Documents for scoring; asks for weaker matches only while there are too few."""
        words, marks = self._query.parsed.words, self._query.parsed.marks
        ask = partial(
            self._index.candidates,
            scope=self._query.scope,
            limit=limit,
            count=marks,
            sequence=self._query.sequence,
        )
        if not words:
            # Hard demands alone: the scope's clause selects, the marks only order the pool.
            return self._offered(ask(marks, every=False), marks, limit)
        if self._are_few(words, limit):
            # Those with any of the words fit in, and among them are those with all.
            return self._offered(ask(words, every=False), words, limit)
        found = ask(words, every=True)
        if len(found) >= limit or self._relaxation == "all":
            return found
        if len(words) == 1:
            return self._offered(found, words, limit)
        selective = selective_words(words, self.frequencies, self._common_share)
        found = _joined(found, self._offered(ask(selective, every=False), selective, limit))
        if len(found) < limit and len(selective) < len(words):
            found = _joined(found, self._offered(ask(words, every=False), words, limit))
        return found

    def _are_few(self, words: Sequence[Word], limit: int) -> bool:
        """Whether fewer documents hold any of the words than may be brought."""
        held = self.frequencies.document_frequency
        return (
            self._relaxation != "all"
            and len(words) > 1
            and sum(held.get(key, limit) for word in words for key in word.keys) < limit
        )

    def _offered(
        self, found: list[DocumentTerms], asked: Sequence[Word], limit: int
    ) -> list[DocumentTerms]:
        """What the index offered for any of these words; notes whether there can be no others."""
        if len(found) < limit and set(asked).issuperset(self._query.parsed.marks):
            self._knows_all = True
        return found


def selective_words(
    words: Sequence[Word], frequencies: Frequencies, common_share: float
) -> Sequence[Word]:
    """The words rare enough to pick candidates; the engine is slow on words that are everywhere."""
    most = common_share * frequencies.documents
    rare = [word for word in words if _document_frequency(word, frequencies) <= most]
    return rare or [min(words, key=lambda word: _document_frequency(word, frequencies))]


def _document_frequency(word: Word, frequencies: Frequencies) -> int:
    return max(frequencies.document_frequency.get(key, 0) for key in word.keys)


def _joined(first: Sequence[DocumentTerms], second: Sequence[DocumentTerms]) -> list[DocumentTerms]:
    seen = {document.id for document in first}
    return [*first, *(document for document in second if document.id not in seen)]


class DenseLane:
    """Documents by meaning: how similar the query is to their passages, sentences, and all.

    `vector` is the query in the generation's space, `usual` what is usual in it.
    """

    def __init__(
        self,
        vectors: VectorIndex,
        generation: Generation,
        vector: Vector,
        scope: Scope,
        usual: Usual,
    ) -> None:
        self.generation = generation
        # The vector of each candidate's best passage, to tell documents that say the same.
        self.passages: dict[str, Vector] = {}
        self._vectors = vectors
        self._vector = vector
        self._scope = scope
        self._usual = usual

    def candidates(self, limit: int, *, floor: float = -1.0) -> list[Candidate]:
        """The documents with the nearest passages, ties by id."""
        found = self._measured(self._scope, limit, floor)
        for rank, candidate in enumerate(found, start=1):
            candidate.ranks[Lane.DENSE] = rank
        return found

    def measure(self, candidates: Sequence[Candidate]) -> None:
        """Give candidates that other lanes found the features of their vectors."""
        lacking = {one.id: one for one in candidates if Feature.PASSAGE not in one.features}
        if not lacking:
            return
        scope = replace(self._scope, documents=tuple(lacking), clause=None)
        for measured in self._measured(scope, len(lacking), -1.0):
            candidate = lacking[measured.id]
            candidate.features |= measured.features
            candidate.position, candidate.sentence = measured.position, measured.sentence
            candidate.similarity = measured.similarity

    def _measured(self, scope: Scope, limit: int, floor: float) -> list[Candidate]:
        found = self._vectors.nearest(
            self.generation.number,
            self._vector,
            scope,
            limit=limit,
            floor=floor,
            detail=_CLOSELY,
        )
        sentences = self._sentences(found)
        measured = []
        for near, (similarity, position, sentence) in zip(found, sentences, strict=True):
            if near.vector is not None:
                self.passages[near.id] = near.vector
            features = {
                Feature.PASSAGE: self._usual.standardised(near.similarity),
                Feature.SENTENCE: self._usual.standardised(similarity),
                Feature.DOCUMENT: self._usual.standardised(near.mean),
            }
            measured.append(
                Candidate(
                    near.id,
                    near.languages,
                    features,
                    position=position,
                    sentence=sentence,
                    similarity=near.similarity,
                )
            )
        return measured

    def _sentences(self, found: Sequence[Neighbour]) -> list[tuple[float, int, int | None]]:
        """By neighbour, its nearest sentence's similarity, and the passage and sentence to show.

        The nearest sentence may stand in another passage than the nearest one; what is shown is
        the passage that is near by both.
        A passage that is a single sentence, or has none stored, is its own nearest sentence.
        """
        part = sentence_part(self.generation.space)
        chunks = [chunk for near in found for chunk in near.chunks]
        if part is None or not any(chunk.sentences for chunk in chunks):
            return [(near.similarity, near.position, None) for near in found]
        import numpy as np

        query = self._vector[part]
        query = query / max(float(np.linalg.norm(query)), 1e-9)
        nearest, which = nearest_sentences([chunk.sentences for chunk in chunks], query)
        closest = [
            chunk.similarity if isnan(similarity) else similarity
            for chunk, similarity in zip(chunks, nearest.tolist(), strict=True)
        ]
        told = []
        start = 0
        for near in found:
            own = range(start, start + len(near.chunks))
            start = own.stop
            shown = max(own, key=lambda at: chunks[at].similarity + closest[at])
            sentence = which[shown] if which[shown] >= 0 else None
            told.append((max(closest[at] for at in own), chunks[shown].position, sentence))
        return told
