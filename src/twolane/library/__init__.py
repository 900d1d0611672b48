"""The composition root: a library is made here, of parts that each fit a page.

from twolane import Library

with Library.open("notes.db") as library:
    library.index("~/notes")
    for result in library.search("how do I prune tomatoes").results:
        print(result.title, result.path)
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from twolane.library.adapters import (
    embedder_problem,
    engine,
    keep_copy,
    open_embedders,
    open_stores,
    restore_backup,
    schema_of,
    with_threshold,
)
from twolane.library.admitting import Admitting
from twolane.library.asking import Asking
from twolane.library.collecting import Collecting
from twolane.library.copying import Copying
from twolane.library.embedding import Embedding
from twolane.library.exchanging import Exchanging
from twolane.library.folders import Folders
from twolane.library.health import Health
from twolane.library.held import LOCAL
from twolane.library.opening import Opening
from twolane.library.scoping import Scoping
from twolane.library.upkeep import Upkeep
from twolane.library.watching import Watching
from twolane.library.writing import Writing
from twolane.settings import Settings

__all__ = [
    "LOCAL",
    "Library",
    "embedder_problem",
    "engine",
    "keep_copy",
    "restore_backup",
    "schema_of",
]


class Library(
    Asking,
    Collecting,
    Writing,
    Admitting,
    Exchanging,
    Watching,
    Folders,
    Embedding,
    Health,
    Upkeep,
    Copying,
    Scoping,
    Opening,
):
    """Documents and everything that can be asked of them; safe to share between threads."""

    @classmethod
    def open(
        cls,
        db: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
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
        return cls(stores, chosen, open_embedders(chosen))

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
        self._stop_embedding()
        self._searcher.close()
        self._stores.maintenance.close()
        self._embedders.close()
