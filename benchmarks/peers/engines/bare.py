"""FTS5 with its Porter stemmer, every word by OR, and a float32 product in NumPy."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
from fusing import POOL, fused, nearest, words

_MATCH = """
SELECT rowid - 1 FROM words WHERE words MATCH ? ORDER BY bm25(words, 0, 5, 1) LIMIT ?"""


class Engine:
    """As one would write it in an afternoon."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._local = threading.local()

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """A full-text table and a file of vectors."""
        connection = sqlite3.connect(self._folder / "words.db")
        connection.execute(
            "CREATE VIRTUAL TABLE words USING"
            " fts5(id UNINDEXED, title, text, tokenize='porter unicode61')"
        )
        rows = ((one["id"], one["title"], one["text"]) for one in passages)
        connection.executemany("INSERT INTO words VALUES (?,?,?)", rows)
        connection.commit()
        connection.close()
        np.save(self._folder / "vectors.npy", vectors)

    def open(self) -> None:
        """Read the vectors."""
        self._vectors = np.load(self._folder / "vectors.npy")

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """Both rankings, fused."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = sqlite3.connect(self._folder / "words.db")
        query = " OR ".join(f'"{word}"' for word in words(text))
        lexical = [row for (row,) in connection.execute(_MATCH, (query, POOL))] if query else []
        best = fused((lexical, nearest(self._vectors, vector, POOL)), count)
        if not best:
            return []
        marks = ",".join("?" * len(best))
        named = dict(
            connection.execute(
                f"SELECT rowid - 1, id FROM words WHERE rowid IN ({marks})",
                [row + 1 for row in best],
            )
        )
        return [named[row] for row in best]

    def processes(self) -> list[int]:
        """None of its own."""
        return []

    def close(self) -> None:
        """Nothing to end."""
