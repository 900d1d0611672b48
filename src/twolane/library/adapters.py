"""The one module that names concrete adapters: stores, sources and embedders."""

from __future__ import annotations

from pathlib import Path

from twolane.errors import EmbedderError, EmbedderUnavailable
from twolane.ports import Embedder, Source, Store
from twolane.settings import Settings, cache_path, database_path


def open_store(settings: Settings, *, create: bool) -> Store:
    """The store that the settings name."""
    from twolane.stores.sqlite import SqliteStore

    return SqliteStore.open(
        database_path(settings), create=create, busy_seconds=settings.busy_seconds
    )


def vault_source(folder: Path, settings: Settings) -> Source:
    """The Markdown notes below a folder."""
    from twolane.sources.vault import VaultSource

    return VaultSource(
        folder,
        include=settings.include,
        exclude=settings.exclude,
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
