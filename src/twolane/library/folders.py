"""Folders of notes: bringing them into the library, following them, links to their files."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.library.adapters import folder_changes, path_below, vault_files, vault_source
from twolane.model.deep_links import (
    deep_link,
    file_link,
    obsidian_link,
    obsidian_vault,
    tells_root,
)
from twolane.model.document import Batch, Collection
from twolane.model.errors import BadInput, MissingFolder, StoreBusy
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import Among
from twolane.ports.source import Source
from twolane.settings import Settings

if TYPE_CHECKING:
    # A search needs none of this, and it is slow to import.
    from twolane.ingest.indexing import Report
    from twolane.model.answer import Result
    from twolane.model.document import Document

log = logging.getLogger("twolane")


class Folders:
    """The folders that collections are read from."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._stores = stores
        self._settings = settings

    def index(
        self,
        root: str | os.PathLike[str],
        scope: Scope,
        *,
        prune: bool = False,
        progress: Callable[[Report], None] = lambda report: None,
    ) -> Report:
        """Bring the library in step with a folder."""
        folder = Path(root).expanduser()
        if not folder.is_dir():
            if prune and (gone := self._collection_at(folder)):
                return self._empty(gone)
            what = "is not a folder" if folder.exists() else "does not exist"
            raise MissingFolder(f"{folder} {what}; nothing was changed ({self._instead(folder)})")
        from twolane.ingest.indexing import Indexer

        collection = self._collection_at(folder) or self._new_collection(folder)
        self._hand_over(collection)
        return Indexer(self._stores, self._settings).index(
            self.source(folder), collection, scope, prune=prune, progress=progress
        )

    def source(self, folder: Path) -> Source:
        """The notes below a folder, by the patterns of its collection if it is one."""
        others = self._stores.documents.collections()
        return vault_source(folder, self._settings, self._collection_at(folder), others)

    def to_watch(self, roots: Iterable[str | os.PathLike[str]]) -> list[Path]:
        """These folders, or all that the library has; each of them is there."""
        folders = [Path(root).expanduser().resolve() for root in roots]
        folders = folders or list(self.roots().values())
        if not folders:
            raise BadInput("there is no folder to watch; name one, or index one first")
        for folder in folders:
            if not folder.is_dir():
                raise MissingFolder(f"{folder} is not a folder; nothing is watched")
        return folders

    def watch(
        self,
        folders: list[Path],
        scope: Scope,
        *,
        stop: threading.Event,
        polling: bool,
        changed: Callable[[Report], None],
    ) -> None:
        """Index each folder at once, then whenever something below it changes, until the stop."""
        missing: set[Path] = set()
        told: dict[Path, Report] = {}
        waiting = frozenset(folders)
        changes = folder_changes(folders, stop, self._settings, polling=polling)
        waiting = self._looked(waiting, missing, told, scope, changed)
        for noticed in changes:
            waiting = self._looked(noticed | waiting, missing, told, scope, changed)

    def roots(self) -> dict[str, Path]:
        """The folder of each collection that has one, by name."""
        return {
            collection.name: Path(collection.root)
            for collection in self._stores.documents.collections()
            if collection.root is not None
        }

    def links(
        self, documents: Iterable[Result | Document], *, roots: bool, plain: bool
    ) -> dict[str, str]:
        """Links that open the files of results or documents, by their ids."""
        template = self._settings.results.link_template
        if template and not roots and tells_root(template):
            return {}
        folders = self.roots()
        vaults = {} if template else {name: obsidian_vault(root) for name, root in folders.items()}
        links = {}
        for document in documents:
            folder = folders.get(document.collection)
            if document.path is None or folder is None:
                continue
            if template:
                links[document.id] = deep_link(
                    template,
                    root=folder,
                    path=document.path,
                    line=_line(document),
                    collection=document.collection,
                )
            elif vault := vaults[document.collection]:
                links[document.id] = obsidian_link(vault, folder / document.path)
            elif plain and roots:
                links[document.id] = file_link(folder, document.path)
        return links

    def _hand_over(self, collection: Collection) -> None:
        """Of folders inside each other, let the inner one alone have its notes.

        What the outer one holds of them goes; the next look at the folders finds all files again.
        """
        documents = self._stores.documents
        others = [one for one in documents.collections() if one.name != collection.name]
        pairs = [(collection, other) for other in others] + [
            (other, collection) for other in others
        ]
        for outer, inner in pairs:
            path = path_below(Path(outer.root), inner) if outer.root is not None else None
            if path is None:
                continue
            wanted = vault_files(inner, self._settings)
            known = {
                name: one
                for name, one in documents.known(outer.name).items()
                if name.startswith(f"{path}/") and wanted(name.removeprefix(f"{path}/"))
            }
            gone = [one.id for one in known.values() if one.id is not None]
            if known:
                documents.apply(Batch(outer.name, deletes=gone, forgotten=list(known)))

    def _looked(
        self,
        folders: frozenset[Path],
        missing: set[Path],
        told: dict[Path, Report],
        scope: Scope,
        changed: Callable[[Report], None],
    ) -> frozenset[Path]:
        """Look at the folders; those that could not be looked at now are to be tried again."""
        again = set()
        for folder in sorted(folders):
            try:
                report = self.index(folder, scope)
            except MissingFolder as error:
                if folder not in missing:
                    missing.add(folder)
                    log.warning("%s", error)
            except StoreBusy as error:
                log.warning("%s; %s is looked at again soon", error, folder)
                again.add(folder)
            else:
                missing.discard(folder)
                news = _news(report, told.get(folder))
                told[folder] = report
                if news.indexed or news.deleted or news.withheld or news.problems:
                    changed(news)
        return frozenset(again)

    def _collection_at(self, folder: Path) -> Collection | None:
        root = str(folder.resolve())
        known = self._stores.documents.collections()
        return next((collection for collection in known if collection.root == root), None)

    def _instead(self, folder: Path) -> str:
        """What to do where there is no such folder."""
        for collection in self._stores.documents.collections():
            if (
                collection.name == str(folder)
                and collection.root
                and Path(collection.root).is_dir()
            ):
                own = f"the folder of the collection {collection.name!r}"
                return f"{own} is {collection.root}: name that"
        return "--prune removes the notes of a folder that is gone"

    def _new_collection(self, folder: Path) -> Collection:
        """A collection named after its folder; a number keeps two folders of one name apart."""
        resolved = folder.resolve()
        taken = {collection.name: collection for collection in self._stores.documents.collections()}
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
            collection.name == name and collection.root is not None
            for collection in self._stores.documents.collections()
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


def _news(report: Report, before: Report | None) -> Report:
    """The report without what the look before said already."""
    if before is None:
        return report
    return replace(
        report,
        failed=max(0, report.failed - before.failed),
        withheld=0 if report.withheld == before.withheld else report.withheld,
        problems=[problem for problem in report.problems if problem not in before.problems],
    )


def _line(document: Result | Document) -> int:
    lines = getattr(document, "lines", None)
    return lines[0] if lines else 1
