"""Files that are known and gave no document that can be found."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from twolane.explain.diagnosis import Obstacle, ObstacleKind, Origin
from twolane.model.document import Collection
from twolane.model.errors import AmbiguousDocument
from twolane.model.problem import FileRecord, FileState
from twolane.model.scope import ANYWHERE, Capability, Scope
from twolane.model.values import dataclass
from twolane.ports.documents import DocumentStore, file_records
from twolane.ports.source import Source
from twolane.text.tokens import fold

# Collection, path, and what keeps the file out of every answer.
Missing = tuple[str, str, Obstacle]


def file_named(
    documents: DocumentStore, reference: str, scope: Scope, source: Callable[[Path], Source]
) -> Missing | None:
    """The file that the reference names, and why it is no document; None if there is none.

    The ledger knows no owners, so it is closed to a scope that has one;
    and only who may index may learn what lies in a folder unindexed (`source` lists a folder).
    """
    if scope.owner is not None:
        return None
    known = list(_known(documents))
    for fits in (_File.has_id, _File.has_path, _File.has_name):
        found = [file for file in known if fits(file, reference) and not file.shown(documents)]
        if len(found) > 1:
            raise AmbiguousDocument(reference, [file.id for file in found])
        if found:
            obstacle = Obstacle(ObstacleKind.EXCLUDED, Origin.INDEX, found[0].path, found[0].reason)
            return found[0].collection, found[0].path, obstacle
    if Capability.WRITE not in scope.capabilities:
        return None
    for collection in documents.collections():
        unindexed = _on_disk(collection, reference)
        if unindexed is not None:
            root, path = unindexed
            reason = f"the file is not in the index: {_left_out(source(root), path)}"
            obstacle = Obstacle(ObstacleKind.NOT_INDEXED, Origin.INDEX, path, reason)
            return collection.name, path, obstacle
    return None


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a collection knows, with its ledger row and its document, if it gave one."""

    collection: str
    path: str
    record: FileRecord | None
    document: str | None

    @property
    def id(self) -> str:
        return f"{self.collection}/{self.path}"

    @property
    def reason(self) -> str:
        state = self.record.state if self.record else None
        said = self.record.reason if self.record else ""
        if state == FileState.SKIPPED:
            return f"the file is left out: {said}"
        if state == FileState.FAILED:
            return f"the file could not be indexed: {said}"
        return "it is kept out of search"

    def shown(self, documents: DocumentStore) -> bool:
        """Whether it has a document that can be found after all, under another name."""
        return self.document is not None and bool(
            documents.get([self.document], ANYWHERE, frozenset())
        )

    def has_id(self, reference: str) -> bool:
        return self.id == reference

    def has_path(self, reference: str) -> bool:
        return self.path == reference

    def has_name(self, reference: str) -> bool:
        name = posixpath.splitext(posixpath.basename(self.path))[0]
        return fold(name) == fold(reference)


def _known(documents: DocumentStore) -> Iterator[_File]:
    for collection in documents.collections():
        files = documents.known(collection.name)
        records = {record.path: record for record in file_records(files)}
        for path, known in files.items():
            yield _File(collection.name, path, records.get(path), known.id)


def _on_disk(collection: Collection, reference: str) -> tuple[Path, str] | None:
    """The root of the collection and the path of a file in it, by id, path or place on disk."""
    if collection.root is None:
        return None
    root = Path(collection.root)
    for name in (reference.removeprefix(f"{collection.name}/"), reference):
        try:
            file = (root / name).resolve()
            found = file.is_relative_to(root) and file.is_file()
        except (OSError, ValueError):
            # A name that no file can have names no file.
            continue
        if found:
            return root, unicodedata.normalize("NFC", file.relative_to(root).as_posix())
    return None


def _left_out(source: Source, path: str) -> str:
    """Why a file that is there is not in the index."""
    offered = next((entry for entry in source.entries() if entry.path == path), None)
    if isinstance(offered, FileRecord):
        return offered.reason
    if offered is not None:
        return "it came after the last `twolane index`"
    return "an ignore file, or the settings `index.include` and `index.exclude`, leave it out"
