"""How the memory store finds candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.answers import Candidate, Frequencies, NearChunk, Neighbour, Sketch
from twolane.errors import BadVectors
from twolane.model import FIELDS, Kind, Prepared
from twolane.properties import facts
from twolane.scopes import Scope, Word
from twolane.stores.memory.matching import holds, stream
from twolane.stores.memory.scoping import in_scope
from twolane.stores.memory.state import Row, Shelf, State

if TYPE_CHECKING:
    from twolane.ports import Vector


class MemoryRetrieval:
    """The `Retrieval` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def lexical(
        self, words: Sequence[Word], scope: Scope, *, every: bool, limit: int
    ) -> list[Candidate]:
        """Documents in scope that hold every word (or any): most words first, then by id."""
        least = len(words) if every else min(len(words), 1)
        with self._state.lock:
            found = []
            for prepared in self._state.visible():
                held = sum(holds(prepared.stems, word) for word in words)
                if held >= least and in_scope(prepared, scope):
                    found.append((held, prepared))
        found.sort(key=lambda pair: -pair[0])
        return [
            Candidate(prepared.document.id, prepared.languages, prepared.stems)
            for _, prepared in found[:limit]
        ]

    def languages(self) -> frozenset[str]:
        """The languages of all documents that are not hidden."""
        with self._state.lock:
            found = self._state.visible()
        return frozenset(language for prepared in found for language in prepared.languages)

    def kinds(self) -> frozenset[Kind]:
        """The kinds of all documents that are not hidden."""
        with self._state.lock:
            return frozenset(prepared.document.kind for prepared in self._state.visible())

    def properties(self) -> frozenset[str]:
        """The keys of all properties of documents that are not hidden."""
        with self._state.lock:
            found = self._state.visible()
        return frozenset(
            fact.name for prepared in found for fact in facts(prepared.document.properties)
        )

    def vocabulary(self) -> Sequence[str]:
        """All terms that some document holds which is not hidden, sorted."""
        with self._state.lock:
            found = [prepared.stems for prepared in self._state.visible()]
        return sorted({term for stems in found for name in FIELDS for term in stream(stems, name)})

    def frequencies(self, words: Sequence[Word]) -> Frequencies:
        """Document frequency of each term and average field lengths, archived ones included.

        A term that is asked both as a whole word and as a prefix gets the prefix's count.
        """
        with self._state.lock:
            found = [prepared.stems for prepared in self._state.visible()]
        containing: dict[str, int] = {}
        for word in words:
            for term in word.terms:
                alone = Word(word.text, (term,), word.prefix)
                count = sum(holds(stems, alone) for stems in found)
                containing[term] = max(count, containing.get(term, 0))
        lengths = {name: sum(len(stream(stems, name)) for stems in found) for name in FIELDS}
        averages = {name: total / len(found) if found else 0.0 for name, total in lengths.items()}
        return Frequencies(len(found), containing, averages)

    def nearest(
        self,
        generation: int,
        vector: Vector,
        scope: Scope,
        *,
        limit: int,
        floor: float,
        cosine: bool = False,
        detail: int = 0,
    ) -> list[Neighbour]:
        """Documents in scope by their best chunk's dot product, best first, ties by id."""
        import numpy as np

        asked = np.asarray(vector, dtype=np.float32)
        found = []
        with self._state.lock:
            shelf = self._state.shelf(generation)
            wanted = shelf.generation.space.dimensions
            if asked.shape != (wanted,):
                raise BadVectors(
                    f"generation {generation} holds vectors of {wanted} numbers, but the query's "
                    f"has shape {asked.shape}; embed the query in the generation's own space"
                )
            donors = shelf.donors()
            for prepared in self._state.visible():
                if not in_scope(prepared, scope):
                    continue
                held = dict(_rows(shelf, donors, prepared))
                chunks = [
                    NearChunk(
                        position,
                        float(np.dot(own, asked) / (_lengths(own, asked) if cosine else 1)),
                        codes,
                    )
                    for position, (_, own, codes) in held.items()
                ]
                chunks.sort(key=lambda one: (-one.similarity, one.position))
                if chunks and chunks[0].similarity >= floor:
                    found.append(
                        Neighbour(
                            prepared.document.id,
                            prepared.languages,
                            chunks[0].position,
                            chunks[0].similarity,
                            held[chunks[0].position][1].copy() if detail else None,
                            tuple(chunks[:detail]),
                        )
                    )
        found.sort(key=lambda one: -one.similarity)
        return found[:limit]

    def vectors(
        self, generation: int, ids: Sequence[str]
    ) -> Mapping[str, list[tuple[int, Vector]]]:
        """(position, vector) of the chunks that have one, their own or borrowed, by document id."""
        asked = set(ids)
        with self._state.lock:
            shelf = self._state.shelf(generation)
            donors = shelf.donors()
            held = [each for each in self._state.visible() if each.document.id in asked]
            found = {each.document.id: list(_rows(shelf, donors, each)) for each in held}
        return {
            id: [(position, row.vector.copy()) for position, row in sorted(pairs, key=_position)]
            for id, pairs in found.items()
            if pairs
        }

    def sharing(self, text_hashes: Sequence[str]) -> Mapping[str, int]:
        """How many documents that are not hidden hold each passage, by its text hash."""
        asked = set(text_hashes)
        with self._state.lock:
            found = self._state.visible()
        held = Counter(
            text_hash
            for prepared in found
            for text_hash in {chunk.text_hash for chunk in prepared.chunks} & asked
        )
        return dict(held)

    def sketches(self, ids: Sequence[str]) -> Mapping[str, Sketch]:
        """What tells copies apart, by document id."""
        asked = set(ids)
        with self._state.lock:
            found = [one for one in self._state.visible() if one.document.id in asked]
        return {
            one.document.id: Sketch(one.document.title, one.document.content_hash, one.sketch)
            for one in found
            if one.sketch
        }

    def revision(self) -> str:
        """The number of changes so far."""
        with self._state.lock:
            return str(self._state.changes)


def _position(pair: tuple[int, Row]) -> int:
    return pair[0]


def _lengths(one: Vector, other: Vector) -> float:
    import numpy as np

    return float(np.linalg.norm(one) * np.linalg.norm(other))


def _rows(shelf: Shelf, donors: dict[str, str], prepared: Prepared) -> Iterator[tuple[int, Row]]:
    """The document's chunks that have a vector, their own or a borrowed one, by position."""
    for chunk in prepared.chunks:
        own = chunk.content_hash if chunk.content_hash in shelf.rows else None
        serving = own or donors.get(chunk.text_hash) or donors.get(chunk.lender or "")
        if serving is not None:
            yield chunk.position, shelf.rows[serving]
