"""Keeps a cluster in step with a database: by its outbox, by a new build, by comparing both."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from qdrant_client import QdrantClient, models

from twolane.model.errors import BadInput, EngineUnavailable, TwolaneError
from twolane.model.scope import ANYWHERE, EVERYBODY
from twolane.ports import Stores
from twolane.ports.documents import Part
from twolane.ports.outbox import Lag, Outbox
from twolane.stores.qdrant.cluster import Cluster, not_there, scroll
from twolane.stores.qdrant.conditions import of_documents
from twolane.stores.qdrant.layout import Builds, Layout
from twolane.stores.qdrant.points import (
    older_than,
    passage_points,
    tombstone,
    traits,
    words_id,
    words_point,
)

log = logging.getLogger("twolane")

_PARTS = frozenset({Part.TEXT, Part.CHUNKS})

# How long a worker may be silent before another one takes its turn.
_LEASE_SECONDS = 60.0
# Writing may take longer than a search may wait.
_WRITE_SECONDS = 30
# So many batches are on their way to the cluster at a time while it is built anew.
_SENDERS = 2
# So many points are sent at a time; a long document has many.
_POINTS = 500
# How often the outbox is looked at, and how long a cluster is left alone that did not answer.
_POLL_SECONDS, _PAUSE_SECONDS = 0.5, 5.0
# So many documents are compared at a time.
_RANGE = 500


class Follower:
    """Brings what changed in the database to the cluster; safe to use from several threads.

    Everything is written with the number of a turn, and never over a larger one: so it is harmless
    to do it twice, late, or beside others.
    """

    def __init__(self, stores: Stores, outbox: Outbox, cluster: Cluster, layout: Layout) -> None:
        self.layout = layout
        self._stores = stores
        self._outbox = outbox
        self._cluster = cluster
        self._worker = uuid4().hex
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble: str | None = None

    # ------------------------------------------------------------------------- the outbox

    def start(self) -> None:
        """Follow in a thread of its own until `close`."""
        self._thread = threading.Thread(target=self._follow, name="qdrant", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following, and let the cluster go; calling it twice is harmless."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_WRITE_SECONDS)
            self._thread = None
        self._cluster.close()

    def lag(self) -> Lag:
        """How far the cluster is behind; nothing before it holds this library."""
        return self._outbox.lag() if self._outbox.is_on() else Lag()

    def drain(self, seconds: float) -> bool:
        """Bring all that waits to the cluster, for so many seconds; whether nothing is left.

        A cluster that does not answer is no error: what waits goes on waiting.
        """
        end = time.monotonic() + seconds
        try:
            while self.lag().changes:
                if time.monotonic() > end:
                    return False
                # Where another worker is at work, this one waits for it.
                if not self.step():
                    time.sleep(min(0.05, seconds))
        except TwolaneError as error:
            self.trouble = str(error)
            log.warning("Qdrant does not follow: %s", error)
            return False
        return True

    def step(self) -> bool:
        """Make the oldest changes; whether there were any to make."""
        with self._turn:
            size = self.layout.shape.batch
            turn = self._outbox.take(self._worker, limit=2 * size, lease=_LEASE_SECONDS)
            if turn is None:
                return False
            try:
                builds = self._settled(turn.number)
                for some in _batches(turn.ids, size):
                    self._write(some, turn.number, builds, builds.all)
                self._outbox.done(turn)
            finally:
                self._outbox.release(self._worker)
            self.trouble = None
            return True

    def _follow(self) -> None:
        pause = _POLL_SECONDS
        while not self._stop.wait(pause):
            try:
                pause = _POLL_SECONDS
                while self._outbox.is_on() and not self._stop.is_set() and self.step():
                    pass
            except TwolaneError as error:
                if self.trouble is None:
                    log.warning("Qdrant does not follow: %s", error)
                self.trouble = str(error)
                pause = _PAUSE_SECONDS
            # Whatever befalls one turn, the next one is tried.
            except Exception as error:
                log.exception("Qdrant does not follow")
                self.trouble = f"{type(error).__name__}: {error}"
                pause = _PAUSE_SECONDS

    def _settled(self, number: int) -> Builds:
        """The collections that are there, once they are those of the generations there are."""
        builds = self.layout.builds()
        if self.layout.alias(None) not in builds.asked:
            raise not_there()
        known = {one.number: one.space.dimensions for one in self._stores.vectors.generations()}
        there = {one.generation for one in builds.all.values()} - {None}
        if known.keys() == there:
            return builds
        self.layout.drop(
            name
            for name, one in builds.all.items()
            if one.generation is not None and one.generation not in known
        )
        for generation in known.keys() - there:
            name = self.layout.make(generation, number, known[generation])
            self.layout.ask_for([name], builds)
            # Vectors that came before their collection are told of again.
            if self._stores.vectors.sample(generation, size=1):
                self._outbox.again(self._ids())
        return self.layout.builds()

    # -------------------------------------------------------------------------- a new build

    def rebuild(self, on_batch: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Write every document into new collections, which then take over; how many there are.

        Searches and changes go on meanwhile: what changes is written to old and new ones.
        The old ones are kept, in step, until the next build.
        """
        # Nothing is recorded for a cluster that holds another database.
        before = self.layout.builds()
        self._outbox.switch(on=True)
        number = self._outbox.number()
        # What a build left behind that did not end, and the one before the last.
        self.layout.drop(set(before.all) - set(before.asked.values()))
        words = self.layout.make(None, number)
        dense = [
            self.layout.make(one.number, number, one.space.dimensions, to_fill=True)
            for one in self._stores.vectors.generations()
        ]
        fresh = [words, *dense]
        builds = self.layout.builds()
        ids = self._ids()
        done = 0
        # The next documents are read while the last ones are written.
        with ThreadPoolExecutor(_SENDERS, "qdrant-build") as senders:
            sent: deque[Future[int]] = deque()
            for some in (*_batches(ids, self.layout.shape.batch), ()):
                if some:
                    made = self._made(some, self._outbox.number(), builds, fresh)
                    sent.append(senders.submit(self._send, made))
                while sent and (len(sent) > _SENDERS or not some):
                    done += sent.popleft().result()
                    on_batch(done, len(ids))
        self.layout.finish(words, dense)
        self.layout.ask_for(fresh, builds)
        return done

    def roll_back(self) -> None:
        """Let the collections of the build before answer again; the newer ones are kept."""
        builds = self.layout.builds()
        others = sorted(set(builds.all) - set(builds.asked.values()))
        if not builds.of(None, others):
            raise BadInput("Qdrant holds no other build of this library to go back to")
        self.layout.ask_for(others, builds)

    # ------------------------------------------------------------------------------- writing

    def _write(
        self, ids: Sequence[str], number: int, builds: Builds, targets: Iterable[str]
    ) -> None:
        """Write documents as they are now, or that they are gone, and never over newer ones."""
        self._send(self._made(ids, number, builds, targets))

    def _made(
        self, ids: Sequence[str], number: int, builds: Builds, targets: Iterable[str]
    ) -> _Made:
        """What is to be written of documents, read now, after the number was drawn."""
        names = list(targets)
        words = builds.of(None, names)
        stored = self._stores.documents.get(ids, ANYWHERE, _PARTS)
        streams = self._outbox.streams(ids)
        average = sum(
            self._stores.lexical.document_frequencies((), EVERYBODY).average_lengths.values()
        )
        live = sorted(set(stored) & set(streams))
        carried = {id: traits(stored[id], streams[id], number) for id in live}
        points: dict[str, list[models.PointStruct]] = {}
        if words:
            told = [words_point(carried[id], streams[id], average) for id in live]
            points |= dict.fromkeys(words, told)
        for generation in {builds.all[name].generation for name in names} - {None}:
            assert generation is not None
            vectors = self._stores.vectors.get(generation, live)
            made = [
                point
                for id in live
                for point in passage_points(carried[id], generation, vectors.get(id, ()))
            ]
            points |= dict.fromkeys(builds.of(generation, names), made)
        return _Made(tuple(ids), number, frozenset(live), tuple(words), points)

    def _send(self, made: _Made) -> int:
        """Write points over older ones, and drop what else is older of their documents.

        How many documents that were.
        """
        gone = [tombstone(id, made.number) for id in sorted(set(made.ids) - made.live)]
        for name in made.words:
            self._upsert(name, [*made.points[name], *gone], made.number)
        for name in made.points.keys() - set(made.words):
            self._upsert(name, made.points[name], made.number)
            self._delete_older(name, made.ids, made.number)
        late = self._overtaken(made.ids, made.number, made.words)
        if late:
            self._outbox.again(late)
        return len(made.ids)

    def _upsert(self, name: str, points: Sequence[models.PointStruct], number: int) -> None:
        def write(client: QdrantClient) -> None:
            for some in _batches(points, _POINTS):
                client.upsert(name, list(some), wait=True, update_filter=older_than(number))

        self._cluster.ask(write, seconds=_WRITE_SECONDS)

    def _delete_older(self, name: str, ids: Sequence[str], number: int) -> None:
        old = models.FilterSelector(filter=older_than(number, of=ids))
        self._cluster.ask(
            lambda client: client.delete(name, old, wait=True), seconds=_WRITE_SECONDS
        )

    def _overtaken(self, ids: Sequence[str], number: int, words: Sequence[str]) -> list[str]:
        """Documents that somebody else has written with a larger number meanwhile.

        What this one wrote of them may be too late, so that they are written once more.
        """
        points = {words_id(id): id for id in ids}

        def newer(client: QdrantClient) -> set[str]:
            found = [
                point
                for name in words
                for point in client.retrieve(name, list(points), with_payload=["version"])
            ]
            return {points[str(one.id)] for one in found if one.payload["version"] > number}

        return sorted(self._cluster.ask(newer))

    def _ids(self) -> list[str]:
        return [one.id for one in self._stores.documents.list(ANYWHERE)]

    # ----------------------------------------------------------------------------- comparing

    def differences(self) -> list[str]:
        """Ids of documents of which the cluster holds something else than the database.

        What waits in the outbox is brought there first.
        """
        if not self._outbox.is_on():
            raise not_there()
        if not self.drain(_WRITE_SECONDS):
            lag = self.lag()
            why = self.trouble or "it follows, but is not done yet; look again later"
            raise EngineUnavailable(f"{lag.changes} changes wait for Qdrant: {why}")
        builds = self.layout.builds()
        names = sorted(builds.asked.values())
        if not builds.of(None, names):
            raise not_there()
        ids = self._ids()
        wrong: list[str] = []
        for some in _batches(ids, _RANGE):
            made = self._made(some, 0, builds, names)
            for name in names:
                wrong += _different(made.points.get(name, ()), self._digests(name, some))
        known = set(ids)
        for name in names:
            wrong += self._strays(name, known)
        return sorted(set(wrong))

    def mend(self) -> list[str]:
        """Queue the documents that differ, and bring them to the cluster; their ids."""
        wrong = self.differences()
        if wrong:
            self._outbox.again(wrong)
            self.drain(_WRITE_SECONDS)
        return wrong

    def _digests(self, name: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The documents and digests of the points of these documents, by point."""
        found = scroll(self._cluster, name, of_documents(ids), ["document", "digest"])
        payloads = [(str(point.id), point.payload or {}) for point in found]
        return {place: (payload["document"], payload["digest"]) for place, payload in payloads}

    def _strays(self, name: str, known: set[str]) -> set[str]:
        """Documents that a collection holds and the database does not."""
        told = models.IsEmptyCondition(is_empty=models.PayloadField(key="document"))
        named = models.Filter(must_not=[told])
        found = scroll(self._cluster, name, named, ["document"])
        return {point.payload["document"] for point in found} - known


@dataclass(frozen=True, slots=True)
class _Made:
    """Points of documents as they should be, by collection, as of a number.

    `live` are those of the documents that can be found, `words` the collections with words.
    """

    ids: tuple[str, ...]
    number: int
    live: frozenset[str]
    words: tuple[str, ...]
    points: Mapping[str, Sequence[models.PointStruct]]


def _different(
    points: Sequence[models.PointStruct], held: Mapping[str, tuple[str, str]]
) -> set[str]:
    """Ids of documents whose points are missing, too many, or not what they should be."""
    wanted = {str(one.id): (one.payload["document"], one.payload["digest"]) for one in points}
    return {id for _, (id, _) in wanted.items() ^ held.items()}


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[at : at + size] for at in range(0, len(items), size))
