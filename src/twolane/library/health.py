"""How a library is: complete, sound, and able to search by meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from twolane.embedding.spaces import choose
from twolane.library.adapters import why_silent
from twolane.library.completeness import FileStatus, Status, embedded_at, files_of, status_of
from twolane.library.held import ALL, LOCAL, Held
from twolane.model.answer import Degradation, Lane
from twolane.model.document import Chunk, digest
from twolane.model.errors import EmbedderUnavailable
from twolane.model.permissions import require
from twolane.model.scope import ANYWHERE, Capability, Scope
from twolane.ports.documents import Among, Part, Stored
from twolane.ports.generations import revision, serving
from twolane.ranking.search import SWITCHED_OFF

_WITH_CHUNKS = frozenset({Part.TEXT, Part.CHUNKS})


class Health(Held):
    """Counts, progress and checks."""

    def status(self, *, scope: Scope = LOCAL) -> Status:
        """How complete the index is."""
        return status_of(self._stores, scope, self._degraded())

    def files(self, *, scope: Scope = LOCAL) -> list[FileStatus]:
        """What became of each file and each saved document of each collection."""
        return files_of(self._stores, scope, batch=self.settings.index.batch)

    def embedded_at(self, id: str, *, scope: Scope = LOCAL) -> datetime | None:
        """When the last passage of a document got its vector; None while any lacks one."""
        require(scope, Capability.SEARCH)
        return embedded_at(self._stores, id, scope)

    def served(self, *, scope: Scope = LOCAL) -> frozenset[str]:
        """Ids of the documents that meaning can find: those with vectors."""
        require(scope, Capability.SEARCH)
        generation = serving(self._stores)
        if generation is None:
            return frozenset()
        import numpy as np

        # Everything that has a vector at all is as near to nothing as everything else.
        nothing = np.zeros(generation.space.dimensions, np.float32)
        found = self._stores.vectors.nearest(generation.number, nothing, scope, limit=ALL)
        return frozenset(one.id for one in found)

    def digest(self) -> str:
        """A name for what is indexed: documents, how they were analysed, and the space.

        Two libraries made from the same notes and saves with the same settings have the same.
        Vectors are not part of it: two machines may differ in their last digits.
        Nor is what a save notes of its day: times, uses, versions; nor which lines are
        boilerplate, because that depends on what else was there when it was detected.
        """
        documents = self._stores.documents
        ids = [one.id for one in documents.list(ANYWHERE, among=Among.KEPT)]
        rooted = {one.name for one in documents.collections() if one.root is not None}
        held = []
        for at in range(0, len(ids), self.settings.index.batch):
            some = ids[at : at + self.settings.index.batch]
            for id, one in documents.get(some, parts=_WITH_CHUNKS).items():
                # What is hidden is told by its text alone.
                chunks = () if one.document.hidden else self._as_read(one)
                version = one.analyzer_version
                line = f"{id} {one.document.content_hash} {version} {_spans(chunks)}"
                # The hash of a file covers its front matter; a saved document has none.
                held.append(line if one.document.collection in rooted else line + _beside(one))
        generation = serving(self._stores)
        space = generation.space.fingerprint if generation else ""
        return digest("\n".join([*sorted(held), space]))

    def _as_read(self, stored: Stored) -> Sequence[Chunk]:
        """The passages of a document as they are before any boilerplate is left out of them."""
        if not any(one.boilerplate for one in stored.chunks):
            return stored.chunks
        from twolane.ingest.analysis import reworded

        return reworded(stored.document, stored.chunks, self.settings, frozenset())

    def revision(self) -> str:
        """A name for all that a search can see; another one whenever any of it changes."""
        return revision(self._stores)

    def check_embedder(self) -> str | None:
        """Why meaning does not work, or None if a query can be embedded."""
        return why_silent(self._embedders)

    def _degraded(self) -> tuple[Degradation, ...]:
        """What a search would say now about the lane of meaning; loads no model."""
        if not self.settings.search.semantic:
            return (Degradation(Lane.DENSE, SWITCHED_OFF),)
        try:
            remark = choose(self._stores, self._embedders).remark
        except EmbedderUnavailable as error:
            remark = str(error)
        return (Degradation(Lane.DENSE, remark),) if remark else ()


def _spans(chunks: Sequence[Chunk]) -> str:
    return " ".join(
        f"{chunk.start}-{chunk.end} {chunk.content_hash} {chunk.language}" for chunk in chunks
    )


def _beside(stored: Stored) -> str:
    """What was saved beside the texts."""
    one = stored.document
    flags = [one.searchable, one.archived, one.encrypted]
    said = [one.collection, one.kind, one.path, one.owner, one.tags, flags, dict(one.properties)]
    return " " + json.dumps(said, sort_keys=True)
