"""Qdrant: BM25 made on the server, dense vectors in HNSW, fused by RRF on the server."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from fusing import POOL
from serving import Server, free_port, program

_BATCH = 500


class Engine:
    """One collection on one node, as it comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = free_port()
        os.environ |= {
            "QDRANT__STORAGE__STORAGE_PATH": str(folder / "storage"),
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(port),
            "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
            "QDRANT__TELEMETRY_DISABLED": "true",
        }
        self._server = Server([program("qdrant")], port, "/readyz", folder)

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """Wait until every vector is in the graph."""
        ask = self._server.ask
        ask(
            "PUT",
            "/collections/peers",
            {
                "vectors": {"dense": {"size": int(vectors.shape[1]), "distance": "Dot"}},
                "sparse_vectors": {"words": {"modifier": "idf"}},
            },
        )
        for first in range(0, len(passages), _BATCH):
            points = [
                {
                    "id": first + place,
                    "vector": {
                        "dense": vectors[first + place].tolist(),
                        "words": {
                            "text": f"{one['title']}\n{one['text']}",
                            "model": "qdrant/bm25",
                        },
                    },
                }
                for place, one in enumerate(passages[first : first + _BATCH])
            ]
            ask("PUT", "/collections/peers/points?wait=true", {"points": points})
        while ask("GET", "/collections/peers")["result"]["status"] != "green":
            time.sleep(0.2)
        (self._folder / "ids.json").write_text(json.dumps([one["id"] for one in passages]))

    def open(self) -> None:
        """Read the ids; the server runs since it was made."""
        self._ids = json.loads((self._folder / "ids.json").read_text())
        while self._server.ask("GET", "/collections/peers")["result"]["status"] == "grey":
            time.sleep(0.05)

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One request."""
        answer = self._server.ask(
            "POST",
            "/collections/peers/points/query",
            {
                "prefetch": [
                    {
                        "query": {"text": text, "model": "qdrant/bm25"},
                        "using": "words",
                        "limit": POOL,
                    },
                    {"query": vector.tolist(), "using": "dense", "limit": POOL},
                ],
                "query": {"fusion": "rrf"},
                "limit": count,
            },
        )
        return [self._ids[point["id"]] for point in answer["result"]["points"]]

    def processes(self) -> list[int]:
        """The server."""
        return [self._server.id]

    def close(self) -> None:
        """End the server."""
        self._server.end()
