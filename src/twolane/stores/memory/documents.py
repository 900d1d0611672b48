"""The memory store's documents, their chunks and the ledger of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from twolane.errors import BadInput
from twolane.language import fold
from twolane.model import Batch, Chunk, Collection, Document, FileRecord, FileState, Prepared
from twolane.ports import Facets, Known, Stats
from twolane.scopes import Scope
from twolane.stores.memory.filtering import moment
from twolane.stores.memory.scoping import in_scope
from twolane.stores.memory.state import State


class MemoryDocuments:
    """The `Documents` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        with self._state.lock:
            return [collection for _, collection in sorted(self._state.collections.items())]

    def add_collection(self, collection: Collection) -> None:
        """Create the collection, or replace what is said of it; its documents stay."""
        with self._state.lock:
            self._state.collections[collection.name] = collection

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds, with hidden documents but without deleted ones.

        A file that is there again must be read again, so a deleted document is not known.
        """
        with self._state.lock:
            rows = self._state.ledger.get(collection, {})
            held = {path: Known(None, row.stamp, None) for path, row in rows.items()}
            for id, prepared in sorted(self._state.documents.items()):
                document = prepared.document
                if document.collection != collection or document.deleted:
                    continue
                if document.path is not None:
                    held[document.path] = Known(
                        id, prepared.stamp, document.content_hash, prepared.recipe
                    )
            return held

    def apply(self, *batches: Batch) -> None:
        """Make all changes, or none: in each batch deletes first, then upserts, then the ledger.

        Everything is worked out on copies, so a batch that raises half-way leaves no trace.
        """
        with self._state.lock:
            for batch in batches:
                self._state.demand_versions(batch.expected)
            documents, ledger = self._state.documents, dict(self._state.ledger)
            for batch in batches:
                if batch.collection not in self._state.collections:
                    raise BadInput(
                        f"there is no collection {batch.collection!r}; add it before its documents"
                    )
                documents = _changed_documents(documents, batch)
                rows = _changed_ledger(ledger.get(batch.collection, {}), batch)
                ledger[batch.collection] = rows
            secret = any(_keeps_secrets(batch) for batch in batches)
            self._state.documents, self._state.ledger = documents, ledger
            self._state.changes += 1
            if secret:
                self._state.forget_vectors()
                self._state.forget_forms()

    def document(self, id: str, scope: Scope) -> Document | None:
        """The document, or None if there is none in scope."""
        with self._state.lock:
            prepared = self._state.documents.get(id)
            return prepared.document if prepared and in_scope(prepared, scope) else None

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids that are not hidden."""
        with self._state.lock:
            held = self._state.documents
            found = [held[id].document for id in ids if id in held]
            return {document.id: document for document in found if not document.hidden}

    def chunks(self, id: str) -> list[Chunk]:
        """A document's chunks in order; none if it is hidden or absent."""
        with self._state.lock:
            prepared = self._state.documents.get(id)
            if prepared is None or prepared.document.hidden:
                return []
            return sorted(prepared.chunks, key=lambda chunk: chunk.position)

    def chunks_of(self, ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """The chunks of several documents, each in order."""
        with self._state.lock:
            found = {id: self.chunks(id) for id in ids}
        return {id: chunks for id, chunks in found.items() if chunks}

    def resolve(self, reference: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope whose id, else path, else URL, else folded title it is."""
        found = [prepared.document for prepared in self._scoped(scope)]
        for name in ("id", "path", "url"):
            named = [each.id for each in found if getattr(each, name) == reference]
            if named:
                return named
        return [each.id for each in found if fold(each.title) == fold(reference)]

    def aliased(self, name: str, scope: Scope) -> list[str]:
        """Ids of the documents in scope that have the name among their aliases."""
        found = [prepared.document for prepared in self._scoped(scope)]
        return [each.id for each in found if fold(name) in map(fold, each.aliases)]

    def ledger(self, collection: str) -> list[FileRecord]:
        """What became of each file, by path: its row, or else the document it gave."""
        with self._state.lock:
            rows = {
                prepared.document.path: FileRecord(
                    prepared.document.path, FileState.INDEXED, prepared.stamp
                )
                for prepared in self._state.visible()
                if prepared.document.collection == collection and prepared.document.path is not None
            }
            rows.update(self._state.ledger.get(collection, {}))
            return [rows[path] for path in sorted(rows)]

    def stats(self, scope: Scope) -> Stats:
        """Counts over the documents in scope; `languages` counts documents, `bytes` their text."""
        found = self._scoped(scope)
        languages = Counter(language for each in found for language in each.languages)
        return Stats(
            documents=len(found),
            chunks=sum(len(each.chunks) for each in found),
            languages=dict(sorted(languages.items())),
            bytes=sum(len(each.document.body.encode("utf-8", "replace")) for each in found),
        )

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""
        found = self._scoped(scope)
        spellings: dict[str, set[str]] = {}
        tagged: Counter[str] = Counter()
        for each in found:
            for tag in each.document.tags:
                spellings.setdefault(fold(tag), set()).add(tag)
            tagged.update({fold(tag) for tag in each.document.tags})
        return Facets(
            kinds=_sorted(Counter(each.document.kind.value for each in found)),
            collections=_sorted(Counter(each.document.collection for each in found)),
            tags=_sorted({min(spellings[key]): count for key, count in tagged.items()}),
            languages=_sorted(Counter(one for each in found for one in each.languages)),
        )

    def recent(self, scope: Scope, *, limit: int) -> list[str]:
        """Ids of the documents in scope, most recently updated first, undated ones last."""
        found = [prepared.document for prepared in self._scoped(scope)]
        dated = [(moment(each.updated), each.id) for each in found if each.updated is not None]
        # Sorting is stable in both directions, so equal times keep the order of ids.
        dated.sort(key=lambda pair: pair[0], reverse=True)
        undated = [each.id for each in found if each.updated is None]
        return ([id for _, id in dated] + undated)[:limit]

    def _scoped(self, scope: Scope) -> Sequence[Prepared]:
        with self._state.lock:
            return [each for each in self._state.visible() if in_scope(each, scope)]


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _changed_documents(held: dict[str, Prepared], batch: Batch) -> dict[str, Prepared]:
    documents = dict(held)
    for id in (*batch.deletes, *batch.purges):
        if id in documents and documents[id].document.collection == batch.collection:
            del documents[id]
    for given in batch.upserts:
        prepared, document = given, given.document
        if document.collection != batch.collection:
            raise BadInput(
                f"{document.id!r} belongs to the collection {document.collection!r}, "
                f"not {batch.collection!r}; put it into a batch of its own collection"
            )
        before = documents.get(document.id)
        if before is not None:
            # How often and when it was last used is written in no file.
            used = document.used or before.document.used
            uses = document.uses or before.document.uses
            prepared = replace(prepared, document=replace(document, used=used, uses=uses))
        documents[document.id] = prepared
    return documents


def _keeps_secrets(batch: Batch) -> bool:
    return bool(batch.purges) or any(one.document.encrypted for one in batch.upserts)


def _changed_ledger(held: dict[str, FileRecord], batch: Batch) -> dict[str, FileRecord]:
    gone = set(batch.forgotten) | {prepared.document.path for prepared in batch.upserts}
    rows = {path: row for path, row in held.items() if path not in gone}
    rows.update({record.path: record for record in batch.records})
    return rows
