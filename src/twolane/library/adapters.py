"""The one module that names concrete adapters: stores, sources and embedders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from twolane.errors import EmbedderError, EmbedderUnavailable
from twolane.model import Collection
from twolane.ports import Embedder, Source, Store
from twolane.settings import Settings, cache_path, database_path

# Least similarities that others published for models that are not measured here, by model name.
_PUBLISHED_THRESHOLDS = {
    "text-embedding-3-small": 0.40,
    "snowflake-arctic-embed-m-v2.0": 0.30,
}


def with_threshold(settings: Settings) -> Settings:
    """The settings with the threshold that was published for their model, unless they have one."""
    if settings.min_similarity or settings.embedder not in ("onnx", "openai"):
        return settings
    name = settings.model.rstrip("/").rpartition("/")[2]
    return replace(settings, min_similarity=_PUBLISHED_THRESHOLDS.get(name, 0.0))


def open_store(settings: Settings, *, create: bool) -> Store:
    """The store that the settings name."""
    from twolane.stores.sqlite import SqliteStore

    return SqliteStore.open(
        database_path(settings), create=create, busy_seconds=settings.busy_seconds
    )


def vault_source(folder: Path, settings: Settings, collection: Collection | None) -> Source:
    """The notes below a folder; a collection's own patterns come before those of the settings."""
    from twolane.sources.vault import VaultSource

    return VaultSource(
        folder,
        include=(collection and collection.include) or settings.include,
        exclude=(*settings.exclude, *(collection.exclude if collection else ())),
        max_bytes=settings.max_file_bytes,
    )


def engine() -> str:
    """The database engine under the default store, with its version."""
    import apsw

    return f"SQLite {apsw.sqlite_lib_version()}"


def open_embedder(settings: Settings) -> tuple[Embedder | None, str]:
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


def embedder_problem(settings: Settings) -> str | None:
    """Why the embedder that the settings name does not work, whatever state the database is in."""
    return why_silent(*open_embedder(settings))


def why_silent(embedder: Embedder | None, reason: str) -> str | None:
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


def _made(settings: Settings) -> Embedder:
    from twolane.chunking import CHUNKER

    if settings.embedder == "hashing":
        from twolane.embedders.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "onnx":
        from twolane.embedders.onnx import OnnxEmbedder

        return OnnxEmbedder(
            settings.model,
            query_prompt=settings.query_prompt,
            passage_prompt=settings.passage_prompt,
            threads=settings.model_threads,
            chunker=CHUNKER,
        )
    if settings.embedder == "openai":
        return _openai(settings, CHUNKER)
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


def _openai(settings: Settings, chunker: str) -> Embedder:
    from twolane.embedders.endpoint import Endpoint, Manners
    from twolane.embedders.openai import OpenAiEmbedder, Wishes

    manners = Manners(seconds=settings.model_seconds, tries=settings.model_tries)
    wishes = Wishes(
        model=settings.model,
        dimensions=settings.model_dimensions,
        query_prompt=settings.query_prompt,
        passage_prompt=settings.passage_prompt,
        longest=settings.model_tokens,
        encoding=settings.model_encoding,
        input_type=settings.model_input_type,
        texts=settings.model_batch,
    )
    endpoint = Endpoint(settings.model_url, settings.model_key.text, manners)
    return OpenAiEmbedder(endpoint, wishes, chunker=chunker)
