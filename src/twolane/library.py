"""The composition root: the one module that names concrete adapters.

from twolane import Library

with Library.open("notes.db") as library:
    library.index("~/notes")
    for result in library.search("how do I prune tomatoes").results:
        print(result.title, result.path)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from twolane.answers import Answer, Degradation, Lane, Mode
from twolane.completeness import FileStatus, Status, files_of, status_of
from twolane.errors import (
    BadInput,
    EmbedderError,
    EmbedderUnavailable,
    MissingFolder,
)
from twolane.lookup import named
from twolane.model import (
    Batch,
    Chunk,
    Collection,
    Document,
    Generation,
    Problem,
    Progress,
    digest,
)
from twolane.permissions import require
from twolane.ports import Embedder, Source, Store
from twolane.scopes import Capability, Scope
from twolane.search import Searcher
from twolane.settings import Settings, cache_path, database_path
from twolane.spaces import serving

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.diagnose import Diagnoser, Diagnosis
    from twolane.indexing import Report
    from twolane.pipeline import Filled
    from twolane.similar import SimilarAnswer, Similarities

# A local user may do everything with their own library.
LOCAL = Scope()

# No store holds as many documents.
_ALL = 2**31 - 1


class Library:
    """Documents and everything that can be asked of them; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        embedder: Embedder | None = None,
        no_embedder: str = "",
    ) -> None:
        self._store = store
        self.settings = settings
        self._embedder = embedder
        self._no_embedder = no_embedder or "no embedder is configured"
        self._searcher = Searcher(store, settings, embedder, self._no_embedder)

    @classmethod
    def open(
        cls,
        db: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
    ) -> Library:
        """Open the library in the database file, or create it unless told not to.

        Without arguments, the settings come from the user's file and environment.
        """
        chosen = settings or Settings.load().settings
        if db is not None:
            chosen = replace(chosen, db=Path(db).expanduser())
        from twolane.stores.sqlite import SqliteStore

        store = SqliteStore.open(
            database_path(chosen), create=create, busy_seconds=chosen.busy_seconds
        )
        embedder, reason = _embedder(chosen)
        return cls(store, chosen, embedder, reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the database; calling it twice is harmless."""
        self._searcher.close()
        self._store.close()

    def search(
        self,
        text: str,
        *,
        scope: Scope = LOCAL,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
    ) -> Answer:
        """The best documents for the query: by words, by meaning, or both."""
        wanted = _checked(limit, self.settings)
        return self._searcher.search(text, scope, mode=Mode(mode), limit=wanted)

    def why(
        self,
        text: str,
        reference: str,
        *,
        scope: Scope = LOCAL,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
    ) -> Diagnosis:
        """Why a document is, or is not, among the results of a query, and what would change it."""
        wanted = _checked(limit, self.settings)
        return self._diagnoser.why(text, reference, scope, mode=Mode(mode), limit=wanted)

    def similar(
        self,
        reference: str,
        *,
        scope: Scope = LOCAL,
        limit: int | None = None,
        exclude_linked: bool = False,
    ) -> SimilarAnswer:
        """The documents that are most similar to the one that an id, path, URL or title names."""
        return self._similarities.similar(
            reference, scope, limit=_checked(limit, self.settings), exclude_linked=exclude_linked
        )

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
            raise MissingFolder(
                f"{folder} {what}; nothing was changed "
                "(--prune removes the notes of a folder that is gone)"
            )
        from twolane.indexing import Indexer

        collection = self._collection_at(folder) or self._new_collection(folder)
        return Indexer(self._store, self.settings).index(
            self._source(folder), collection, scope, prune=prune, progress=progress
        )

    def embed(
        self,
        *,
        scope: Scope = LOCAL,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Filled:
        """Give every passage its vector; returns when nothing is left or the embedder is gone."""
        require(scope, Capability.WRITE)
        if self._embedder is None:
            raise EmbedderUnavailable(self._no_embedder)
        from twolane.pipeline import fill

        return fill(
            self._store,
            self._embedder,
            breadcrumb=self.settings.breadcrumb,
            progress=progress,
        )

    def document(self, reference: str, *, scope: Scope = LOCAL) -> Document:
        """The document that an id, path, URL or unique title names."""
        require(scope, Capability.SEARCH)
        return named(self._store, reference, scope)

    def documents(self, *, scope: Scope = LOCAL) -> Iterator[Document]:
        """The documents in scope, by id; read a batch at a time, so any number fits."""
        require(scope, Capability.SEARCH)
        ids = sorted(self._store.recent(scope, limit=_ALL))
        size = self.settings.batch
        batches = (self._store.documents(ids[at : at + size]) for at in range(0, len(ids), size))
        return (held[id] for held in batches for id in sorted(held))

    def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document."""
        return self._store.chunks(document.id)

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        return self._store.collections()

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
        found = self._store.nearest(generation.number, nothing, scope, limit=_ALL, floor=-1.0)
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

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database; empty when it is sound."""
        return self._store.check()

    def check_embedder(self) -> str | None:
        """Why meaning does not work, or None if a query can be embedded."""
        return _why_silent(self._embedder, self._no_embedder)

    @cached_property
    def _diagnoser(self) -> Diagnoser:
        from twolane.diagnose import Diagnoser

        return Diagnoser(self._store, self.settings, self._searcher, self._source)

    @cached_property
    def _similarities(self) -> Similarities:
        from twolane.similar import Similarities

        return Similarities(self._store, self.settings)

    def _degraded(self, generation: Generation | None) -> tuple[Degradation, ...]:
        if self._embedder is None:
            return (Degradation(Lane.DENSE, self._no_embedder),)
        if generation is None:
            return (Degradation(Lane.DENSE, "there are no vectors yet; run `twolane index`"),)
        if generation.space != self._embedder.space:
            reason = "the embedder has changed; run `twolane index` to fill the new space"
            return (Degradation(Lane.DENSE, reason),)
        return ()

    def _source(self, folder: Path) -> Source:
        from twolane.sources.vault import VaultSource

        return VaultSource(
            folder,
            include=self.settings.include,
            exclude=self.settings.exclude,
            max_bytes=self.settings.max_file_bytes,
        )

    def _collection_at(self, folder: Path) -> Collection | None:
        root = str(folder.resolve())
        return next((one for one in self._store.collections() if one.root == root), None)

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
        return Report(collection.name, deleted=len(gone))


def _checked(limit: int | None, settings: Settings) -> int:
    if limit is not None and limit < 1:
        raise BadInput("the number of results must be at least 1")
    return settings.limit if limit is None else limit


def engine() -> str:
    """The database engine under the default store, with its version."""
    import apsw

    return f"SQLite {apsw.sqlite_lib_version()}"


def embedder_problem(settings: Settings) -> str | None:
    """Why the embedder that the settings name does not work, whatever state the database is in."""
    return _why_silent(*_embedder(settings))


def _why_silent(embedder: Embedder | None, reason: str) -> str | None:
    """Why a query cannot be embedded, or None if it can; loads the model."""
    if embedder is None:
        return reason
    try:
        embedder.embed_query("twolane")
    except EmbedderError as error:
        return str(error)
    # An embedder is foreign code, and its failure is what is asked for here.
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return None


def _embedder(settings: Settings) -> tuple[Embedder | None, str]:
    """The embedder that the settings name, or the reason why there is none."""
    if settings.embedder == "none":
        return None, "semantic search is switched off (embedder = none)"
    try:
        embedder = _made(settings)
        # The space says without loading a model whether its package is there.
        _ = embedder.space
    except EmbedderUnavailable as error:
        return None, str(error)
    return embedder, ""


def _made(settings: Settings) -> Embedder:
    from twolane.chunking import CHUNKER

    if settings.embedder == "hashing":
        from twolane.embedders.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "e5":
        from twolane.embedders.e5 import E5Embedder

        return E5Embedder(chunker=CHUNKER)
    from twolane.embedders.use import UseEmbedder

    use = UseEmbedder(cache_path(settings) / "use", chunker=CHUNKER)
    if settings.embedder == "use":
        return use
    from twolane.embedders.e5 import E5Embedder
    from twolane.embedders.ensemble import EnsembleEmbedder

    return EnsembleEmbedder(use, E5Embedder(chunker=CHUNKER))
