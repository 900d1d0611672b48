"""The memory store's generations of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.embedding.vector_checks import check_query, check_vectors
from twolane.model.candidate import NearChunk, Neighbour
from twolane.model.document import Prepared
from twolane.model.scope import ANYWHERE, Scope
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import Mean, NewVector, PassageVector
from twolane.stores.memory.state import Row, Shelf, State

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector


class MemoryVectors:
    """The `VectorIndex` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        with self._state.lock:
            return [shelf.generation for _, shelf in sorted(self._state.shelves.items())]

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again.

        A number is never used twice, so that late work for a dropped generation
        cannot end up among another space's vectors.
        """
        with self._state.lock:
            held = self.generations()
            served = any(generation.state == GenerationState.SERVING for generation in held)
            state = GenerationState.FILLING if served else GenerationState.SERVING
            for generation in reversed(held):
                if generation.space == space:
                    if generation.state == GenerationState.RETIRED:
                        self._change(generation.number, state=state, reason=None)
                    return self._state.shelf(generation.number).generation
            self._state.newest += 1
            generation = Generation(self._state.newest, space, state)
            self._state.shelves[generation.number] = Shelf(generation)
            return generation

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        with self._state.lock:
            changed = dict(states)
            for one in self.generations():
                if one.state == GenerationState.SERVING:
                    if GenerationState.SERVING not in states.values():
                        changed.pop(one.number, None)
                    else:
                        changed.setdefault(one.number, GenerationState.RETIRED)
            for number in (number for number, state in changed.items() if state is not None):
                self._state.shelf(number)
            for number, state in changed.items():
                if state is None:
                    self._state.shelves.pop(number, None)
                else:
                    why = reason if state == GenerationState.HELD else None
                    self._change(number, state=state, reason=why)

    def note_model(self, generation: int, name: str) -> str:
        """Keep what a server called the model of this generation; the first name stays."""
        with self._state.lock:
            kept = self._state.shelf(generation).generation.answered_by or name
            self._change(generation, answered_by=kept)
            return kept

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        with self._state.lock:
            return dict(self._state.shelf(generation).means)

    def add(
        self,
        generation: int,
        vectors: Iterable[NewVector],
        *,
        means: Mapping[str, Mean] | None = None,
    ) -> None:
        """Store the vectors, or replace those with their content hashes; all of them or none."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            dimensions = shelf.generation.space.dimensions
            rows = {}
            for one in vectors:
                before = shelf.rows.get(one.content_hash)
                codes = one.sentences or (before.sentences if before else b"")
                # Vectors that are only centred anew were embedded when they were.
                centred = before is not None and means is not None
                at = before.at if before and centred else self._state.clock()
                rows[one.content_hash] = Row(_checked(one.vector, dimensions), codes, at)
            if means is None:
                shelf.rows = {**shelf.rows, **rows}
            else:
                shelf.rows, shelf.means = rows, dict(means)
            self._state.forget_vectors()
            self._change(generation, revision=shelf.generation.revision + 1)

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
        """Documents in scope by their best chunk's dot product, best first, ties by id."""
        import numpy as np

        asked = np.asarray(vector, dtype=np.float32)
        found = []
        with self._state.lock:
            shelf = self._state.shelf(generation)
            check_query(asked, shelf.generation)
            # What every store must agree with is as exact as it can be.
            exactly = asked.astype(np.float64)
            for prepared in self._state.within(scope):
                held = {one.position: one for one in _vectors(shelf, prepared)}
                chunks = [
                    NearChunk(one.position, float(np.dot(one.vector, exactly)), one.sentences)
                    for one in held.values()
                ]
                chunks.sort(key=lambda one: (-one.similarity, one.position))
                if chunks and chunks[0].similarity >= floor:
                    found.append(
                        Neighbour(
                            prepared.document.id,
                            prepared.languages,
                            chunks[0].position,
                            chunks[0].similarity,
                            sum(one.similarity for one in chunks) / len(chunks),
                            held[chunks[0].position].vector.copy() if detail else None,
                            tuple(chunks[:detail]),
                        )
                    )
        found.sort(key=lambda one: -one.similarity)
        return found[:limit]

    def get(self, generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
        """The vectors of documents that were found in scope before, by id."""
        asked = set(ids)
        with self._state.lock:
            shelf = self._state.shelf(generation)
            held = [one for one in self._state.within(ANYWHERE) if one.document.id in asked]
            found = {one.document.id: list(_vectors(shelf, one)) for one in held}
        return {id: vectors for id, vectors in found.items() if vectors}

    def sample(self, generation: int, *, size: int = 200) -> list[tuple[str, Vector]]:
        """Vectors of passages that can be found, at most `size`, with the lowest hashes."""
        documents: dict[str, str] = {}
        with self._state.lock:
            rows = self._state.shelf(generation).rows
            for document, chunk in self._state.passages():
                known = documents.get(chunk.content_hash, document.id)
                documents[chunk.content_hash] = min(known, document.id)
            chosen = sorted(documents.keys() & rows.keys())[:size]
            return [(documents[key], rows[key].vector.copy()) for key in chosen]

    def _change(self, generation: int, **fields: object) -> None:
        shelf = self._state.shelf(generation)
        shelf.generation = replace(shelf.generation, **fields)  # type: ignore[arg-type]


def _vectors(shelf: Shelf, prepared: Prepared) -> Iterator[PassageVector]:
    for chunk in prepared.chunks:
        row = shelf.rows.get(chunk.content_hash)
        if row is not None:
            yield PassageVector(chunk.position, row.vector.copy(), row.sentences)


def _checked(vector: Vector, dimensions: int) -> Vector:
    """A copy of the vector, if it is one that may be stored."""
    import numpy as np

    copied = np.array(vector, dtype=np.float32)
    check_vectors(copied[np.newaxis], count=1, dimensions=dimensions)
    return copied
