"""Documents that are similar to one, by the vectors that are already stored.

No model is loaded: a document's passages have their vectors since it was indexed.
A passage that many documents share (a template, a form, a footer) makes nothing similar.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

from twolane.ingest.chunking import plain
from twolane.ingest.chunking.boilerplate import only_boilerplate, stripped
from twolane.model.answer import Degradation, Lane
from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS, Chunk, Document, Kind
from twolane.model.errors import NotPermitted
from twolane.model.scope import ANYWHERE, Capability, Scope, Word, require
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Part, Stored
from twolane.ports.generations import revision, serving
from twolane.ports.lexical import LexicalIndex
from twolane.query.lookup import meant
from twolane.ranking.bm25f import WEIGHTS, Bm25f, idf
from twolane.results.highlighting import spellings
from twolane.settings import Settings
from twolane.settings.machine import one_thread
from twolane.text.names import linked
from twolane.text.tokens import is_function_word, stream, tokens

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands: its document's chunk, the headings above it, its lines."""

    position: int
    heading: tuple[str, ...]
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """The two passages that make two documents similar, and how similar the passages are."""

    own: Place
    other: Place
    similarity: float


@dataclass(frozen=True, slots=True)
class Similar:
    """A document that is similar to the one that was asked about, and why.

    `score` orders the answer: similarity of documents and passages, or of words without vectors.
    `similarity` is that of the two documents as wholes, None without vectors.
    `shared` are rare words that both hold, as this document writes them, most telling first.
    """

    id: str
    kind: Kind
    collection: str
    path: str | None
    url: str | None
    title: str
    tags: tuple[str, ...]
    updated: datetime | None
    score: float
    similarity: float | None
    pair: Pair | None
    shared: tuple[str, ...]
    linked: bool


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The documents that are most similar to one, best first."""

    id: str
    title: str
    generation: int | None
    degraded: tuple[Degradation, ...]
    took_ms: float
    results: tuple[Similar, ...]


# A text in more documents than this is a form that was filled in, not a thought.
_SHARED_BY_FEW = 3

# A passage of forms alone counts as if ten documents held it, whatever its title makes of it.
_HOLD_BOILERPLATE = 10

# A form under another title is about this similar to itself; a translation seldom is.
_THE_SAME = 0.9

# The whole finds notes on one topic, the best passage finds journals that touch it on one day;
# half of each loses least on both.
_SHARE_OF_WHOLE = 0.5

# Passages of a long document that each bring their neighbours into the pool.
_MOST_LOOKUPS = 8

# Words that stand for a document where it has no vectors, and words shown as a reason.
_SELECTIVE = 24
_SHOWN_WORDS = 5
_TRIED_WORDS = 3 * _SHOWN_WORDS

_WITH_CHUNKS = frozenset({Part.TEXT, Part.CHUNKS})

# Answers that are kept until the content changes; one is a few kilobytes.
_KEPT = 128


@dataclass(frozen=True, slots=True)
class _Near:
    """A document of the pool, measured against the one that was asked about."""

    id: str
    score: float
    similarity: float | None = None
    pair: tuple[int, int, float] | None = None


class Similarities:
    """Finds similar documents in one store; safe to share between threads."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._stores = stores
        self._documents, self._lexical = stores.documents, stores.lexical
        self._settings = settings
        self._kept = lru_cache(_KEPT)(self._found)

    def similar(
        self, reference: str, scope: Scope, *, limit: int, exclude_linked: bool = False
    ) -> SimilarAnswer:
        """The documents in scope that are most similar to the one that the reference names.

        An answer stays the same, and is kept, until the content changes.
        Without vectors the words decide, and `degraded` says so.
        """
        started = time.perf_counter()
        require(scope, Capability.SEARCH)
        found = self._kept(revision(self._stores), reference, scope, limit, exclude_linked)
        return replace(found, took_ms=(time.perf_counter() - started) * 1000)

    def _found(
        self, _revision: str, reference: str, scope: Scope, limit: int, exclude_linked: bool
    ) -> SimilarAnswer:
        document = meant(self._documents, reference, scope)
        generation, own, reason = self._vectors(document, scope)
        pool = max(self._settings.search.pool, limit) + 1
        while True:
            if generation is not None and own:
                near, complete = self._by_meaning(document, scope, generation, own, pool)
            else:
                near, complete = self._by_words(document, scope, pool)
            found = self._documents.get([one.id for one in near], ANYWHERE)
            documents = {id: one.document for id, one in found.items()}
            joined = {id for id, other in documents.items() if linked(document, other)}
            kept = [
                one
                for one in near
                if one.id in documents and not (exclude_linked and one.id in joined)
            ]
            if len(kept) >= limit or complete:
                break
            # Linked documents took up the pool, and the limit counts those that remain.
            pool *= 4
        return SimilarAnswer(
            id=document.id,
            title=document.title,
            generation=generation if own else None,
            degraded=(Degradation(Lane.DENSE, reason),) if reason else (),
            took_ms=0.0,
            results=self._shown(document, kept[:limit], documents, joined, scope),
        )

    def _vectors(
        self, document: Document, scope: Scope
    ) -> tuple[int | None, list[tuple[int, Vector]], str]:
        """The serving generation and the document's vectors in it, or why there are none."""
        if Capability.SEMANTIC not in scope.capabilities:
            return None, [], str(NotPermitted(Capability.SEMANTIC))
        generation = serving(self._stores)
        if generation is None:
            return None, [], "there are no vectors yet; run `twolane index`"
        passages = self._stores.vectors.get(generation.number, [document.id]).get(document.id, [])
        own = [(passage.position, passage.vector) for passage in passages]
        reason = "" if own else f"{document.id} has no vectors yet; run `twolane embed`"
        return generation.number, own, reason

    # ---------------------------------------------------------------------------- by meaning

    def _by_meaning(
        self,
        document: Document,
        scope: Scope,
        generation: int,
        own: Sequence[tuple[int, Vector]],
        pool: int,
    ) -> tuple[list[_Near], bool]:
        """The pool measured against the document, best first, and whether it is all there is."""
        vectors = self._stores.vectors
        alone = self._documents.get([document.id], ANYWHERE, _WITH_CHUNKS)
        trust = self._trust(alone).get(document.id, {})
        weights = [trust.get(position, 1.0) for position, _ in own]
        whole = _mean([vector for _, vector in own], weights)
        found = vectors.nearest(generation, whole, scope, limit=pool)
        complete = len(found) < pool
        ids = {one.id for one in found}
        if not complete:
            # Everything in scope is in the pool already where there is little.
            for at in sorted(range(len(own)), key=lambda at: -weights[at])[:_MOST_LOOKUPS]:
                ids |= {
                    one.id for one in vectors.nearest(generation, own[at][1], scope, limit=pool)
                }
        ids.discard(document.id)
        pool_vectors = {
            id: [(passage.position, passage.vector) for passage in passages]
            for id, passages in vectors.get(generation, sorted(ids)).items()
        }
        trusted = self._trust(
            alone | self._documents.get(sorted(pool_vectors), ANYWHERE, _WITH_CHUNKS)
        )
        trust = trusted.get(document.id, {})
        weights = [trust.get(position, 1.0) for position, _ in own]
        known = {id: pairs for id, pairs in pool_vectors.items() if id in trusted}
        measured = _measured(own, weights, known, trusted)
        measured.sort(key=lambda one: (-one.score, one.id))
        return measured, complete

    def _trust(self, documents: Mapping[str, Stored]) -> dict[str, dict[int, float]]:
        """By document and position, how much a passage counts: less the more of them share it."""
        shared = Counter(
            text for one in documents.values() for text in {each.text_hash for each in one.chunks}
        )
        keys = self._documents.boilerplate().keys

        def holding(chunk: Chunk, document: Document) -> int:
            number = shared[chunk.text_hash]
            if not chunk.boilerplate:
                return number
            passage = document.body[chunk.start : chunk.end]
            return max(number, _HOLD_BOILERPLATE) if only_boilerplate(passage, keys) else number

        return {
            id: {chunk.position: _own_share(holding(chunk, one.document)) for chunk in one.chunks}
            for id, one in documents.items()
        }

    # ------------------------------------------------------------------------------ by words

    def _by_words(self, document: Document, scope: Scope, pool: int) -> tuple[list[_Near], bool]:
        """The same by the words that tell most about the document."""
        candidate = self._lexical.term_frequencies([document.id]).get(document.id)
        counts = self._own_terms(document, candidate) if candidate else {}
        frequencies = frequencies_of(self._lexical, counts, scope)
        chosen = selective_terms(counts, frequencies, self._settings.ranking.common_share)[
            :_SELECTIVE
        ]
        words = [Word(term, (term,)) for term, _ in chosen]
        if not words:
            return [], True
        candidates = self._lexical.candidates(words, scope, every=False, limit=pool)
        bm25f = Bm25f(words, frequencies)
        scores = {one.id: bm25f.of(one) for one in candidates if one.id != document.id}
        near = [_Near(id, score.bm25f * score.coverage) for id, score in scores.items()]
        near.sort(key=lambda one: (-one.score, one.id))
        return near, len(candidates) < pool

    # ------------------------------------------------------------------------------- reasons

    def _shown(
        self,
        document: Document,
        near: Sequence[_Near],
        documents: Mapping[str, Document],
        joined: set[str],
        scope: Scope,
    ) -> tuple[Similar, ...]:
        shared = self._shared(document, [one.id for one in near], scope)
        ids = [document.id, *(one.id for one in near)]
        stored = self._documents.get(ids, ANYWHERE, frozenset({Part.CHUNKS}))
        chunks = {id: one.chunks for id, one in stored.items()}
        own = {chunk.position: chunk for chunk in chunks.get(document.id, ())}
        results = []
        for one in near:
            other = documents[one.id]
            languages, terms = shared.get(one.id, ((), ()))
            results.append(
                Similar(
                    id=other.id,
                    kind=other.kind,
                    collection=other.collection,
                    path=other.path,
                    url=other.url,
                    title=other.title,
                    tags=other.tags,
                    updated=other.updated,
                    score=one.score,
                    similarity=one.similarity,
                    pair=_pair(one, own, chunks.get(one.id, ())),
                    shared=tuple(written(other, languages, terms)[:_SHOWN_WORDS]),
                    linked=one.id in joined,
                )
            )
        return tuple(results)

    def _shared(
        self, document: Document, others: Sequence[str], scope: Scope
    ) -> dict[str, tuple[tuple[str, ...], list[str]]]:
        """By document, its languages and the selective terms that both hold, best first."""
        candidate = self._lexical.term_frequencies([document.id]).get(document.id)
        if candidate is None:
            return {}
        own = self._own_terms(document, candidate)
        words = [Word(term, (term,)) for term in own]
        found = self._lexical.term_frequencies(others, words) if words else {}
        both = {id: own & counted(one) for id, one in found.items()}
        frequencies = frequencies_of(self._lexical, set().union(*both.values()), scope)
        share = self._settings.ranking.common_share
        return {
            # A few more than are shown, because some turn out to be function words.
            id: (
                found[id].languages,
                [term for term, _ in selective_terms(counts, frequencies, share)[:_TRIED_WORDS]],
            )
            for id, counts in both.items()
        }

    def _own_terms(self, document: Document, candidate: DocumentTerms) -> Counter[str]:
        """The terms of the document, without those of boilerplate unless it has no others."""
        counts = counted(candidate)
        keys = self._documents.boilerplate().keys
        boilerplate = boilerplate_terms(document, candidate.languages, keys)
        own = Counter({term: count for term, count in counts.items() if term not in boilerplate})
        return own or counts


def _own_share(documents: int) -> float:
    """How much a passage counts that so many documents hold; in ten, about a tenth."""
    return min(1.0, (_SHARED_BY_FEW / max(1, documents)) ** 2)


@one_thread()
def _measured(
    own: Sequence[tuple[int, Vector]],
    weights: Sequence[float],
    pool_vectors: Mapping[str, Sequence[tuple[int, Vector]]],
    trust: Mapping[str, Mapping[int, float]],
) -> list[_Near]:
    """Each document of the pool with its similarity as a whole and its best pair of passages."""
    import numpy as np

    mine: Matrix = np.stack([vector for _, vector in own])
    theirs = {id: np.stack([vector for _, vector in pairs]) for id, pairs in pool_vectors.items()}
    similarities = {id: mine @ matrix.T for id, matrix in theirs.items()}
    # Near copies of a passage in many documents are a template that was edited a little.
    copies = np.zeros(len(own), np.int64)
    for each in similarities.values():
        copies += (each >= _THE_SAME).any(axis=1)
    less = [
        min(weight, _own_share(int(count))) for weight, count in zip(weights, copies, strict=True)
    ]
    # Where all of a document is shared, nothing in it is less its own than the rest.
    kept = [weight / max(less) for weight in less]
    whole = _mean(list(mine), kept)
    measured = []
    for id, each in similarities.items():
        others = [trust[id][position] for position, _ in pool_vectors[id]]
        weighed = each * np.sqrt(np.outer(kept, others))
        at, there = divmod(int(np.argmax(weighed)), weighed.shape[1])
        similarity = float(whole @ _mean(list(theirs[id]), others))
        score = _SHARE_OF_WHOLE * similarity + (1 - _SHARE_OF_WHOLE) * float(weighed[at, there])
        pair = own[at][0], pool_vectors[id][there][0], float(each[at, there])
        measured.append(_Near(id, score, similarity, pair))
    return measured


def _mean(vectors: Sequence[Vector], weights: Sequence[float]) -> Vector:
    """The direction of the weighted mean; of vectors that cancel each other, the first one."""
    import numpy as np

    total: Vector = np.asarray(weights, np.float32) @ np.stack(vectors)
    length = float(np.linalg.norm(total))
    direction: Vector = total / length if length > 1e-6 else vectors[0]
    return direction


def _pair(near: _Near, own: Mapping[int, Chunk], others: Sequence[Chunk]) -> Pair | None:
    if near.pair is None:
        return None
    mine, theirs, similarity = near.pair
    other = next((chunk for chunk in others if chunk.position == theirs), None)
    if mine not in own or other is None:
        # A document may change between measuring and showing; it is then without this reason.
        return None
    return Pair(_place(own[mine]), _place(other), similarity)


def _place(chunk: Chunk) -> Place:
    return Place(chunk.position, chunk.headings, (chunk.first_line, chunk.last_line))


# Words that stand in a link's address but say nothing.
_IDLE = frozenset(("http", "https", "www", "com", "org", "net", "html", "md"))

_WEIGHTS = tuple(round(WEIGHTS[name]) for name in FIELDS)

# In a small vault a word that only few documents hold is in a large share of all.
_FEW_DOCUMENTS = 3


def counted(candidate: DocumentTerms) -> Counter[str]:
    """How much of the document each of its terms makes up; a title counts more than a body."""
    return Counter(
        {
            term: sum(weight * count for weight, count in zip(_WEIGHTS, counts, strict=True))
            for term, counts in candidate.frequencies.items()
            if _says_something(term)
        }
    )


def boilerplate_terms(
    document: Document, languages: Collection[str], boilerplate: Container[int]
) -> frozenset[str]:
    """The terms that stand nowhere in the document but in lines that many documents hold."""
    own = stripped(document.body, boilerplate)
    if own is None:
        return frozenset()
    said = (document.title, *document.aliases, *document.tags, document.description)
    form = _stems((line for line, is_boilerplate in own.lines if is_boilerplate), languages)
    rest = (line for line, is_boilerplate in own.lines if not is_boilerplate)
    return form - _stems((*said, document.summary, *rest), languages)


def frequencies_of(lexical: LexicalIndex, terms: Iterable[str], scope: Scope) -> Frequencies:
    """How many documents of the scope's owner hold each of the terms."""
    return lexical.document_frequencies([_word(term) for term in sorted(terms)], scope)


def selective_terms(
    counts: Mapping[str, int], frequencies: Frequencies, common_share: float
) -> list[tuple[str, float]]:
    """The terms that say what a document is about, most selective first, with weights.

    A term that more than `common_share` of all documents hold is not selective.
    """
    most = max(_FEW_DOCUMENTS, common_share * frequencies.documents)
    weighed = [
        (term, idf(_word(term), frequencies) * log(1 + count))
        for term, count in counts.items()
        if frequencies.document_frequency.get(term, 0) <= most
    ]
    weighed.sort(key=lambda pair: (-pair[1], pair[0]))
    return weighed


def written(document: Document, languages: Collection[str], terms: Collection[str]) -> list[str]:
    """The terms as the document writes them, in the order of the terms; those it shows to readers.

    Function words and words that only stand in addresses are left out.
    """
    left = set(terms)
    forms: dict[str, str] = {}
    for text in _texts(document):
        for token in tokens(text):
            if not left:
                break
            for language in spellings(languages):
                for stem in stream(token.text, language).split():
                    if stem in left:
                        left.discard(stem)
                        forms[stem] = token.text
    kept = [forms[term] for term in terms if term in forms]
    return [form for form in dict.fromkeys(kept) if not is_function_word(form, languages)]


def _texts(document: Document) -> Iterable[str]:
    yield document.title
    yield "\n".join((*document.aliases, *document.tags, document.description, document.summary))
    yield plain(document.body)


def _stems(texts: Iterable[str], languages: Collection[str]) -> frozenset[str]:
    text = "\n".join(texts)
    return frozenset(
        stem for language in spellings(languages) for stem in stream(text, language).split()
    )


def _says_something(term: str) -> bool:
    # A pair of characters is a word in scripts without spaces, a syllable elsewhere.
    least = 3 if term.isascii() else 2
    return len(term) >= least and not term.isdigit() and term not in _IDLE


def _word(term: str) -> Word:
    return Word(term, (term,))
