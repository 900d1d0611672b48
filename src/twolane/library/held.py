"""What every part of the library works with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from twolane.library.adapters import vault_source
from twolane.ports import Embedder, Source, Store
from twolane.scopes import Scope
from twolane.search import Searcher
from twolane.settings import Settings

# A local user may do everything with their own library.
LOCAL = Scope()

# No store holds as many documents.
ALL = 2**31 - 1


class Held:
    """One store and its settings, with the embedder that they name or the reason why not."""

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

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self._store, self.settings, self._embedder, self._no_embedder)

    def _embed_soon(self) -> None:
        """Called when passages may have come that have no vectors yet."""

    def _source(self, folder: Path) -> Source:
        root = str(folder.resolve())
        held = next((one for one in self._store.collections() if one.root == root), None)
        return vault_source(folder, self.settings, held)
