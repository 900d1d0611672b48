"""How a library is: complete, sound, and able to search by meaning."""

from __future__ import annotations

from twolane.answers import Degradation, Lane
from twolane.completeness import FileStatus, Status, files_of, status_of
from twolane.errors import EmbedderUnavailable
from twolane.library.adapters import why_silent
from twolane.library.held import ALL, LOCAL, Held
from twolane.model import digest
from twolane.permissions import require
from twolane.scopes import Capability, Scope
from twolane.search import SWITCHED_OFF
from twolane.spaces import choose, serving


class Health(Held):
    """Counts, progress and checks."""

    def status(self, *, scope: Scope = LOCAL) -> Status:
        """How complete the index is."""
        return status_of(self._store, scope, self._degraded())

    def files(self, *, scope: Scope = LOCAL) -> list[FileStatus]:
        """What became of each file of each collection."""
        return files_of(self._store, scope)

    def served(self, *, scope: Scope = LOCAL) -> frozenset[str]:
        """Ids of the documents that meaning can find: by vectors of their own, or borrowed ones."""
        require(scope, Capability.SEARCH)
        generation = serving(self._store)
        if generation is None:
            return frozenset()
        import numpy as np

        # Everything that has a vector at all is as near to nothing as everything else.
        nothing = np.zeros(generation.space.dimensions, np.float32)
        found = self._store.nearest(generation.number, nothing, scope, limit=ALL, floor=-1.0)
        return frozenset(one.id for one in found)

    def digest(self) -> str:
        """A name for what is indexed: documents, how they were analysed, and the space.

        Two libraries made from the same notes with the same settings have the same digest.
        Vectors are not part of it: two machines may differ in their last digits.
        """
        held = [
            f"{known.id} {known.content_hash} {known.recipe} {self._passages(known.id)}"
            for collection in self._store.collections()
            for known in self._store.known(collection.name).values()
            if known.id is not None
        ]
        generation = serving(self._store)
        space = generation.space.fingerprint if generation else ""
        return digest("\n".join([*sorted(held), space]))

    def _passages(self, id: str) -> str:
        return " ".join(
            f"{chunk.start}-{chunk.end} {chunk.content_hash} {chunk.language}"
            for chunk in self._store.chunks(id)
        )

    def revision(self) -> str:
        """A name for all that a search can see; another one whenever any of it changes."""
        return self._store.revision()

    def check_embedder(self) -> str | None:
        """Why meaning does not work, or None if a query can be embedded."""
        return why_silent(self._embedders)

    def _degraded(self) -> tuple[Degradation, ...]:
        """What a search would say now about the lane of meaning; loads no model."""
        if not self.settings.semantic:
            return (Degradation(Lane.DENSE, SWITCHED_OFF),)
        try:
            remark = choose(self._store, self._embedders).remark
        except EmbedderUnavailable as error:
            remark = str(error)
        return (Degradation(Lane.DENSE, remark),) if remark else ()
