"""A library as a copy in another store: from a file to a server, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from twolane.library.completeness import index_digest
from twolane.model.document import Batch, Prepared
from twolane.model.errors import BadInput, StoreError
from twolane.model.scope import ANYWHERE, Capability
from twolane.model.space import GenerationState
from twolane.model.tokens import make
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Among, KeepBoilerplate, Part, PutCollection, Stored
from twolane.ports.vectors import NewVector
from twolane.settings import Settings

_ALL_PARTS = frozenset(Part)


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds."""

    documents: int
    vectors: int
    digest: str


class Copier:
    """Puts all that a library keeps into another one."""

    def __init__(self, stores: Stores, target: Stores, settings: Settings) -> None:
        self._stores = stores
        self._target = target
        self._settings = settings

    def copy(self, on_batch: Callable[[int, int], None]) -> Copied:
        """Copy everything, and verify it; `on_batch` is told how many documents of how many."""
        target = self._target
        if target.documents.collections() or target.vectors.generations():
            raise BadInput(
                f"{target.maintenance.location} holds a library already; copy into an empty one"
            )
        held = self._ids()
        for collection in self._stores.documents.collections():
            target.documents.apply(PutCollection(collection))
        done = 0
        for some in self._batches(held):
            self._copy_documents(some)
            done += len(some)
            on_batch(done, len(held))
        for collection in self._stores.documents.collections():
            known = self._stores.documents.known(collection.name).values()
            records = [one.record for one in known if one.record is not None]
            target.documents.apply(Batch(collection.name, records=records))
        target.documents.apply(KeepBoilerplate(self._stores.documents.boilerplate()))
        vectors = self._copy_vectors(held)
        self._copy_tokens()
        target.maintenance.settle()
        digest = index_digest(target, self._settings)
        if digest != index_digest(self._stores, self._settings):
            raise StoreError(
                f"the copy in {target.maintenance.location} is not what was copied; was something "
                "written meanwhile? Empty it and copy again"
            )
        return Copied(done, vectors, digest)

    def _ids(self) -> list[str]:
        documents = self._stores.documents
        return [
            one.id
            for among in (Among.KEPT, Among.DELETED)
            for one in documents.list(ANYWHERE, among=among)
        ]

    def _batches(self, ids: Sequence[str]) -> Iterator[Sequence[str]]:
        size = self._settings.index.batch
        return (ids[at : at + size] for at in range(0, len(ids), size))

    def _copy_documents(self, ids: Sequence[str]) -> None:
        found = self._stores.documents.get(ids, parts=_ALL_PARTS)
        named = sorted({one.document.collection for one in found.values()})
        for name in named:
            known = self._stores.documents.known(name)
            upserts = []
            for one in found.values():
                if one.document.collection == name:
                    path = known.get(one.document.path or "")
                    upserts.append(self._prepared(one, path.stamp if path else None))
            self._target.documents.apply(Batch(name, upserts=upserts))

    def _prepared(self, stored: Stored, stamp: object) -> Prepared:
        """The document as it was stored; only its stems are made anew, which no store tells."""
        from twolane.ingest.analysis import prepare
        from twolane.model.problem import Stamp

        stems = prepare(stored.document, self._settings).stems
        return Prepared(
            stored.document,
            stored.chunks,
            stems,
            stamp if isinstance(stamp, Stamp) else None,
            stored.analyzer_version,
            stored.sketch,
        )

    def _copy_tokens(self) -> None:
        """Copy the tokens; where all are revoked, nobody gets into the copy without one, either."""
        mine, theirs = self._stores.tokens, self._target.tokens
        held = mine.tokens()
        theirs.add_tokens(held)
        if mine.had_tokens() and not held:
            now = datetime.now(UTC)
            last, _ = make(
                "revoked", owner=None, capabilities=[Capability.SEARCH], expires=None, now=now
            )
            theirs.add_tokens([last])
            theirs.revoke_token(last.id)

    def _copy_vectors(self, ids: Sequence[str]) -> int:
        mine, theirs = self._stores.vectors, self._target.vectors
        states: dict[int, GenerationState | None] = {}
        count = 0
        for generation in mine.generations():
            number = theirs.open_generation(generation.space).number
            states[number] = generation.state
            if generation.answered_by:
                theirs.note_model(number, generation.answered_by)
            means = mine.means(generation.number)
            if means:
                theirs.add(number, [], means=means)
            for some in self._batches(ids):
                new = self._new_vectors(generation.number, some)
                theirs.add(number, new.values())
                count += len(new)
        if states:
            theirs.set_state(states)
        return count

    def _new_vectors(self, generation: int, ids: Sequence[str]) -> dict[str, NewVector]:
        """The vectors of these documents' passages by content; equal passages share one."""
        parts = frozenset({Part.CHUNKS})
        chunks = self._stores.documents.get(ids, parts=parts)
        found = {}
        for id, vectors in self._stores.vectors.get(generation, ids).items():
            hashes = {chunk.position: chunk.content_hash for chunk in chunks[id].chunks}
            for each in vectors:
                content = hashes[each.position]
                found[content] = NewVector(content, each.vector, each.sentences)
        return found
