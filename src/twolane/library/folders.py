"""Folders of notes: bringing them into the library."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.library.adapters import path_below, vault_files
from twolane.library.held import LOCAL, Held
from twolane.model.document import Batch, Collection
from twolane.model.errors import MissingFolder
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import Among

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.ingest.indexing import Report


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
        from twolane.ingest.indexing import Indexer

        collection = self._collection_at(folder) or self._new_collection(folder)
        self._hand_over(collection)
        return Indexer(self._stores, self.settings).index(
            self._source(folder), collection, scope, prune=prune, progress=progress
        )

    def _hand_over(self, collection: Collection) -> None:
        """Of folders inside each other, let the inner one alone have its notes.

        What the outer one holds of them goes; the next look at the folders finds all files again.
        """
        documents = self._stores.documents
        others = [one for one in documents.collections() if one.name != collection.name]
        pairs = [(collection, one) for one in others] + [(one, collection) for one in others]
        for outer, inner in pairs:
            path = path_below(Path(outer.root), inner) if outer.root is not None else None
            if path is None:
                continue
            wanted = vault_files(inner, self.settings)
            known = {
                name: one
                for name, one in documents.known(outer.name).items()
                if name.startswith(f"{path}/") and wanted(name.removeprefix(f"{path}/"))
            }
            gone = [one.id for one in known.values() if one.id is not None]
            if known:
                documents.apply(Batch(outer.name, deletes=gone, forgotten=list(known)))

    def _collection_at(self, folder: Path) -> Collection | None:
        root = str(folder.resolve())
        return next((one for one in self._stores.documents.collections() if one.root == root), None)

    def _instead(self, folder: Path) -> str:
        """What to do where there is no such folder."""
        for one in self._stores.documents.collections():
            if one.name == str(folder) and one.root and Path(one.root).is_dir():
                return f"the folder of the collection {one.name!r} is {one.root}: name that"
        return "--prune removes the notes of a folder that is gone"

    def _new_collection(self, folder: Path) -> Collection:
        """A collection named after its folder; a number keeps two folders of one name apart."""
        resolved = folder.resolve()
        taken = {one.name: one for one in self._stores.documents.collections()}
        name = stem = resolved.name or "root"
        number = 2
        while name in taken and not self._lost_its_folder(name):
            name = f"{stem}-{number}"
            number += 1
        held = taken.get(name)
        return replace(held, root=str(resolved)) if held else Collection(name, str(resolved))

    def _lost_its_folder(self, name: str) -> bool:
        """Whether the collection is one of files that `repair` made again: its folder is unknown.

        Only documents that were read from files have a stamp, and an id after their path.
        """
        if any(
            one.name == name and one.root is not None
            for one in self._stores.documents.collections()
        ):
            return False
        known = self._stores.documents.known(name)
        return bool(known) and all(
            one.stamp is not None and one.id in (None, f"{name}/{path}")
            for path, one in known.items()
        )

    def _empty(self, collection: Collection) -> Report:
        from twolane.ingest.indexing import Report

        known = self._stores.documents.known(collection.name)
        inside = Scope(collections=(collection.name,), archived=True)
        missing = self._stores.documents.list(inside, among=Among.DELETED)
        held = [one.id for one in known.values() if one.id is not None]
        gone = [*held, *(one.id for one in missing)]
        self._stores.documents.apply(Batch(collection.name, deletes=gone, forgotten=list(known)))
        self._stores.maintenance.settle()
        return Report(collection.name, deleted=len(gone))
