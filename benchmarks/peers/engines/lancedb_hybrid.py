"""LanceDB: its own hybrid search with its default reranker (RRF), vectors scanned exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa


class Engine:
    """One table, as it comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """A table with a full-text index over title and text together."""
        flat = pa.array(vectors.reshape(-1), pa.float32())
        table = pa.table(
            {
                "id": [one["id"] for one in passages],
                "text": [f"{one['title']}\n{one['text']}" for one in passages],
                "vector": pa.FixedSizeListArray.from_arrays(flat, int(vectors.shape[1])),
            }
        )
        made = lancedb.connect(self._folder / "lance").create_table("peers", table)
        made.create_fts_index("text")

    def open(self) -> None:
        """Open the table."""
        self._table = lancedb.connect(self._folder / "lance").open_table("peers")

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One hybrid search."""
        query = self._table.search(query_type="hybrid").vector(vector).text(text)
        found = query.distance_type("dot").select(["id"]).limit(count).to_arrow()
        return list(found["id"].to_pylist())

    def processes(self) -> list[int]:
        """None of its own."""
        return []

    def close(self) -> None:
        """Nothing to end."""
