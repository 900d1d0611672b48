"""Documents that are similar to one, by the vectors that are already stored.

No model is loaded: a document's passages have their vectors since it was indexed.
A passage that many documents share (a template, a form, a footer) makes nothing similar.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from twolane.answers import Candidate, Degradation, Lane
from twolane.brevity import without_brevity
from twolane.chunking.forms import all_form
from twolane.errors import NotPermitted
from twolane.linking import linked
from twolane.lookup import meant
from twolane.model import Chunk, Document
from twolane.permissions import require
from twolane.ports import Store
from twolane.scopes import Capability, Scope, Word
from twolane.scoring import score
from twolane.settings import Settings
from twolane.similar.values import Pair, Place, Similar, SimilarAnswer
from twolane.similar.words import (
    counted,
    form_terms,
    frequencies_of,
    telling,
    words_by_id,
    written,
)
from twolane.spaces import serving

if TYPE_CHECKING:
    from twolane.ports import Matrix, Vector

__all__ = ["Pair", "Place", "Similar", "SimilarAnswer", "Similarities"]

# A text in more documents than this is a form that was filled in, not a thought.
_SHARED_BY_FEW = 3

# A passage of forms alone counts as if ten documents held it, whatever its title makes of it.
_HOLD_A_FORM = 10

# A form under another title is about this similar to itself; a translation seldom is.
_THE_SAME = 0.9

# The whole finds notes on one topic, the best passage finds journals that touch it on one day;
# half of each loses least on both.
_SHARE_OF_WHOLE = 0.5

# Passages of a long document that each bring their neighbours into the pool.
_MOST_LOOKUPS = 8

# Words that stand for a document where it has no vectors, and words shown as a reason.
_TELLING_WORDS = 24
_SHOWN_WORDS = 5

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

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._lock = threading.Lock()
        self._kept: OrderedDict[object, SimilarAnswer] = OrderedDict()

    def similar(
        self, reference: str, scope: Scope, *, limit: int, exclude_linked: bool = False
    ) -> SimilarAnswer:
        """The documents in scope that are most similar to the one that the reference names.

        An answer stays the same, and is kept, until the content changes.
        Without vectors the words decide, and `degraded` says so.
        """
        started = time.perf_counter()
        require(scope, Capability.SEARCH)
        document = meant(self._store, reference, scope)
        key = (self._store.revision(), document.id, scope, limit, exclude_linked)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is None:
            kept = self._found(document, scope, limit, exclude_linked)
            with self._lock:
                self._kept[key] = kept
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return replace(kept, took_ms=(time.perf_counter() - started) * 1000)

    def _found(
        self, document: Document, scope: Scope, limit: int, exclude_linked: bool
    ) -> SimilarAnswer:
        generation, own, reason = self._vectors(document, scope)
        pool = max(self._settings.pool, limit) + 1
        while True:
            if generation is not None and own:
                near, complete = self._by_meaning(document, scope, generation, own, pool)
            else:
                near, complete = self._by_words(document, scope, pool)
            documents = self._store.documents([one.id for one in near])
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
            results=self._shown(document, kept[:limit], documents, joined),
        )

    def _vectors(
        self, document: Document, scope: Scope
    ) -> tuple[int | None, list[tuple[int, Vector]], str]:
        """The serving generation and the document's vectors in it, or why there are none."""
        if Capability.SEMANTIC not in scope.capabilities:
            return None, [], str(NotPermitted(Capability.SEMANTIC))
        generation = serving(self._store)
        if generation is None:
            return None, [], "there are no vectors yet; run `twolane index`"
        own = self._store.vectors(generation.number, [document.id]).get(document.id, [])
        if self._settings.brevity:
            own = [(at, without_brevity(vector, generation.space)) for at, vector in own]
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
        chunks = {document.id: self._store.chunks(document.id)}
        trust = self._trust(chunks, {document.id: document})[document.id]
        weights = [trust[position] for position, _ in own]
        whole = _mean([vector for _, vector in own], weights)
        found = self._store.nearest(generation, whole, scope, limit=pool, floor=-1.0)
        complete = len(found) < pool
        ids = {one.id for one in found}
        if not complete:
            # Everything in scope is in the pool already where there is little.
            for at in sorted(range(len(own)), key=lambda at: -weights[at])[:_MOST_LOOKUPS]:
                near = self._store.nearest(generation, own[at][1], scope, limit=pool, floor=-1.0)
                ids |= {one.id for one in near}
        ids.discard(document.id)
        held = self._store.vectors(generation, sorted(ids))
        chunks = {id: self._store.chunks(id) for id in held}
        trusted = self._trust(chunks, self._store.documents(sorted(held)))
        measured = _measured(own, weights, held, trusted)
        measured.sort(key=lambda one: (-one.score, one.id))
        return measured, complete

    def _trust(
        self, chunks: Mapping[str, Sequence[Chunk]], documents: Mapping[str, Document]
    ) -> dict[str, dict[int, float]]:
        """By document and position, how much a passage counts: less the more documents share it."""
        texts = {chunk.text_hash for each in chunks.values() for chunk in each}
        shared = self._store.sharing(sorted(texts))
        forms = self._store.forms().keys

        def holding(chunk: Chunk, document: Document | None) -> int:
            number = shared.get(chunk.text_hash, 1)
            if document is None or not chunk.forms:
                return number
            passage = document.body[chunk.start : chunk.end]
            return max(number, _HOLD_A_FORM) if all_form(passage, forms) else number

        return {
            id: {chunk.position: _own_share(holding(chunk, documents.get(id))) for chunk in each}
            for id, each in chunks.items()
        }

    # ------------------------------------------------------------------------------ by words

    def _by_words(self, document: Document, scope: Scope, pool: int) -> tuple[list[_Near], bool]:
        """The same by the words that tell most about the document."""
        candidate = words_by_id(self._store, [document.id]).get(document.id)
        counts = self._own_terms(document, candidate) if candidate else {}
        frequencies = frequencies_of(self._store, counts)
        chosen = telling(counts, frequencies, self._settings.common_share)[:_TELLING_WORDS]
        words = [Word(term, (term,)) for term, _ in chosen]
        if not words:
            return [], True
        candidates = self._store.lexical(words, scope, every=False, limit=pool)
        scored = score(words, candidates, frequencies)
        near = [_Near(one.id, one.score) for one in scored if one.id != document.id]
        return near, len(candidates) < pool

    # ------------------------------------------------------------------------------- reasons

    def _shown(
        self,
        document: Document,
        near: Sequence[_Near],
        documents: Mapping[str, Document],
        joined: set[str],
    ) -> tuple[Similar, ...]:
        candidates = words_by_id(self._store, [document.id, *(one.id for one in near)])
        shared = self._shared(document, candidates)
        own = {chunk.position: chunk for chunk in self._store.chunks(document.id)}
        results = []
        for one in near:
            other = documents[one.id]
            candidate = candidates.get(one.id)
            languages = candidate.languages if candidate else ()
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
                    pair=_pair(one, own, self._store.chunks(one.id)),
                    shared=tuple(written(other, languages, shared.get(one.id, ()))[:_SHOWN_WORDS]),
                    linked=one.id in joined,
                )
            )
        return tuple(results)

    def _shared(
        self, document: Document, candidates: Mapping[str, Candidate]
    ) -> dict[str, list[str]]:
        """By document, the telling terms that it shares with the document, most telling first."""
        if document.id not in candidates:
            return {}
        own = self._own_terms(document, candidates[document.id])
        both = {
            other: own & counted(candidate)
            for other, candidate in candidates.items()
            if other != document.id
        }
        frequencies = frequencies_of(self._store, set().union(*both.values()))
        share = self._settings.common_share
        return {
            # A few more than are shown, because some turn out to be function words.
            other: [term for term, _ in telling(counts, frequencies, share)[: 3 * _SHOWN_WORDS]]
            for other, counts in both.items()
        }

    def _own_terms(self, document: Document, candidate: Candidate) -> Counter[str]:
        """The terms of the document, without those of its forms unless it has no others."""
        counts = counted(candidate)
        in_forms = form_terms(document, candidate.languages, self._store.forms().keys)
        own = Counter({term: count for term, count in counts.items() if term not in in_forms})
        return own or counts


def _own_share(documents: int) -> float:
    """How much a passage counts that so many documents hold; in ten, about a tenth."""
    return min(1.0, (_SHARED_BY_FEW / max(1, documents)) ** 2)


def _measured(
    own: Sequence[tuple[int, Vector]],
    weights: Sequence[float],
    held: Mapping[str, Sequence[tuple[int, Vector]]],
    trust: Mapping[str, Mapping[int, float]],
) -> list[_Near]:
    """Each document of the pool with its similarity as a whole and its best pair of passages."""
    import numpy as np

    mine: Matrix = np.stack([vector for _, vector in own])
    theirs = {id: np.stack([vector for _, vector in pairs]) for id, pairs in held.items()}
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
        others = [trust[id][position] for position, _ in held[id]]
        weighed = each * np.sqrt(np.outer(kept, others))
        at, there = divmod(int(np.argmax(weighed)), weighed.shape[1])
        similarity = float(whole @ _mean(list(theirs[id]), others))
        score = _SHARE_OF_WHOLE * similarity + (1 - _SHARE_OF_WHOLE) * float(weighed[at, there])
        pair = own[at][0], held[id][there][0], float(each[at, there])
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
