"""The memory store's work that is left: which passages lack a vector, who is at it, what failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from twolane.ingest.chunking import lead_text
from twolane.model.document import Chunk, Document
from twolane.model.scope import EVERYBODY, Scope
from twolane.model.space import Failure, Jobs, Pending, Progress
from twolane.ports.queue import LONGEST_LEASE_SECONDS, LONGEST_RETRY_SECONDS
from twolane.stores.memory.matching import is_owned
from twolane.stores.memory.state import Lease, Shelf, State


class MemoryQueue:
    """The `EmbeddingQueue` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

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

    def complete(
        self, generation: int, content_hashes: Sequence[str], *, rate: float | None = None
    ) -> None:
        """The passages have their vectors: end their leases and forget that they failed."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            for content_hash in content_hashes:
                shelf.leases.pop(content_hash, None)
                shelf.failures.pop(content_hash, None)
            shelf.rate = shelf.rate if rate is None else rate

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

    def release(self, generation: int, worker: str | None = None) -> None:
        """End all leases of a worker; without one, make all that failed due."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            if worker is None:
                now = self._state.clock()
                shelf.failures = {
                    key: Failure(one.reason, 0, now) for key, one in shelf.failures.items()
                }
            else:
                held = shelf.leases.items()
                shelf.leases = {key: lease for key, lease in held if lease.worker != worker}

    def listen(self, wake: Callable[[], None]) -> None:
        """Nothing: there is no other process."""

    def jobs(self, generation: int) -> Jobs:
        """What is under way and what failed."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            return Jobs(
                tuple(sorted({lease.worker for lease in shelf.leases.values()})),
                self._due(shelf),
                self.progress(generation).abandoned,
                shelf.rate,
            )

    def progress(
        self, generation: int, scope: Scope = EVERYBODY, *, detail: bool = False
    ) -> Progress:
        """How far the generation is; each passage is in exactly one state."""
        with self._state.lock:
            shelf = self._state.shelf(generation)
            theirs = [
                (document, chunk)
                for document, chunk in self._state.passages()
                if is_owned(document, scope)
            ]
            wanted = {chunk.content_hash for _, chunk in theirs}
            missing = wanted - shelf.rows.keys()
            failed = missing & shelf.failures.keys()
            languages: dict[str, set[str]] = {}
            waiting: dict[str, set[str]] = {}
            failures: dict[str, Failure] = {}
            embedded: dict[str, float] = {}
            for document, chunk in theirs:
                if chunk.language is not None:
                    languages.setdefault(chunk.language, set()).add(chunk.content_hash)
                if chunk.content_hash in missing:
                    waiting.setdefault(document.id, set()).add(chunk.content_hash)
                if chunk.content_hash in failed:
                    failures.setdefault(document.id, shelf.failures[chunk.content_hash])
                if chunk.content_hash not in missing:
                    at = shelf.rows[chunk.content_hash].at
                    embedded[document.id] = max(at, embedded.get(document.id, at))
            if scope.documents:
                named = set(scope.documents)
                waiting = {id: keys for id, keys in waiting.items() if id in named}
                failures = {id: one for id, one in failures.items() if id in named}
                embedded = {id: at for id, at in embedded.items() if id in named}
            return Progress(
                len(wanted) - len(missing),
                len(missing) - len(failed),
                len(failed),
                sum(shelf.failures[key].next_try is None for key in failed),
                {language: len(keys) for language, keys in languages.items()},
                shelf.rate,
                {id: len(keys) for id, keys in waiting.items()} if detail else {},
                failures if detail else {},
                {id: at for id, at in embedded.items() if detail and id not in waiting},
            )

    def _due(self, shelf: Shelf) -> float | None:
        times = []
        now = self._state.clock()
        wanted = {chunk.content_hash for _, chunk in self._state.passages()}
        for key in (shelf.leases.keys() | shelf.failures.keys()) & wanted:
            lease, failure = shelf.leases.get(key), shelf.failures.get(key)
            if failure is None or failure.next_try is not None:
                until = lease.until if lease and _binds(lease, now) else 0.0
                due = (failure and failure.next_try) or 0.0
                times.append(max(until, due if due <= now + LONGEST_RETRY_SECONDS else 0.0))
        return max(0.0, min(times) - self._state.clock()) if times else None

    def _without_vector(self, shelf: Shelf) -> Iterator[tuple[Document, Chunk]]:
        for document, chunk in self._state.passages():
            if chunk.content_hash not in shelf.rows:
                yield document, chunk


def _free(shelf: Shelf, content_hash: str, now: float) -> bool:
    lease = shelf.leases.get(content_hash)
    failure = shelf.failures.get(content_hash)
    return (failure is None or _is_due(failure, now)) and (lease is None or not _binds(lease, now))


def _binds(lease: Lease, now: float) -> bool:
    return now < lease.until <= now + LONGEST_LEASE_SECONDS


def _is_due(failure: Failure, now: float) -> bool:
    at = failure.next_try
    return at is not None and (at <= now or at > now + LONGEST_RETRY_SECONDS)


def _pending(document: Document, chunk: Chunk, tries: int) -> Pending:
    return Pending(
        content_hash=chunk.content_hash,
        document=document.id,
        position=chunk.position,
        title=document.title,
        headings=chunk.headings,
        text=document.body[chunk.start : chunk.end]
        or lead_text(document.description, document.summary, document.arguments),
        language=chunk.language,
        tries=tries,
        boilerplate=chunk.boilerplate,
    )
