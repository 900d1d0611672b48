"""How a library is: complete, sound, and able to search by meaning."""

from __future__ import annotations

from twolane.answers import Degradation, Lane
from twolane.completeness import FileStatus, Status, files_of, status_of
from twolane.library.adapters import why_silent
from twolane.library.held import ALL, LOCAL, Held
from twolane.model import Generation, Problem, Progress, digest
from twolane.permissions import require
from twolane.scopes import Capability, Scope
from twolane.spaces import serving


class Health(Held):
    """Counts, progress and checks."""

    def status(self, *, scope: Scope = LOCAL) -> Status:
        """How complete the index is."""
        return status_of(self._store, scope, self._degraded)

    def files(self, *, scope: Scope = LOCAL) -> list[FileStatus]:
        """What became of each file of each collection."""
        return files_of(self._store, scope)

    def generations(self) -> list[tuple[Generation, Progress]]:
        """Every set of vectors, oldest first, with how complete it is."""
        return [(one, self._store.progress(one.number)) for one in self._store.generations()]

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
        """
        held = [
            f"{known.id} {known.content_hash} {known.recipe}"
            for collection in self._store.collections()
            for known in self._store.known(collection.name).values()
            if known.id is not None
        ]
        generation = serving(self._store)
        space = generation.space.fingerprint if generation else ""
        return digest("\n".join([*sorted(held), space]))

    def revision(self) -> str:
        """A name for all that a search can see; another one whenever any of it changes."""
        return self._store.revision()

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database; empty when it is sound."""
        return self._store.check()

    def check_embedder(self) -> str | None:
        """Why meaning does not work, or None if a query can be embedded."""
        return why_silent(self._embedder, self._no_embedder)

    def _degraded(self, generation: Generation | None) -> tuple[Degradation, ...]:
        if self._embedder is None:
            return (Degradation(Lane.DENSE, self._no_embedder),)
        if generation is None:
            return (Degradation(Lane.DENSE, "there are no vectors yet; run `twolane index`"),)
        if generation.space != self._embedder.space:
            reason = "the embedder has changed; run `twolane index` to fill the new space"
            return (Degradation(Lane.DENSE, reason),)
        return ()
