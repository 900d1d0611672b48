"""A library: documents, and everything that can be asked of them or done to them.

from twolane import Library

with Library.open("notes.db") as library:
    library.index("~/notes")
    for result in library.search("how do I prune tomatoes").results:
        print(result.title, result.path)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from twolane.embedding.spaces import Embedders
from twolane.library.adapters import (
    embedder_problem,
    engine,
    keep_copy,
    open_embedders,
    open_feedback_log,
    open_stores,
    restore_backup,
    schema_of,
    with_threshold,
)
from twolane.library.asking import Questions
from twolane.library.collecting import Collections
from twolane.library.completeness import (
    FileStatus,
    Status,
    dense_degradation,
    embedded_at,
    files_of,
    index_digest,
    status_of,
    with_vectors,
)
from twolane.library.embedding import Embedded, Embedding
from twolane.library.exchanging import Exchange
from twolane.library.folders import Folders
from twolane.library.stages import Stages
from twolane.model.answer import Answer, Degradation, Lane, Mode, ModeName, Order, mode_of
from twolane.model.document import EMPTY, Chunk, Collection, Document, Kind
from twolane.model.draft import Changes, Draft, Once, Saved
from twolane.model.errors import BadInput, Conflict, NoSuchDocument
from twolane.model.problem import Problem
from twolane.model.scope import ANYWHERE, Capability, Scope, require
from twolane.model.space import Generation, GenerationState, Progress
from twolane.model.tokens import Token, id_in, make, opens
from twolane.ports import Stores
from twolane.ports.documents import Among, Facets, Part
from twolane.ports.embedder import Embedder
from twolane.ports.feedback import FeedbackLog, Opened
from twolane.ports.generations import revision, serving
from twolane.ports.outbox import Lag
from twolane.query.lookup import named, near_names
from twolane.ranking.search import Searcher
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.embedding.pipeline.switching import Gate
    from twolane.embedding.pipeline.worker import Worker
    from twolane.explain.diagnosis import Diagnosis
    from twolane.explain.similar import Similar, SimilarAnswer
    from twolane.ingest.exchange.rows import ImportReport
    from twolane.ingest.indexing import Report
    from twolane.ingest.saving import Saver
    from twolane.library.copying import Copied
    from twolane.library.fetching import FetchReport
    from twolane.model.answer import Result
    from twolane.model.candidate import Candidate
    from twolane.ports.vectors import Vector
    from twolane.ranking.phrasings import Phrasings
    from twolane.results.excerpts import Excerpt

    AnyPath = str | os.PathLike[str]
    Ids = str | Sequence[str]
    Show = Callable[[ImportReport], None]

__all__ = [
    "LOCAL",
    "Library",
    "embedder_problem",
    "engine",
    "keep_copy",
    "restore_backup",
    "schema_of",
]

# A local user may do everything with their own library.
LOCAL = Scope()

# So much of a query is noted when a result is opened.
_LONGEST_QUERY = 2000

# Words rank, and where there are none the latest come first.
BEST = Order()


class Library:
    """Documents and everything that can be asked of them; safe to share between threads.

    Everything is asked for in a scope, whose capabilities are checked before a store is touched.
    `expected_version` makes a change conditional: if the document has another version by now,
    nothing happens and `Conflict` is raised.
    `once` names a request: for a day, the same one again is answered as it was the first time,
    and not done again.
    """

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        embedder: Embedder | Embedders | None = None,
        pinned: int | None = None,
        stages: Stages | None = None,
    ) -> None:
        """`pinned` is the generation to ask, whether it serves or not."""
        if not isinstance(embedder, Embedders):
            embedder = Embedders() if embedder is None else Embedders(embedder)
        self.settings = settings
        self._stores = stores
        self._embedders = embedder
        self._stages = stages or Stages()
        reranking = self._stages.reranking
        self._searcher = Searcher(stores.searched, settings, embedder, pinned, reranking=reranking)
        self._folders = Folders(stores, settings)
        self._questions = Questions(
            stores.searched, settings, self._searcher, self._folders.source, self._stages.expanding
        )
        self._collections = Collections(stores.documents)
        self._exchange = Exchange(stores, settings)
        summarizing = self._stages.summarizing
        self._embedding = Embedding(stores, settings, embedder, summarizing)

    @classmethod
    def open(
        cls, db: AnyPath | None = None, *, settings: Settings | None = None, create: bool = True
    ) -> Library:
        """Open the library in the database, or create it unless told not to.

        `db` is a file, or the address of a PostgreSQL database (`postgresql://user@host/name`).
        Without arguments, the settings come from the user's file and environment.
        """
        chosen = settings or Settings.load().settings
        if db is not None:
            chosen = chosen.changed(db=db)
        chosen = with_threshold(chosen)
        stores = open_stores(chosen, create=create)
        stages = Stages(stores, chosen)
        return cls(stores, chosen, open_embedders(chosen), stages=stages)

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
        self._embedding.close()
        self._searcher.close()
        self._stages.close()
        if "_feedback" in vars(self):
            self._feedback.close()
        self._stores.maintenance.close()
        self._embedders.close()

    @contextmanager
    def answering_from(self, generation: int) -> Iterator[Self]:
        """This library as it answers from one set of vectors, whether that serves or not."""
        other = type(self)(self._stores, self.settings, self._embedders, generation, self._stages)
        try:
            yield other
        finally:
            other._searcher.close()  # noqa: SLF001 - it is one of us

    def search(
        self,
        text: str,
        *,
        scope: Scope | None = None,
        mode: Mode | ModeName = Mode.HYBRID,
        limit: int | None = None,
        order: Order = BEST,
        phrasings: Phrasings | None = None,
        min_relevance: float | None = None,
        typing: bool = False,
        **filters: str | Sequence[str] | None,
    ) -> Answer:
        """The best documents for the query: by words, by meaning, or both.

        `filters` are those of the command line by name: `kind="note", tag=["food", "soup"]`.
        `typing` says that the last word may go on: it is the beginning of one, too.
        A query without words lists the documents that its filters leave; an order sorts them,
        and with the `next` of an answer as its cursor it goes on where that answer ended.
        Other `phrasings` of the query are asked beside it; such an answer has one page.
        """
        caller = scope or LOCAL
        return self._questions.search(
            text,
            self.scope(filters, within=caller) if filters else caller,
            mode=mode_of(mode),
            limit=limit,
            order=order,
            phrasings=phrasings,
            min_relevance=min_relevance,
            typing=typing,
        )

    @property
    def likely_relevance(self) -> float:
        """From this relevance on a result is likely to be what is looked for."""
        return self._searcher.model.threshold

    def candidates(
        self,
        text: str,
        *,
        scope: Scope = LOCAL,
        mode: Mode | ModeName = Mode.HYBRID,
        limit: int | None = None,
    ) -> Sequence[Candidate]:
        """Every document that the lanes bring for a query, best first, with its features.

        For those who measure or fit the ranking; nothing is made up to be shown.
        """
        return self._questions.candidates(text, scope, mode=mode_of(mode), limit=limit)

    @property
    def reranker(self) -> str:
        """What reads the best passages together with a query; empty if nothing does."""
        reranking = self._stages.reranking
        return reranking.reranker.name if reranking else ""

    def vector_sample(self, size: int) -> list[tuple[str, Vector]]:
        """Some vectors of the generation that serves, each with a document that has it."""
        generation = serving(self._stores)
        if generation is None:
            return []
        return self._stores.vectors.sample(generation.number, size=size)

    def why(
        self,
        text: str,
        reference: str,
        *,
        scope: Scope | None = None,
        mode: Mode | ModeName = Mode.HYBRID,
        limit: int | None = None,
    ) -> Diagnosis:
        """Why a document is, or is not, among the results of a query, and what would change it."""
        return self._questions.why(text, reference, scope or LOCAL, mode=mode_of(mode), limit=limit)

    def similar(
        self,
        reference: str,
        *,
        scope: Scope | None = None,
        limit: int | None = None,
        exclude_linked: bool = False,
    ) -> SimilarAnswer:
        """The documents most similar to the one that an id, path, URL, title or alias names."""
        return self._questions.similar(
            reference, scope or LOCAL, limit=limit, exclude_linked=exclude_linked
        )

    def note_opened(self, query: str, id: str, *, scope: Scope = LOCAL) -> bool:
        """Note that a result was opened for a query, if `feedback.enabled` says so; whether it was.

        No ranking depends on it; `twolane eval golden from-log` makes golden queries of it.
        """
        require(scope, Capability.SEARCH)
        if not self.settings.feedback.enabled or not query.strip():
            return False
        if id not in self._stores.documents.get([id], replace(scope, archived=True), frozenset()):
            raise NoSuchDocument(id)
        self._feedback.add(scope.owner or "", query.strip()[:_LONGEST_QUERY], id)
        return True

    def opened(self, *, scope: Scope = LOCAL) -> list[Opened]:
        """What the scope's owner opened for which query, the oldest first, as far as noted."""
        require(scope, Capability.SEARCH)
        return self._feedback.opened(scope.owner or "")

    def forget_opened(self, *, scope: Scope = LOCAL, everybody: bool = False) -> int:
        """Forget what the scope's owner opened, or everybody; how many notes that were."""
        require(scope, Capability.ADMIN if everybody else Capability.SEARCH)
        return self._feedback.forget(None if everybody else scope.owner or "")

    def stop_answering(self) -> None:
        """End all answers that are being worked on, with TooSlow; there are no others after this.

        For whoever is about to close the library.
        """
        self._searcher.stop()

    def document(self, reference: str, *, scope: Scope = LOCAL) -> Document:
        """The document that an id, path, URL, unique title or alias names."""
        require(scope, Capability.SEARCH)
        with self._questions.in_time():
            return named(self._stores.documents, reference, scope)

    def near_names(self, reference: str, *, scope: Scope = LOCAL) -> list[str]:
        """Titles and paths in scope that are spelled much like a name that no document has."""
        require(scope, Capability.SEARCH)
        with self._questions.in_time():
            return near_names(self._stores.lexical, reference, scope)

    def excerpt(
        self,
        reference: str,
        *,
        section: str | Sequence[str] = "",
        lines: str = "",
        scope: Scope = LOCAL,
    ) -> Excerpt:
        """Part of a document: what `DOC`, `DOC:FROM-TO` or `DOC#HEADING > HEADING` names.

        Or that of its `lines` (`10-20`), or of a `section`: a heading, a path of headings as one
        text or as a list, the id that an outline shows, or `^block`.
        """
        from twolane.results.excerpts import excerpt, part_of

        found = excerpt(reference, lambda name: self.document(name, scope=scope))
        return part_of(found.document, section, lines) if section or lines else found

    def documents(self, *, scope: Scope = LOCAL) -> Iterator[Document]:
        """The documents in scope, by id; read a batch at a time, so any number fits."""
        require(scope, Capability.SEARCH)
        ids = [listed.id for listed in self._stores.documents.list(scope)]
        size = self.settings.index.batch
        get = self._stores.documents.get
        batches = (get(ids[at : at + size], ANYWHERE) for at in range(0, len(ids), size))
        return (batch[id].document for batch in batches for id in sorted(batch))

    def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document."""
        documents = self._stores.documents
        stored = documents.get([document.id], ANYWHERE, frozenset({Part.CHUNKS}))
        return list(stored[document.id].chunks) if document.id in stored else []

    def facets(self, *, scope: Scope = LOCAL, documents: Sequence[str] | None = None) -> Facets:
        """How documents are spread over kinds, collections, tags and languages.

        Those in scope, or of them only the ones with these ids.
        """
        require(scope, Capability.SEARCH)
        if documents is not None and not documents:
            return Facets({}, {}, {}, {})
        counted = scope if documents is None else replace(scope, documents=tuple(documents))
        with self._questions.in_time():
            return self._stores.documents.facets(counted)

    def scope(self, filters: Mapping[str, object], *, within: Scope = LOCAL) -> Scope:
        """The scope narrowed by filters by name, such as `{"kind": "note", "after": "30d"}`.

        Names and values are those of the command line's options (`twolane.query.given.FILTERS`).
        A collection or a property that is not there is an error, and so is any other bad value.
        """
        from twolane.query.given import require_held, scope_from

        properties = self._stores.documents.stats(within.all_of_owner).properties
        scope = scope_from(filters, within, properties=properties)
        names = [collection.name for collection in self._stores.documents.collections(within)]
        require_held(scope, names, properties)
        return scope

    def check_filters(self, text: str, *, scope: Scope = LOCAL) -> None:
        """Refuse a text that holds anything but filters as they are typed into a query."""
        from twolane.query.given import require_filters

        stats = self._stores.documents.stats(scope.all_of_owner)
        require_filters(text, frozenset(stats.languages), stats.properties)

    def file(self, document: Result | Document | Similar) -> Path | None:
        """The file of a result or a document; None for what has none."""
        root = self._folders.roots().get(document.collection)
        return root / document.path if root is not None and document.path is not None else None

    def links(
        self, documents: Iterable[Result | Document], *, roots: bool = True, plain: bool = False
    ) -> dict[str, str]:
        """Links that open the files of results or documents, by their ids.

        They follow the setting `results.link_template`; without one, those into an Obsidian
        vault open Obsidian, and of others there are none, or with `plain` those to the files.
        `roots` is whether a link may tell where a collection is on disk.
        """
        return self._folders.links(documents, roots=roots, plain=plain)

    def index(
        self,
        root: AnyPath,
        *,
        scope: Scope = LOCAL,
        prune: bool = False,
        progress: Callable[[Report], None] = lambda report: None,
    ) -> Report:
        """Bring the library in step with a folder of Markdown notes; text only, no vectors."""
        require(scope, Capability.WRITE)
        return self._folders.index(root, scope, prune=prune, progress=progress)

    def watch(
        self,
        roots: Iterable[AnyPath] = (),
        *,
        stop: threading.Event,
        scope: Scope = LOCAL,
        polling: bool = False,
        changed: Callable[[Report], None] = lambda report: None,
    ) -> None:
        """Keep the library in step with folders until `stop` is set; all that it has by default.

        Each folder is indexed at once, then whenever something below it changes.
        Passages are embedded beside that.
        `changed` hears of every look that found something new: a file that stays bad is told once.
        """
        require(scope, Capability.WRITE)
        folders = self._folders.to_watch(roots)
        if self._embedders.first is not None:
            self.start_worker()
        self._folders.watch(folders, scope, stop=stop, polling=polling, changed=changed)

    def save(
        self,
        draft: Draft | Document,
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
        once: Once | None = None,
    ) -> Saved:
        """Add a document, or replace the one with its id.

        `expected_version=0` saves it only if it is new.
        """
        expected = EMPTY if expected_version is None else {draft.id: expected_version}
        return self.save_all([draft], scope=scope, expected_versions=expected, once=once)[0]

    def save_all(
        self,
        drafts: Iterable[Draft | Document],
        *,
        scope: Scope = LOCAL,
        expected_versions: Mapping[str, int] = EMPTY,
        once: Once | None = None,
    ) -> list[Saved]:
        """Add or replace many documents, all or none."""
        given = [Draft.of(draft) if isinstance(draft, Document) else draft for draft in drafts]

        def save(saver: Saver) -> list[Saved]:
            return saver.save(given, scope, expected_versions)

        return self._done(self._saver.once(once, scope, save))

    def change_all(
        self, changes: Changes, *, scope: Scope = LOCAL, once: Once | None = None
    ) -> list[Saved]:
        """Make many changes of several kinds, all or none."""
        return self._done(self._saver.once(once, scope, lambda saver: saver.all(changes, scope)))

    def revise(
        self,
        id: str,
        edit: Callable[[Draft], Draft],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
        deleted: bool = False,
    ) -> Saved:
        """Save the document with this id as `edit` makes it of what is there.

        With `deleted`, one that was deleted is brought back by that.
        `edit` may be called again if somebody else was quicker.
        """
        saved = self._saver.revise(id, edit, scope, expected_version, deleted=deleted)
        return self._done([saved])[0]

    def delete(
        self, ids: Ids, *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Take documents out of every lane, list and count; `restore` brings them back."""
        return self._saver.delete(_listed(ids), scope, expected_version)

    def restore(
        self, ids: Ids, *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Bring deleted documents back as they were."""
        return self._done(self._saver.restore(_listed(ids), scope, expected_version))

    def deleted(self, *, scope: Scope = LOCAL) -> list[Document]:
        """The deleted documents that can be restored, by id.

        Notes that are out of sight because their files are gone come back with their files.
        """
        require(scope, Capability.WRITE)
        documents = self._stores.documents
        rooted = self._folders.roots()
        ids = [listed.id for listed in documents.list(scope, among=Among.DELETED)]
        stored = documents.get(ids)
        found = [stored[id].document for id in ids if id in stored]
        return [document for document in found if document.collection not in rooted]

    def purge(self, ids: Ids, *, scope: Scope = LOCAL) -> list[Saved]:
        """Delete documents for good, with their texts and vectors."""
        gone = self._saver.purge(_listed(ids), scope)
        self._feedback.forget(ids=[one.id for one in gone])
        return gone

    def archive(
        self, ids: Ids, *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Put documents aside: a search finds them only if its scope asks."""
        return self._saver.archive(_listed(ids), scope, expected_version, archived=True)

    def unarchive(
        self, ids: Ids, *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Take documents back from the archive."""
        return self._saver.archive(_listed(ids), scope, expected_version, archived=False)

    def touch(self, ids: Ids, *, scope: Scope = LOCAL, at: datetime | None = None) -> list[Saved]:
        """Count a use of documents, now or `at` that time; their versions stay."""
        return self._saver.touch(_listed(ids), scope, at)

    def add_tags(
        self,
        ids: Ids,
        tags: Iterable[str],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
    ) -> list[Saved]:
        """Give documents these tags beside those that they have."""
        return self._saver.retag(_listed(ids), scope, expected_version, add=tags)

    def remove_tags(
        self,
        ids: Ids,
        tags: Iterable[str],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
    ) -> list[Saved]:
        """Take these tags from documents."""
        return self._saver.retag(_listed(ids), scope, expected_version, remove=tags)

    def rename_tag(self, old: str, new: str, *, scope: Scope = LOCAL) -> list[Saved]:
        """Give a tag another name wherever it stands, and with it the tags below it.

        Documents that come from files keep theirs: their tags are written in the files.
        """
        return self._saver.rename_tag(old, new, scope)

    def collections(self, *, scope: Scope = LOCAL) -> list[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs."""
        return list(self._stores.documents.collections(scope))

    def collection(self, name: str, *, scope: Scope = LOCAL) -> Collection:
        """The collection of this name; one that is not there is an error that lists the others."""
        return self._collections.get(name, scope)

    def add_collection(
        self,
        name: str,
        root: AnyPath | None = None,
        *,
        kind: Kind = Kind.NOTE,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        description: str = "",
        scope: Scope = LOCAL,
    ) -> Collection:
        """Add a collection; its folder is read by `index`, with patterns of its own if given.

        `kind` is what its files are unless they say otherwise.
        """
        require(scope, Capability.ADMIN)
        folder = None if root is None else str(root)
        return self._collections.add(
            Collection(name, folder, kind, tuple(include), tuple(exclude), description)
        )

    def describe_collection(
        self,
        name: str,
        *,
        description: str | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        scope: Scope = LOCAL,
    ) -> Collection:
        """Say anew what a collection is, and which files belong to it; None leaves it as it is."""
        require(scope, Capability.ADMIN)
        collection = self.collection(name, scope=scope)
        return self._collections.describe(collection, description, include, exclude)

    def rename_collection(self, name: str, new: str, *, scope: Scope = LOCAL) -> Collection:
        """Give a collection another name; the ids of its files' documents change with it."""
        require(scope, Capability.ADMIN)
        return self._collections.rename(self.collection(name, scope=scope), new)

    def remove_collection(self, name: str, *, scope: Scope = LOCAL) -> int:
        """Delete a collection with all its documents, for good; files stay where they are."""
        require(scope, Capability.ADMIN)
        return self._collections.remove(self.collection(name, scope=scope))

    def import_bookmarks(
        self,
        file: AnyPath,
        *,
        collection: str = "bookmarks",
        folders: str = "tags",
        scope: Scope = LOCAL,
        progress: Show = lambda report: None,
    ) -> ImportReport:
        """Save the bookmarks that a browser exported; those of one address become one.

        `folders` is `tags`, `path` or `none`: what becomes of the folders that they lie in.
        """
        require(scope, Capability.WRITE)
        return self._exchange.bookmarks(file, collection, folders, scope, progress)

    def import_jsonl(
        self,
        file: AnyPath,
        *,
        collection: str = "imported",
        kind: Kind = Kind.NOTE,
        scope: Scope = LOCAL,
        progress: Show = lambda report: None,
    ) -> ImportReport:
        """Save the documents of a file of JSON lines, or of one JSON array.

        `collection` and `kind` are for those that say none.
        """
        require(scope, Capability.WRITE)
        return self._exchange.json(file, collection, Kind(kind), scope, progress)

    def import_prompts(
        self,
        path: AnyPath,
        *,
        collection: str = "prompts",
        scope: Scope = LOCAL,
        progress: Show = lambda report: None,
    ) -> ImportReport:
        """Save Markdown files as prompts; front matter tells their arguments."""
        require(scope, Capability.WRITE)
        return self._exchange.files(path, collection, Kind.PROMPT, scope, progress)

    def import_notes(
        self,
        path: AnyPath,
        *,
        collection: str = "notes",
        scope: Scope = LOCAL,
        progress: Show = lambda report: None,
    ) -> ImportReport:
        """Save a folder of Markdown or plain text, or a Joplin export, as notes.

        The library keeps copies; to follow a folder as it changes, `index` it.
        """
        require(scope, Capability.WRITE)
        return self._exchange.files(path, collection, Kind.NOTE, scope, progress)

    def fetch_pages(
        self,
        *,
        scope: Scope = LOCAL,
        again: bool = False,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> FetchReport:
        """Give bookmarks without a text that of their page, within the limits of `fetch`.

        A page that cannot be had is noted in its bookmark (`has:fetch_problem`), and only tried
        `again` if that is wanted.
        Needs the setting `fetch.pages`: nothing is asked of the network without it.
        """
        from twolane.library.fetching import FETCH_PROBLEM, fetch_texts

        require(scope, Capability.WRITE)
        if not self.settings.fetch.pages:
            raise BadInput("pages are not fetched unless the setting fetch.pages is true")
        bare = [
            document
            for document in self.documents(scope=replace(scope, kinds=(Kind.BOOKMARK,)))
            if not (document.body.strip() or document.encrypted)
            and (document.url or "").startswith(("http://", "https://"))
            and (again or FETCH_PROBLEM not in document.properties)
        ]

        def save(draft: Draft, before: Document) -> None:
            # Who changed or deleted it meanwhile knows better.
            with suppress(Conflict, NoSuchDocument):
                self.save(draft, expected_version=before.version, scope=scope)

        return fetch_texts(bare, self.settings.fetch, save, progress)

    def export(
        self,
        file: AnyPath,
        *,
        scope: Scope = Scope(archived=True),  # noqa: B008
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> int:
        """Write the collections and documents in scope as JSON lines, which `import_jsonl` reads.

        Returns the number of documents.
        """
        return self._exchange.export(file, scope, progress)

    def embed(
        self,
        *,
        scope: Scope = LOCAL,
        all_spaces: bool = False,
        backfill: bool = False,
        retry_failed: bool = False,
        gate: Gate | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Embedded:
        """Give every passage its vector; returns when nothing is free or the embedder is gone.

        What many documents hold is left out of it, and learned first if there are many new ones.
        `all_spaces` also fills the better, slower space, if there is one.
        `backfill` waits for what others work on and for what is to be tried again, and has
        summaries written that are missing, if that is switched on.
        `retry_failed` tries what failed again now.
        A generation that becomes complete takes over if the gate of the library lets it.
        A `gate` given here takes its place, and also judges what was held back before.
        """
        require(scope, Capability.WRITE)
        return self._embedding.embed(
            all_spaces=all_spaces,
            backfill=backfill,
            retry_failed=retry_failed,
            gate=gate,
            progress=progress,
        )

    def start_worker(self) -> Worker:
        """Embed beside everything else, at low priority, until the library is closed.

        The worker fills every space, the fast one first, and obeys the gate of the library.
        Then it has missing summaries written, if that is switched on.
        It notices what other processes add; `wake` makes it look at once.
        """
        return self._embedding.start_worker()

    def stop_worker(self) -> None:
        """Stop the worker, if there is one; what it was at is left to others."""
        self._embedding.stop_worker()

    def guard(self, gate: Gate) -> None:
        """Let new vectors take over only if the gate says so, whoever makes them from now on.

        What it refuses is held back with the reason and is not asked about again; `embed` with a
        gate of its own asks again, and `activate_generation` goes past every gate.
        """
        self._embedding.guard(gate)

    def generations(self) -> list[tuple[Generation, Progress]]:
        """Every set of vectors, oldest first, with how complete it is."""
        return [
            (generation, self._stores.queue.progress(generation.number))
            for generation in self._stores.vectors.generations()
        ]

    def activate_generation(self, number: int, *, scope: Scope = LOCAL) -> None:
        """Let this set of vectors answer searches, and keep better ones from taking over."""
        require(scope, Capability.WRITE)
        from twolane.embedding.pipeline.switching import appoint

        appoint(self._stores.vectors, self._embedders.spaces, number)

    def roll_back_generation(self, *, scope: Scope = LOCAL) -> Generation:
        """Let the set of vectors that served before answer searches again."""
        require(scope, Capability.WRITE)
        from twolane.embedding.pipeline.switching import previous

        earlier = previous(self._stores.vectors)
        self.activate_generation(earlier.number, scope=scope)
        return replace(earlier, state=GenerationState.SERVING)

    def drop_generation(self, number: int, *, scope: Scope = LOCAL) -> None:
        """Delete a set of vectors that does not answer searches."""
        require(scope, Capability.WRITE)
        from twolane.embedding.pipeline.switching import drop

        drop(self._stores.vectors, number)

    def status(self, *, scope: Scope = LOCAL) -> Status:
        """How complete the index is."""
        degraded = dense_degradation(self._stores, self.settings, self._embedders)
        if trouble := self._stores.maintenance.degraded():
            degraded += (Degradation(Lane.LEXICAL, trouble),)
        found = status_of(self._stores, scope, degraded)
        return replace(found, stages=self._stages.standing, lag=self.lag())

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
        return with_vectors(self._stores, scope)

    def digest(self) -> str:
        """A name for what is indexed: documents, how they were analysed, and the space.

        Two libraries made from the same notes and saves with the same settings have the same.
        Vectors are not part of it: two machines may differ in their last digits.
        Nor is what a save notes of its day: times, uses, versions; nor which lines are
        boilerplate, because that depends on what else was there when it was detected.
        """
        return index_digest(self._stores, self.settings)

    def revision(self) -> str:
        """A name for all that a search can see; another one whenever any of it changes."""
        return revision(self._stores)

    @property
    def location(self) -> str:
        """Where the library is kept, as it may be shown to anybody."""
        return self._stores.maintenance.location

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database; empty when it is sound."""
        return self._stores.maintenance.check()

    def repair(self, *, scope: Scope = LOCAL) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        require(scope, Capability.ADMIN)
        done = self._stores.maintenance.repair()
        if done:
            from twolane.ingest.saving import renew

            renew(self._stores.documents, self.settings)
            # Letters are looked up quickly again when this returns, not only after more writing.
            self._stores.maintenance.settle()
        return done

    def reindex(
        self,
        *,
        back: bool = False,
        scope: Scope = LOCAL,
        on_batch: Callable[[int, int], None] = lambda done, total: None,
    ) -> int | None:
        """Make all that the Qdrant cluster holds anew, while it serves; how many documents.

        With `back`, what was there before the last time answers again.
        """
        require(scope, Capability.ADMIN)
        follower = self._stores.follower
        if follower is None:
            raise BadInput("no Qdrant cluster is set; name its nodes in the setting qdrant.urls")
        if back:
            follower.roll_back()
            return None
        return follower.rebuild(on_batch)

    def lag(self) -> Lag | None:
        """How far the Qdrant cluster is behind the database; None where there is none."""
        outbox = self._stores.outbox if self._stores.follower else None
        return outbox.lag() if outbox is not None and outbox.is_on() else None

    def backup(self, target: AnyPath, *, scope: Scope = LOCAL) -> Path:
        """Write a copy of the library as it is now, while it is in use, and verify it.

        If that fails, or the process is killed, there is no file of this name.
        """
        require(scope, Capability.ADMIN)
        path = Path(target).expanduser()
        if not path.parent.is_dir():
            raise BadInput(f"there is no folder {path.parent}; make it first")
        self._stores.maintenance.backup(str(path))
        return path

    def copy_to(
        self,
        other: Library,
        *,
        scope: Scope = LOCAL,
        on_batch: Callable[[int, int], None] = lambda done, total: None,
    ) -> Copied:
        """Put everything into a library that is empty, and verify it by its digest.

        Documents keep their ids, owners, versions, uses, passages and vectors; files are not read
        again, and nothing is embedded again.
        `on_batch` is told how many documents of how many were copied.
        """
        from twolane.library.copying import Copier

        require(scope, Capability.ADMIN)
        target = other._stores
        return Copier(self._stores, target, self.settings).copy(on_batch)

    def tokens(self, *, scope: Scope = LOCAL) -> list[Token]:
        """Every token that is not revoked, oldest first."""
        require(scope, Capability.ADMIN)
        return self._stores.tokens.tokens()

    def add_token(
        self,
        name: str,
        *,
        owner: str | None = None,
        capabilities: Iterable[str] = (Capability.SEARCH, Capability.SEMANTIC),
        expires: datetime | None = None,
        scope: Scope = LOCAL,
    ) -> tuple[Token, str]:
        """Make a token; its text is given here and never again."""
        require(scope, Capability.ADMIN)
        now = datetime.now(UTC)
        made, text = make(name, owner=owner, capabilities=capabilities, expires=expires, now=now)
        self._stores.tokens.add_tokens([made])
        return made, text

    def take_over_tokens(self, tokens: Sequence[Token], *, scope: Scope = LOCAL) -> None:
        """Keep tokens that were made elsewhere; one that was revoked here stays revoked."""
        require(scope, Capability.ADMIN)
        self._stores.tokens.add_tokens(tokens)

    def revoke_token(self, reference: str, *, scope: Scope = LOCAL) -> Token:
        """Let the token with this id or name open nothing any more."""
        require(scope, Capability.ADMIN)
        gone = self._stores.tokens.revoke_token(reference)
        if gone is None:
            known = (
                ", ".join(sorted(token.name for token in self._stores.tokens.tokens())) or "none"
            )
            raise BadInput(f"there is no token {reference!r}; there are: {known}")
        return gone

    def token_of(self, text: str) -> Token | None:
        """The token that this is the text of, whether or not its time is up; None if it is none."""
        token = self._stores.tokens.token(id_in(text))
        return token if opens(text, token) else None

    def use_token(self, token: Token, at: datetime) -> None:
        """Note when a token was last used."""
        self._stores.tokens.use_token(token.id, at)

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token: then nobody is let in without one."""
        return self._stores.tokens.had_tokens()

    def _done(self, saved: list[Saved]) -> list[Saved]:
        """What was saved; its passages get their vectors now if that is quick, else later."""
        self._embedding.embed_saved([change.id for change in saved if change.changed])
        return saved

    @cached_property
    def _feedback(self) -> FeedbackLog:
        return open_feedback_log(self.settings)

    @cached_property
    def _saver(self) -> Saver:
        from twolane.ingest.saving import Saver

        return Saver(self._stores.documents, self.settings, snapshot=self._stores.snapshot)


def _listed(ids: Ids) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)
