"""The one module that names concrete adapters: stores, sources and embedders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.embedding.spaces import Embedders
from twolane.model.document import Collection
from twolane.model.errors import BadInput, EmbedderError, EmbedderUnavailable, StoreError
from twolane.model.space import Space
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.chat import Chat
from twolane.ports.embedder import Embedder
from twolane.ports.feedback import FeedbackLog
from twolane.ports.reranker import Reranker
from twolane.ports.source import Source
from twolane.ports.stages import StageStore
from twolane.settings import Settings, beside_database, cache_path, database_place
from twolane.settings.groups import EMBEDDERS, Expand, Summaries
from twolane.settings.values import Address

if TYPE_CHECKING:
    from twolane.embedding.embedders.endpoint import RetryPolicy

# Least similarities that others published for models that are not measured here, by model name.
_PUBLISHED_THRESHOLDS = {
    "text-embedding-3-small": 0.40,
    "snowflake-arctic-embed-m-v2.0": 0.30,
}


def with_threshold(settings: Settings) -> Settings:
    """The settings with the threshold that was published for their model, unless they have one."""
    if settings.search.min_similarity or settings.embedding.embedder not in ("onnx", "openai"):
        return settings
    name = settings.embedding.model.rstrip("/").rpartition("/")[2]
    return settings.changed(search={"min_similarity": _PUBLISHED_THRESHOLDS.get(name, 0.0)})


def open_stores(settings: Settings, *, create: bool) -> Stores:
    """The stores that the settings name; one adapter may stand behind several ports."""
    stores = _open_database(settings, create=create)
    return _follow_by_qdrant(stores, settings) if settings.qdrant.urls else stores


def _open_database(settings: Settings, *, create: bool) -> Stores:
    place = database_place(settings)
    if isinstance(place, Address):
        return _open_postgres(place, settings, create=create)
    from twolane.stores.sqlite import open_stores

    return open_stores(
        place,
        create=create,
        busy_seconds=settings.index.busy_seconds,
        text_trigrams=settings.index.exact_bodies,
        synchronous=settings.index.synchronous,
    )


def _open_postgres(place: Address, settings: Settings, *, create: bool) -> Stores:
    try:
        from twolane.stores.postgres import open_stores
    except ImportError as error:
        raise StoreError(
            f"{place} needs what reads PostgreSQL ({error.name} is missing); "
            "install it with: pip install 'twolane[postgres]'"
        ) from error
    replica = settings.postgres.replica
    return open_stores(
        place.url,
        place=str(place),
        create=create,
        busy_seconds=settings.index.busy_seconds,
        connections=settings.postgres.connections,
        replica=(replica.url, str(replica)) if replica else None,
    )


def _follow_by_qdrant(stores: Stores, settings: Settings) -> Stores:
    try:
        from twolane.stores.qdrant import Cluster, Shape, with_qdrant
    except ImportError as error:
        stores.maintenance.close()
        raise StoreError(
            f"`qdrant.urls` needs what asks Qdrant ({error.name} is missing); "
            "install it with: pip install 'twolane[qdrant]'"
        ) from error
    asked = settings.qdrant
    cluster = Cluster(asked.urls, key=asked.key.text, seconds=asked.seconds)
    shape = Shape(**{each.name: getattr(asked, each.name) for each in fields(Shape)})
    return with_qdrant(stores, cluster, shape, lag_seconds=asked.lag_seconds, follow=True)


def vault_source(
    folder: Path,
    settings: Settings,
    collection: Collection | None,
    others: Sequence[Collection] = (),
) -> Source:
    """The notes below a folder; a collection's own patterns come before those of the settings.

    What belongs to one of the `others`, whose folders may be below this one, is theirs.
    """
    from twolane.ingest.sources.vault import Nested, VaultSource

    root = folder.resolve()
    nested = [
        Nested(path, other.name, other.include or settings.index.include)
        for other in others
        if (path := path_below(root, other)) is not None
    ]
    return VaultSource(
        folder,
        include=(collection and collection.include) or settings.index.include,
        exclude=(*settings.index.exclude, *(collection.exclude if collection else ())),
        max_bytes=settings.index.max_file_bytes,
        outside=settings.index.outside_links,
        nested=nested,
    )


def vault_files(collection: Collection, settings: Settings) -> Callable[[str], bool]:
    """Tells by their paths which files are named by the patterns of a collection."""
    from twolane.ingest.sources.ignoring import Names

    names = Names(collection.include or settings.index.include)
    return lambda path: names.match(path, path.rpartition("/")[2])


def path_below(root: Path, other: Collection) -> str | None:
    """Where the folder of another collection is below a root, None if it is not."""
    place = Path(other.root) if other.root is not None else root
    return place.relative_to(root).as_posix() if root in place.parents else None


def keep_copy(settings: Settings) -> Path | None:
    """Copy the database as it is, damage and all, before it is mended; where the copy is.

    None for a server's, which only the server's own programs copy.
    """
    from twolane.stores.sqlite.restoring import keep_copy

    place = database_place(settings)
    return None if isinstance(place, Address) else keep_copy(place, "before-fix")


def restore_backup(source: Path, settings: Settings, *, force: bool = False) -> Path | None:
    """Put a copy in the place of the database; where the old one is kept, if there was one.

    A database with documents that the copy lacks is replaced only if `force` says so.
    """
    from twolane.stores.sqlite.restoring import restore

    place = database_place(settings)
    if isinstance(place, Address):
        raise BadInput(
            f"{place} is kept by a PostgreSQL server, so no file can take its place; "
            "bring back what pg_dump wrote with pg_restore"
        )
    return restore(source.expanduser(), place, force=force)


def folder_changes(
    folders: Sequence[Path], stop: threading.Event, settings: Settings, *, polling: bool
) -> Iterable[frozenset[Path]]:
    """Which of the folders may have changed, as it happens, until the stop."""
    from twolane.ingest.sources.changes import FolderChanges

    return FolderChanges(
        folders,
        stop,
        debounce=settings.index.watch_debounce,
        seconds=settings.index.watch_seconds,
        polling=polling,
    )


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a database: which version they have, which one this program knows.

    `version` is 0 where there are none of ours; `server` says what answers at an address.
    """

    location: str
    version: int
    known: int
    server: str = ""


def schema_of(settings: Settings) -> Schema:
    """The tables of the database that the settings name, as they are, without a change to them."""
    place = database_place(settings)
    if isinstance(place, Address):
        from twolane.stores.postgres.database import look

        return Schema(str(place), *look(place.url, str(place)))
    from twolane.stores.sqlite.database import SCHEMA, Database

    if not place.exists():
        return Schema(str(place), 0, SCHEMA)
    database = Database.open_as_is(place)
    try:
        with database.read() as connection:
            return Schema(str(place), int(connection.pragma("user_version")), SCHEMA)
    finally:
        database.close()


def engine(settings: Settings) -> str:
    """The database engine under the store that the settings name, with the version of ours."""
    if isinstance(database_place(settings), Address):
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"PostgreSQL through psycopg {version('psycopg')}"
        except PackageNotFoundError:
            return "PostgreSQL; psycopg is not installed"
    import apsw

    return f"SQLite {apsw.sqlite_lib_version()}"


def open_embedders(settings: Settings) -> Embedders:
    """The embedders that the settings name, or the reason why there is none."""
    if settings.embedding.embedder == "none":
        return Embedders(missing="semantic search is switched off (embedding.embedder = none)")
    workshop = _Workshop(settings)
    # The second model is an addition: without it, the first one is all that there is.
    names = (
        ("use", "ensemble")
        if settings.embedding.embedder == "auto"
        else (settings.embedding.embedder,)
    )
    found = [workshop.named(name) for name in names]
    return Embedders(
        *(one for one in found if not isinstance(one, str)),
        missing=next((one for one in found if isinstance(one, str)), ""),
        find=workshop.of,
    )


def open_stage_store(settings: Settings) -> StageStore:
    """Where optional stages keep their counts and answers; no file is made before there are any."""
    from twolane.stores.stage_file import StageFile, StageFileLimits

    stages = settings.stages
    limits = StageFileLimits(
        stages.failures,
        stages.pause_seconds,
        int(stages.cache_megabytes * 1e6),
        stages.cache_days * 86_400,
    )
    return StageFile(beside_database(settings, ".stages.db"), limits)


def open_feedback_log(settings: Settings) -> FeedbackLog:
    """Where it is noted what was opened; no file is made before there is a note."""
    from twolane.stores.feedback_file import FeedbackFile

    path = beside_database(settings, ".feedback.db")
    return FeedbackFile(path, settings.feedback.days * 86_400)


def open_reranker(settings: Settings) -> Reranker:
    """The reranker that the settings name; making one loads nothing and asks nobody."""
    rerank = settings.rerank
    if rerank.reranker == "onnx":
        from twolane.embedding.rerankers.onnx import OnnxReranker

        return OnnxReranker(rerank.model, threads=rerank.threads)
    from twolane.embedding.embedders.endpoint import Endpoint
    from twolane.embedding.rerankers.http import HttpReranker, RerankRequest

    endpoint = Endpoint(rerank.url, rerank.key.text, _once(rerank.seconds, "rerank"))
    request = RerankRequest(
        model=rerank.model,
        texts=rerank.request == "texts",
        logits=rerank.scores == "logits",
        max_tokens=rerank.max_tokens,
    )
    return HttpReranker(endpoint, request)


def open_chat(chat: Expand | Summaries, group: str) -> Chat:
    """The chat model that a group of the settings names; making one asks nobody."""
    from twolane.embedding.chat.openai import OpenAiChat
    from twolane.embedding.embedders.endpoint import Endpoint

    return OpenAiChat(Endpoint(chat.url, chat.key.text, _once(chat.seconds, group)), chat.model)


def _once(seconds: float, group: str) -> RetryPolicy:
    """How the server of an optional stage is asked; the stage itself gives up first."""
    from twolane.embedding.embedders.endpoint import RetryPolicy

    return RetryPolicy(seconds=1.25 * seconds + 0.1, tries=1, group=group)


def embedder_problem(settings: Settings) -> str | None:
    """Why the embedder that the settings name does not work, whatever state the database is in."""
    return why_silent(open_embedders(settings))


def why_silent(embedders: Embedders) -> str | None:
    """Why a query cannot be embedded, or None if it can; loads the model."""
    if embedders.first is None:
        return embedders.missing
    try:
        embedders.first.embed_query("twolane")
    except EmbedderError as error:
        return str(error)
    # An embedder is foreign code, and its failure is what is asked for here.
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return None


class _Workshop:
    """Makes embedders by name; one that is part of another is made once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Embedder] = {}

    def named(self, name: str) -> Embedder | str:
        """The embedder of this name, or the reason why there is none."""
        try:
            embedder = self._embedder(name)
            # The space says without loading a model whether its package is there.
            _ = embedder.space
        except EmbedderUnavailable as error:
            return str(error)
        return embedder

    def of(self, space: Space) -> Embedder | None:
        """The embedder that the space names, whatever the settings say, if it is there."""
        if space.embedder not in EMBEDDERS:
            return None
        made = self.named(space.embedder)
        return None if isinstance(made, str) else made

    def _embedder(self, name: str) -> Embedder:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Embedder:
        from twolane.ingest.chunking import CHUNKER

        if name == "hashing":
            from twolane.embedding.embedders.hashing import HashingEmbedder

            return HashingEmbedder()
        if name == "use":
            from twolane.embedding.embedders.use import UseEmbedder

            return UseEmbedder(cache_path(self._settings) / "use", chunker=CHUNKER)
        if name == "e5":
            from twolane.embedding.embedders.e5 import E5Embedder

            return E5Embedder(chunker=CHUNKER, centring=self._settings.experiment.centring)
        if name == "onnx":
            from twolane.embedding.embedders.onnx import OnnxEmbedder

            return OnnxEmbedder(
                self._settings.embedding.model,
                query_prompt=self._settings.embedding.query_prompt,
                passage_prompt=self._settings.embedding.passage_prompt,
                threads=self._settings.embedding.threads,
                chunker=CHUNKER,
            )
        if name == "openai":
            return _openai(self._settings, CHUNKER)
        from twolane.embedding.embedders.ensemble import EnsembleEmbedder

        return EnsembleEmbedder(self._embedder("use"), self._embedder("e5"))


def _openai(settings: Settings, chunker: str) -> Embedder:
    from twolane.embedding.embedders.endpoint import Endpoint, RetryPolicy
    from twolane.embedding.embedders.openai import OpenAiEmbedder, RequestOptions

    policy = RetryPolicy(
        seconds=settings.embedding.request_seconds, tries=settings.embedding.request_tries
    )
    options = RequestOptions(
        model=settings.embedding.model,
        revision=settings.embedding.revision,
        dimensions=settings.embedding.dimensions,
        query_prompt=settings.embedding.query_prompt,
        passage_prompt=settings.embedding.passage_prompt,
        longest=settings.embedding.max_tokens,
        encoding=settings.embedding.encoding,
        input_type=settings.embedding.input_type,
        texts=settings.embedding.request_texts,
        requests_per_minute=settings.embedding.requests_per_minute,
        tokens_per_minute=settings.embedding.tokens_per_minute,
    )
    endpoint = Endpoint(settings.embedding.url, settings.embedding.key.text, policy)
    return OpenAiEmbedder(endpoint, options, chunker=chunker)
