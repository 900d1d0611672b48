"""Twolane through its library: whole documents, with vectors that were made beforehand."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from twolane import Draft, Library, Settings
from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import CHUNKER
from twolane.ports.vectors import NewVector
from twolane.stores.sqlite import open_stores

_BATCH = 200

_CHUNKS = """
SELECT d.id, c.position, c.content_hash
FROM chunks AS c JOIN documents AS d ON d.row = c.document"""


class _Prepared:
    """Stands for an embedder that takes no time: it knows the vector of the query."""

    def __init__(self) -> None:
        self.space = UseEmbedder(chunker=CHUNKER).space
        self.known: dict[str, Any] = {}
        self._read: Any = None

    def embed_query(self, text: str) -> Any:
        """The vector that goes with the query; a query is embedded without its quotes."""
        # A query is also read by its words that count, right after it was read as typed.
        self._read = self.known.get(text, self._read)
        return self._read

    def embed_passages(self, texts: list[str]) -> Any:
        """Vectors are given to the store."""
        raise NotImplementedError(texts)


class Engine:
    """The default settings, and the passages, vectors and sentences that its own index has."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "twolane.db"
        self._task = folder.parent / "task"
        self._embedder = _Prepared()

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """Save the documents, then their vectors."""
        with self._library() as library:
            lines = (self._task / "documents.jsonl").open(encoding="utf-8")
            drafts = (Draft(**json.loads(line), collection="peers") for line in lines)
            while some := list(islice(drafts, _BATCH)):
                library.save_all(some)
        stores = open_stores(self._file)
        generation = stores.vectors.open_generation(self._embedder.space).number
        codes = np.load(self._task / "sentences.npy", allow_pickle=True)
        made = zip((one["id"] for one in passages), vectors, codes, strict=True)
        known = {id: (vector, sentences) for id, vector, sentences in made}
        with closing(apsw.Connection(str(self._file))) as connection:
            added = [
                NewVector(content, *known[f"{id}\t{position}"])
                for id, position, content in connection.execute(_CHUNKS)
            ]
        for first in range(0, len(added), 2000):
            stores.vectors.add(generation, added[first : first + 2000])
        stores.maintenance.settle()
        stores.maintenance.close()

    def open(self) -> None:
        """Open the database."""
        self._opened = self._library()

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One search, with results as they are shown."""
        from twolane.query import parse

        self._embedder.known.setdefault(parse(text).meaning, vector)
        answer = self._opened.search(text, limit=count)
        if answer.degraded:
            raise RuntimeError(f"a lane did not run: {answer.degraded}")
        return [result.id for result in answer.results]

    def processes(self) -> list[int]:
        """None of its own."""
        return []

    def close(self) -> None:
        """Close the database."""
        self._opened.close()

    def _library(self) -> Library:
        settings = replace(Settings().changed(embedding={"save_seconds": 0.0}), db=self._file)
        return Library(open_stores(self._file), settings, self._embedder)
