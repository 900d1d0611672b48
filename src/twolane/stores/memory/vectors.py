"""The memory store's generations of vectors, and the work that is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.chunking import lead_text
from twolane.model import (
    Chunk,
    Document,
    Failure,
    Generation,
    GenerationState,
    Pending,
    Progress,
    Space,
    instead,
)
from twolane.ports import NOTHING
from twolane.stores.memory.state import Lease, Row, Shelf, State
from twolane.vector_checks import check_vectors

if TYPE_CHECKING:
    from twolane.ports import Vector


class MemoryVectors:
    """The `Vectors` port over a shared state."""

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
                        self._set_state(generation.number, state)
                    return self._state.shelf(generation.number).generation
            self._state.newest += 1
            generation = Generation(self._state.newest, space, state)
            self._state.shelves[generation.number] = Shelf(generation)
            self._state.changes += 1
            return generation

    def activate(
        self, generation: int, *, standby: Container[int] = (), held: Container[int] = ()
    ) -> None:
        """Let this generation serve; those that did stand by, are held back or retire."""
        with self._state.lock:
            self._state.shelf(generation)
            for other in self.generations():
                if other.state in (GenerationState.SERVING, GenerationState.STANDBY):
                    state = (
                        GenerationState.HELD
                        if other.number in held
                        else GenerationState.STANDBY
                        if other.number in standby
                        else GenerationState.RETIRED
                    )
                    chosen = instead(generation) if state == GenerationState.HELD else None
                    self._set_state(other.number, state, chosen)
            self._set_state(generation, GenerationState.SERVING)

    def hold(self, generation: int, reason: str) -> None:
        """Keep a generation that does not serve from taking over by itself, and say why."""
        with self._state.lock:
            if self._state.shelf(generation).generation.state != GenerationState.SERVING:
                self._set_state(generation, GenerationState.HELD, reason)

    def set_rate(self, generation: int, rate: float) -> None:
        """Remember how many passages a second the generation is filled by."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            shelf.generation = replace(shelf.generation, rate=rate)

    def drop_generation(self, generation: int) -> None:
        """Delete a generation with its vectors; one that is gone already stays gone."""
        with self._state.lock:
            self._state.shelves.pop(generation, None)
            self._state.changes += 1

    def claim(
        self,
        generation: int,
        *,
        worker: str,
        limit: int,
        seconds: float,
        ids: Collection[str] | None = None,
    ) -> list[Pending]:
        """Up to `limit` passages without a vector, by document and position, leased to `worker`.

        Nobody gets a passage twice while its lease lasts, not even the worker that holds it.
        """
        with self._state.lock:
            shelf = self._state.shelf(generation)
            now = self._state.clock()
            claimed: dict[str, Pending] = {}
            for document, chunk in self._without_vector(shelf):
                if len(claimed) >= limit:
                    break
                if ids is not None and document.id not in ids:
                    continue
                if chunk.content_hash not in claimed and _free(shelf, chunk.content_hash, now):
                    failure = shelf.failures.get(chunk.content_hash)
                    tries = failure.tries if failure else 0
                    claimed[chunk.content_hash] = _pending(document, chunk, tries)
            shelf.leases.update({key: Lease(worker, now + seconds) for key in claimed})
            return list(claimed.values())

    def add_vectors(
        self,
        generation: int,
        vectors: Iterable[tuple[str, str, Vector]],
        sentences: Mapping[str, bytes] = NOTHING,
    ) -> None:
        """Store unit vectors, end their leases and forget their failures; all of them or none."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            dimensions = shelf.generation.space.dimensions
            rows = {
                content_hash: Row(
                    text_hash,
                    _checked(vector, dimensions),
                    sentences.get(content_hash) or shelf.sentences(content_hash),
                )
                for content_hash, text_hash, vector in vectors
            }
            shelf.rows.update(rows)
            self._state.changes += 1
            for content_hash in rows:
                shelf.leases.pop(content_hash, None)
                shelf.failures.pop(content_hash, None)

    def means(self, generation: int) -> dict[str, Vector]:
        """The language means that the generation's vectors were centred by."""
        with self._state.lock:
            return dict(self._state.shelf(generation).means)

    def known_vectors(self, generation: int, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of those passages that have one of their own, by content hash."""
        with self._state.lock:
            held = self._state.shelf(generation).rows
            return {key: held[key].vector for key in content_hashes if key in held}

    def known_sentences(
        self, generation: int, content_hashes: Sequence[str]
    ) -> Mapping[str, bytes]:
        """The codes of the sentences of those passages that have any, by content hash."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            return {key: codes for key in content_hashes if (codes := shelf.sentences(key))}

    def all_vectors(self, generation: int) -> list[tuple[str, str, str | None, Vector]]:
        """(content hash, text hash, language, vector) of each passage, each passage once."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            found: dict[str, tuple[str, str, str | None, Vector]] = {}
            for _, chunk in self._passages():
                row = shelf.rows.get(chunk.content_hash)
                if row is not None and chunk.content_hash not in found:
                    found[chunk.content_hash] = (
                        chunk.content_hash,
                        row.text_hash,
                        chunk.language,
                        row.vector,
                    )
            return list(found.values())

    def recentre(
        self,
        generation: int,
        means: Mapping[str, Vector],
        vectors: Iterable[tuple[str, str, Vector]],
    ) -> None:
        """Replace the vectors and set the means they were centred by, both or neither.

        Vectors that are not named are gone: they were centred by other means.
        """
        fresh = list(vectors)
        with self._state.lock:
            self.add_vectors(generation, fresh)
            shelf = self._state.shelf(generation)
            named = {content_hash for content_hash, _, _ in fresh}
            shelf.rows = {key: row for key, row in shelf.rows.items() if key in named}
            counted = self._spoken(generation)
            shelf.means = dict(means)
            shelf.counted = {language: counted.get(language, 0) for language in means}
            self._state.changes += 1

    def spoken(self, generation: int, *, at_most: bool = False) -> dict[str, tuple[int, int]]:
        """Passages of each language when the means were taken, and now, or at most now."""
        with self._state.lock:
            then = self._state.shelf(generation).counted
            now = self._written() if at_most else self._spoken(generation)
            return {language: (then.get(language, 0), count) for language, count in now.items()}

    def _written(self) -> Counter[str]:
        chunks = (chunk for held in self._state.documents.values() for chunk in held.chunks)
        return Counter(chunk.language for chunk in chunks if chunk.language is not None)

    def _spoken(self, generation: int) -> Counter[str]:
        return Counter(one[2] for one in self.all_vectors(generation) if one[2] is not None)

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded and when to try again; ends its lease."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            before = shelf.failures.get(content_hash)
            due = None if retry_in is None else self._state.clock() + retry_in
            tries = (before.tries if before else 0) + 1
            shelf.failures[content_hash] = Failure(reason, tries, due)
            shelf.leases.pop(content_hash, None)

    def retry(self, generation: int) -> int:
        """Make every passage that failed due now, as if never tried; how many there were."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            now = self._state.clock()
            shelf.failures = {
                key: Failure(failure.reason, 0, now) for key, failure in shelf.failures.items()
            }
            return len(shelf.failures)

    def due(self, generation: int) -> float | None:
        """Seconds until a lease ends or a failed passage is due; None if nobody waits for any."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            times = []
            wanted = {chunk.content_hash for _, chunk in self._passages()}
            for key in (shelf.leases.keys() | shelf.failures.keys()) & wanted:
                lease, failure = shelf.leases.get(key), shelf.failures.get(key)
                if failure is None or failure.next_try is not None:
                    until = lease.until if lease else 0.0
                    times.append(max(until, (failure and failure.next_try) or 0.0))
            return max(0.0, min(times) - self._state.clock()) if times else None

    def workers(self, generation: int) -> list[str]:
        """The workers that hold a lease, sorted."""
        with self._state.lock:
            return sorted({lease.worker for lease in self._state.shelf(generation).leases.values()})

    def release(self, generation: int, worker: str) -> None:
        """End all leases of a worker."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            held = shelf.leases.items()
            shelf.leases = {key: lease for key, lease in held if lease.worker != worker}

    def progress(self, generation: int) -> Progress:
        """How many distinct passages are ready, pending and failed; each is exactly one."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            wanted = {chunk.content_hash for _, chunk in self._passages()}
            missing = wanted - shelf.rows.keys()
            failed = missing & shelf.failures.keys()
            abandoned = sum(shelf.failures[key].next_try is None for key in failed)
            return Progress(
                len(wanted) - len(missing), len(missing) - len(failed), len(failed), abandoned
            )

    def failures(self, generation: int) -> dict[str, Failure]:
        """The failure of the first passage that failed, by document id."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            found: dict[str, Failure] = {}
            for document, chunk in self._without_vector(shelf):
                failure = shelf.failures.get(chunk.content_hash)
                if failure is not None:
                    found.setdefault(document.id, failure)
            return found

    def unembedded(self, generation: int) -> dict[str, int]:
        """Number of distinct passages without a vector of their own, by document id."""
        with self._state.lock:
            missing: dict[str, set[str]] = {}
            for document, chunk in self._without_vector(self._state.shelf(generation)):
                missing.setdefault(document.id, set()).add(chunk.content_hash)
            return {id: len(hashes) for id, hashes in missing.items()}

    def uncovered(self, generation: int) -> int:
        """How many passages have neither a vector nor one to borrow."""
        with self._state.lock:
            held = {row.text_hash for row in self._state.shelf(generation).rows.values()}
            return sum(
                chunk.text_hash not in held and chunk.lender not in held
                for _, chunk in self._passages()
            )

    def sweep(self) -> int:
        """Delete vectors that serve no chunk; a hidden document keeps its own for its return."""
        with self._state.lock:
            chunks = [chunk for held in self._state.documents.values() for chunk in held.chunks]
            return sum(_swept(shelf, chunks) for shelf in self._state.shelves.values())

    def _set_state(
        self, generation: int, state: GenerationState, reason: str | None = None
    ) -> None:
        shelf = self._state.shelf(generation)
        shelf.generation = replace(shelf.generation, state=state, reason=reason)
        self._state.changes += 1

    def _passages(self) -> Iterator[tuple[Document, Chunk]]:
        """Every chunk that can be found, by document id and position."""
        for prepared in self._state.visible():
            for chunk in sorted(prepared.chunks, key=lambda chunk: chunk.position):
                yield prepared.document, chunk

    def _without_vector(self, shelf: Shelf) -> Iterator[tuple[Document, Chunk]]:
        for document, chunk in self._passages():
            if chunk.content_hash not in shelf.rows:
                yield document, chunk


def _free(shelf: Shelf, content_hash: str, now: float) -> bool:
    lease = shelf.leases.get(content_hash)
    failure = shelf.failures.get(content_hash)
    return (lease is None or lease.until <= now) and _is_due(failure, now)


def _is_due(failure: Failure | None, now: float) -> bool:
    return failure is None or (failure.next_try is not None and failure.next_try <= now)


def _pending(document: Document, chunk: Chunk, tries: int) -> Pending:
    return Pending(
        content_hash=chunk.content_hash,
        text_hash=chunk.text_hash,
        title=document.title,
        headings=chunk.headings,
        text=document.body[chunk.start : chunk.end]
        or lead_text(document.description, document.summary, document.arguments),
        language=chunk.language,
        tries=tries,
        forms=chunk.forms,
    )


def _checked(vector: Vector, dimensions: int) -> Vector:
    """A copy of the vector, if it is one that may be stored."""
    import numpy as np

    copied = np.array(vector, dtype=np.float32)
    check_vectors(copied[np.newaxis], count=1, dimensions=dimensions)
    return copied


def _swept(shelf: Shelf, chunks: Iterable[Chunk]) -> int:
    donors = shelf.donors()
    serving = set()
    for chunk in chunks:
        own = chunk.content_hash in shelf.rows
        borrowed = donors.get(chunk.text_hash) or donors.get(chunk.lender or "")
        serving.add(chunk.content_hash if own else borrowed)
    idle = shelf.rows.keys() - serving
    for content_hash in idle:
        del shelf.rows[content_hash]
    return len(idle)
