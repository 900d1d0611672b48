"""Folders of notes: bringing them into the library."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.errors import MissingFolder
from twolane.library.held import LOCAL, Held
from twolane.model import Batch, Collection
from twolane.permissions import require
from twolane.scopes import Capability, Scope

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.indexing import Report


class Folders(Held):
    """The way from files to documents."""

    def index(
        self,
        root: str | os.PathLike[str],
        *,
        scope: Scope = LOCAL,
        prune: bool = False,
        progress: Callable[[Report], None] = lambda report: None,
    ) -> Report:
        """Bring the library in step with a folder of Markdown notes; text only, no vectors."""
        require(scope, Capability.WRITE)
        folder = Path(root).expanduser()
        if not folder.is_dir():
            if prune and (gone := self._collection_at(folder)):
                return self._empty(gone)
            what = "is not a folder" if folder.exists() else "does not exist"
            raise MissingFolder(f"{folder} {what}; nothing was changed ({self._instead(folder)})")
        from twolane.indexing import Indexer

        collection = self._collection_at(folder) or self._new_collection(folder)
        return Indexer(self._store, self.settings).index(
            self._source(folder), collection, scope, prune=prune, progress=progress
        )

    def _collection_at(self, folder: Path) -> Collection | None:
        root = str(folder.resolve())
        return next((one for one in self._store.collections() if one.root == root), None)

    def _instead(self, folder: Path) -> str:
        """What to do where there is no such folder."""
        for one in self._store.collections():
            if one.name == str(folder) and one.root and Path(one.root).is_dir():
                return f"the folder of the collection {one.name!r} is {one.root}: name that"
        return "--prune removes the notes of a folder that is gone"

    def _new_collection(self, folder: Path) -> Collection:
        """A collection named after its folder; a number keeps two folders of one name apart."""
        resolved = folder.resolve()
        taken = {one.name for one in self._store.collections()}
        name = stem = resolved.name or "root"
        number = 2
        while name in taken:
            name = f"{stem}-{number}"
            number += 1
        return Collection(name, str(resolved))

    def _empty(self, collection: Collection) -> Report:
        from twolane.indexing import Report

        known = self._store.known(collection.name)
        gone = [one.id for one in known.values() if one.id is not None]
        self._store.apply(Batch(collection.name, deletes=gone, forgotten=list(known)))
        self._store.settle()
        return Report(collection.name, deleted=len(gone))
