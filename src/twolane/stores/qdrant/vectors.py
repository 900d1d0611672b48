"""Who is near a vector: the cluster says, the database keeps the vectors themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdrant_client import QdrantClient, models

from twolane.embedding.vector_checks import check_query
from twolane.model.candidate import NearChunk, Neighbour
from twolane.model.errors import EngineUnavailable, StoreError
from twolane.model.scope import Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.documents import DocumentStore
from twolane.ports.vectors import Mean, NewVector, PassageVector, VectorIndex
from twolane.stores.qdrant.cluster import Cluster, scroll
from twolane.stores.qdrant.conditions import in_scope, of_documents, still_there
from twolane.stores.qdrant.layout import Layout, vector_name
from twolane.stores.qdrant.points import passage_id, sentences_of

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

# A document may have several near passages, so more of these are asked for.
_PASSAGES = 2
# So many passages are compared at a time, at least.
_PAGE = 1000
_ROUNDING = 1e-5


class QdrantVectors:
    """The VectorIndex port; `behind` is the database's, where vectors and generations are kept."""

    def __init__(
        self, cluster: Cluster, layout: Layout, behind: VectorIndex, documents: DocumentStore
    ) -> None:
        self._cluster = cluster
        self._documents = documents
        self._layout = layout
        self._behind = behind

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        return self._behind.generations()

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""
        return self._behind.open_generation(space)

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        self._behind.set_state(states, reason)

    def note_model(self, generation: int, name: str) -> str:
        """Keep what a server called the model of this generation; the first name stays."""
        return self._behind.note_model(generation, name)

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        return self._behind.means(generation)

    def add(
        self,
        generation: int,
        vectors: Iterable[NewVector],
        *,
        means: Mapping[str, Mean] | None = None,
    ) -> None:
        """Store the vectors, or replace those with their content hashes."""
        self._behind.add(generation, vectors, means=means)

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        return self._behind.sample(generation, size=size)

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float = -1.0,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product with `vector`, best first.

        First documents are chosen, then all their passages are compared exactly.
        """
        filter = in_scope(scope)
        if filter is None:
            return self._behind.nearest(
                generation, vector, scope, limit=limit, floor=floor, detail=detail
            )
        self._require(generation, vector)
        if limit <= 0:
            return []
        asked = _Question(self._cluster, self._layout, generation, vector)
        # Few documents that are named are all compared.
        few = 0 < len(scope.documents) <= limit
        nearest = (
            dict.fromkeys(scope.documents, 1.0) if few else asked.documents(filter, limit, floor)
        )
        shown = still_there(self._documents, list(nearest), scope)
        scores = [score for id, score in nearest.items() if id in shown]
        # Of equals the lowest id comes first, which is seen when they are compared exactly.
        least = scores[limit - 1] - _ROUNDING if len(scores) > limit else -1.0
        chosen = sorted(id for id in shown if nearest[id] >= least)
        passages = asked.passages(chosen, filter)
        found = [_neighbour(held, detail) for held in passages.values()]
        found = [one for one in found if one.similarity >= floor]
        found.sort(key=lambda one: (-one.similarity, one.id))
        return asked.with_vectors(found[:limit]) if detail else found[:limit]

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id."""
        if not ids:
            return {}
        try:
            return _stored(self._cluster, self._layout, generation, ids)
        except EngineUnavailable:
            # What other lanes found is measured by the database.
            return self._behind.get(generation, ids)

    def _require(self, generation: int, vector: Vector) -> None:
        for known in self._behind.generations():
            if known.number == generation:
                check_query(vector, known)
                return
        raise StoreError(f"there is no generation {generation}; `twolane status` lists them")


class _Question:
    """One vector that the passages of a generation are compared with."""

    def __init__(self, cluster: Cluster, layout: Layout, generation: int, vector: Vector) -> None:
        self._cluster = cluster
        self._shape = layout.shape
        self._collection = layout.asked(generation)
        self._using = vector_name(generation)
        self._vector = [float(number) for number in vector]

    def documents(self, filter: models.Filter, limit: int, floor: float) -> dict[str, float]:
        """The documents of the nearest passages, best first, with the similarity of the nearest.

        They are at least as many as asked for, or all there are.
        """
        shape = self._shape
        rescoring = models.QuantizationSearchParams(rescore=True, oversampling=shape.oversampling)
        params = models.SearchParams(exact=shape.exact, hnsw_ef=shape.ef, quantization=rescoring)
        wanted = limit * _PASSAGES
        # The threshold leaves out what equals it; all that is told of is compared again.
        threshold = None if floor <= -1 else floor - _ROUNDING
        while True:
            found = self._query(filter, wanted, params, ["document"], threshold)
            nearest: dict[str, float] = {}
            for payload, score in found:
                nearest.setdefault(payload["document"], score)
            if len(found) < wanted:
                return nearest
            # Of equals the lowest id comes first, so none of them may be left out.
            scores = list(nearest.values())
            if len(scores) >= limit and found[-1][1] < scores[limit - 1] - _ROUNDING:
                return nearest
            wanted *= 4

    def passages(
        self, documents: Sequence[str], filter: models.Filter
    ) -> dict[str, list[tuple[Any, float]]]:
        """All passages of the documents that are in scope, each with its similarity."""
        if not documents:
            return {}
        must = filter.must if isinstance(filter.must, list) else []
        named = models.Filter(must=[*must, of_documents(documents)])
        exactly = models.SearchParams(exact=True)
        shown = ["document", "position", "languages", "sentences", "version"]
        wanted = max(_PAGE, 8 * len(documents))
        while True:
            found = self._query(named, wanted, exactly, shown, None)
            if len(found) < wanted:
                break
            wanted *= 4
        held: dict[str, list[tuple[Any, float]]] = {}
        for payload, score in found:
            held.setdefault(payload["document"], []).append((payload, score))
        return held

    def with_vectors(self, found: Sequence[Neighbour]) -> list[Neighbour]:
        """The same documents with the vectors of their best passages."""
        import numpy as np

        places = {passage_id(one.id, one.position): one for one in found}
        if not places:
            return []
        points = self._cluster.ask(
            lambda client: client.retrieve(
                self._collection,
                list(places),
                with_payload=False,
                with_vectors=[self._using],
                consistency=self._shape.consistency,
            )
        )
        vectors = {str(one.id): one.vector[self._using] for one in points}
        # A document that changed in between has another vector in a moment, and none now.
        return [
            Neighbour(
                one.id,
                one.languages,
                one.position,
                one.similarity,
                one.mean,
                np.array(vectors[place], dtype=np.float32),
                one.chunks,
            )
            for place, one in places.items()
            if place in vectors
        ]

    def _query(
        self,
        filter: models.Filter,
        limit: int,
        params: models.SearchParams,
        shown: list[str],
        floor: float | None,
    ) -> list[tuple[Any, float]]:
        def ask(client: QdrantClient) -> list[tuple[Any, float]]:
            answer = client.query_points(
                self._collection,
                query=self._vector,
                using=self._using,
                query_filter=filter,
                search_params=params,
                limit=limit,
                with_payload=shown,
                score_threshold=floor,
                consistency=self._shape.consistency,
            )
            return [(point.payload or {}, point.score) for point in answer.points]

        return self._cluster.ask(ask)


def _neighbour(passages: Sequence[tuple[Any, float]], detail: int) -> Neighbour:
    """A document by its best passage; what is left of an older version does not count."""
    newest = max(payload["version"] for payload, _ in passages)
    held = [(payload, score) for payload, score in passages if payload["version"] == newest]
    held.sort(key=lambda one: (-one[1], one[0]["position"]))
    best, similarity = held[0]
    return Neighbour(
        best["document"],
        tuple(best["languages"]),
        best["position"],
        similarity,
        sum(score for _, score in held) / len(held),
        chunks=tuple(
            NearChunk(payload["position"], score, sentences_of(payload))
            for payload, score in held[:detail]
        ),
    )


def _stored(
    cluster: Cluster, layout: Layout, generation: int, ids: Sequence[str]
) -> dict[str, list[PassageVector]]:
    import numpy as np

    using = vector_name(generation)
    held: dict[str, list[PassageVector]] = {}
    shown = ["document", "position", "sentences"]
    for point in scroll(cluster, layout.asked(generation), of_documents(ids), shown, [using]):
        payload = point.payload or {}
        vector = np.array(point.vector[using], dtype=np.float32)
        passage = PassageVector(payload["position"], vector, sentences_of(payload))
        held.setdefault(payload["document"], []).append(passage)
    return {id: sorted(held[id], key=lambda one: one.position) for id in ids if id in held}
