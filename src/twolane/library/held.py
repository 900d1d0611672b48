"""What every part of the library works with."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Self

from twolane.embedding.spaces import Embedders
from twolane.library.adapters import vault_source
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.embedder import Embedder
from twolane.ports.source import Source
from twolane.ranking.search import Searcher
from twolane.settings import Settings

# A local user may do everything with their own library.
LOCAL = Scope()

# No store holds as many documents.
ALL = 2**31 - 1


class Held:
    """One store and its settings, with the embedders that they name or the reason why not."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        embedder: Embedder | Embedders | None = None,
        pinned: int | None = None,
    ) -> None:
        """`pinned` is the generation to ask, whether it serves or not."""
        self._stores = stores
        self.settings = settings
        if not isinstance(embedder, Embedders):
            embedder = Embedders() if embedder is None else Embedders(embedder)
        self._embedders = embedder
        self._pinned = pinned

    @contextmanager
    def answering_from(self, generation: int) -> Iterator[Self]:
        """This library as it answers from one set of vectors, whether that serves or not."""
        other = type(self)(self._stores, self.settings, self._embedders, generation)
        try:
            yield other
        finally:
            other._searcher.close()  # noqa: SLF001 - it is one of us

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self._stores, self.settings, self._embedders, self._pinned)

    def _embed_soon(self, ids: Collection[str]) -> bool:
        """Called when these documents were saved; whether their passages have vectors by now."""
        raise NotImplementedError

    def _source(self, folder: Path) -> Source:
        root = str(folder.resolve())
        others = self._stores.documents.collections()
        held = next((one for one in others if one.root == root), None)
        return vault_source(folder, self.settings, held, others)
