"""The lanes: each answers a query with a ranked list of documents.

A lane knows ports, not adapters, and one query at a time; fusion brings lanes together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from twolane.embedding.sentence_codes import nearest_sentences
from twolane.model import deadlines
from twolane.model.candidate import Candidate, Frequencies, Hit, Neighbour
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope, Word
from twolane.model.space import Generation, Space
from twolane.ports.lexical import LexicalIndex
from twolane.ports.vectors import VectorIndex
from twolane.query import Query
from twolane.ranking.bm25f import score
from twolane.ranking.parallel_documents import Bounds, Lifted, lifted

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# The engine's own order picks this many candidates per document wanted; ours then ranks them.
_CANDIDATES_PER_HIT = 2

# Similarity of the best passage at which a space is at a loss, and at which it is sure.
# Measured on the development sets; a space that is not here is always believed.
_CONFIDENCE: dict[str, tuple[float, float]] = {
    "use": (0.10, 0.35),
    "e5": (0.15, 0.40),
    "ensemble": (0.05, 0.30),
}

# Even a lane at a loss is heard a little: its guess is better than none.
_LEAST_CONFIDENCE = 0.1

# So many passages of a document are looked at sentence by sentence; more would change little.
_CLOSELY = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What a lane brought back, how long it took, and what went wrong if it could not run."""

    hits: Sequence[Hit]
    ms: float
    generation: Generation | None = None
    failure: str | None = None
    remark: str | None = None
    translated: Sequence[Hit] = ()


def in_time(find: Callable[[], Sequence[Hit]], *others: Callable[[], Sequence[Hit]]) -> Found:
    """What a lane finds within the time of the question, by itself and then by translation.

    A lane that was stopped gives what it has, if it has anything; what it says is why.
    """
    started = time.perf_counter()
    found: list[Sequence[Hit]] = []
    late = None
    try:
        found.append(find())
        found += [one() for one in others]
        late = deadlines.reason() if deadlines.is_over() else None
    except TooSlow as error:
        late = error.reason
    taken = (time.perf_counter() - started) * 1000
    if not found:
        return Found((), taken, failure=late)
    return Found(found[0], taken, remark=late, translated=found[1] if found[1:] else ())


def lexical_hits(
    lexical: LexicalIndex,
    query: Query,
    scope: Scope,
    *,
    limit: int,
    common_share: float,
    coverage_power: float,
    relaxation: str = "graded",
) -> list[Hit]:
    """Documents by their words: all words first, then most, then some.

    A hit votes by its coverage, the share of the query's information that it holds:
    a match of every word speaks with full weight, a match of one common word hardly at all.
    `relaxation` narrows this to documents with `all` words, or widens it to those with `any`,
    each with a full vote.
    A query of nothing but demands (phrases, `AND`, `OR`, `NOT`) is met or not met, never in part.
    """
    if not query.marks and scope.clause is None:
        return []
    frequencies = lexical.document_frequencies(query.marks, scope)
    if relaxation == "all" and query.words:
        candidates = lexical.candidates(
            query.words,
            scope,
            every=True,
            limit=limit * _CANDIDATES_PER_HIT,
            count=query.marks,
        )
    else:
        candidates = _candidates(lexical, query, scope, frequencies, limit, common_share)
    # Who meets demands alone has all that was asked for: of `a OR b` one is enough.
    demands_alone = not query.words and query.clause is not None
    graded = relaxation != "any" and not demands_alone
    ranked = score(query.marks, candidates, frequencies, by_coverage=graded)
    hits = [
        Hit(
            one.id,
            one.languages,
            one.score,
            vote=one.coverage**coverage_power if graded else 1.0,
            matched=one.matched,
        )
        for one in ranked
    ]
    if not query.marks:
        hits = [Hit(candidate.id, candidate.languages, 0.0) for candidate in candidates]
    return hits[:limit]


def confidence(space: Space) -> Callable[[float], float]:
    """How sure the space is of a query whose best passage is this similar, from 0 to 1."""
    if space.embedder not in _CONFIDENCE:
        return lambda similarity: 1.0
    lost, sure = _CONFIDENCE[space.embedder]
    return lambda similarity: min(1.0, max(_LEAST_CONFIDENCE, (similarity - lost) / (sure - lost)))


@dataclass(frozen=True, slots=True)
class Closer:
    """How the dense lane looks closer at the passages that it found.

    `sentence_weight` is what a document's best sentence counts beside its best passage, in the
    dimensions `sentence_part`.
    With `plausible`, the languages of the query, and `bounds`, documents that say the same in
    different languages lift each other.
    """

    sentence_weight: float = 0.0
    sentence_part: slice | None = None
    plausible: frozenset[str] | None = None
    bounds: Bounds | None = None


AS_FOUND = Closer()


def dense_hits(
    vectors: VectorIndex,
    generation: int,
    vector: Vector,
    scope: Scope,
    *,
    limit: int,
    floor: float,
    confidence: Callable[[float], float] = lambda similarity: 1.0,
    closer: Closer = AS_FOUND,
) -> list[Hit]:
    """Documents by the meaning of their best passage and of their best sentence.

    All hits vote with the lane's confidence in the best passage: where even that is hardly
    similar, the query says little that can be understood, and the words should decide.
    """
    found = vectors.nearest(generation, vector, scope, limit=limit, floor=floor, detail=_CLOSELY)
    vote = confidence(found[0].similarity) if found else 0.0
    refined = _with_sentences(found, vector, closer)
    if closer.plausible is None or closer.bounds is None:
        ranked = [Lifted(one, one.similarity) for one in refined]
    else:
        ranked = lifted(refined, closer.plausible, closer.bounds)
    return [
        Hit(
            one.neighbour.id,
            one.neighbour.languages,
            one.neighbour.similarity,
            position=one.neighbour.position,
            vote=vote,
            counterpart=one.counterpart,
            sentence=one.neighbour.sentence,
        )
        for one in ranked
    ]


def _with_sentences(
    found: Sequence[Neighbour], vector: Vector, closer: Closer
) -> Sequence[Neighbour]:
    """The neighbours by the weighted mean of passage and best sentence, best first, ties by id.

    The best sentence may stand in another passage than the best one; what is shown is the passage
    that is best by both.
    A passage that is a single sentence, or has none stored, is its own best sentence.
    """
    weight, part = closer.sentence_weight, closer.sentence_part
    chunks = [chunk for one in found for chunk in one.chunks]
    if part is None or not weight or not any(chunk.sentences for chunk in chunks):
        return found
    import numpy as np

    query = vector[part]
    query = query / max(float(np.linalg.norm(query)), 1e-9)
    nearest, which = nearest_sentences([chunk.sentences for chunk in chunks], query)
    closest = [
        chunk.similarity if isnan(one) else one
        for chunk, one in zip(chunks, nearest.tolist(), strict=True)
    ]
    refined = []
    start = 0
    for one in found:
        own = range(start, start + len(one.chunks))
        shown = max(own, key=lambda at: chunks[at].similarity + weight * closest[at])
        refined.append(
            replace(
                one,
                position=chunks[shown].position,
                similarity=(one.similarity + weight * max(closest[at] for at in own))
                / (1 + weight),
                sentence=which[shown] if which[shown] >= 0 else None,
            )
        )
        start = own.stop
    return sorted(refined, key=lambda one: (-one.similarity, one.id))


def _candidates(
    lexical: LexicalIndex,
    query: Query,
    scope: Scope,
    frequencies: Frequencies,
    limit: int,
    common_share: float,
) -> list[Candidate]:
    """Candidates for scoring; asks for weaker matches only while there are too few."""
    ask = partial(
        lexical.candidates,
        scope=scope,
        limit=limit * _CANDIDATES_PER_HIT,
        count=query.marks,
    )
    if not query.words:
        # Hard demands alone: the scope's clause selects, the marks only order the pool.
        return ask(query.marks, every=False)
    found = ask(query.words, every=True)
    if len(found) >= limit * _CANDIDATES_PER_HIT or len(query.words) == 1:
        return found
    selective = _selective(query.words, frequencies, common_share)
    found = _joined(found, ask(selective, every=False))
    if len(found) < limit and len(selective) < len(query.words):
        found = _joined(found, ask(query.words, every=False))
    return found


def _selective(
    words: Sequence[Word], frequencies: Frequencies, common_share: float
) -> Sequence[Word]:
    """The words rare enough to pick candidates; the engine is slow on words that are everywhere."""
    most = common_share * frequencies.documents
    rare = [word for word in words if _document_frequency(word, frequencies) <= most]
    return rare or [min(words, key=lambda word: _document_frequency(word, frequencies))]


def _document_frequency(word: Word, frequencies: Frequencies) -> int:
    return max(frequencies.document_frequency.get(key, 0) for key in word.keys)


def _joined(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[Candidate]:
    seen = {candidate.id for candidate in first}
    return [*first, *(candidate for candidate in second if candidate.id not in seen)]
