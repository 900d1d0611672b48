"""Meilisearch: its own hybrid search with vectors that the user provides, both halves alike."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from serving import Server, free_port, program

_BATCH = 2000


class Engine:
    """One index, as it comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = free_port()
        address = f"127.0.0.1:{port}"
        command = [program("meilisearch"), "--no-analytics", "--http-addr", address]
        self._server = Server([*command, "--db-path", folder / "data"], port, "/health", folder)

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """Wait until every task is done."""
        embedder = {"source": "userProvided", "dimensions": int(vectors.shape[1])}
        self._done(
            "PATCH",
            "/indexes/peers/settings",
            {"embedders": {"given": embedder}, "searchableAttributes": ["title", "text"]},
        )
        for first in range(0, len(passages), _BATCH):
            rows = [
                {
                    "id": first + place,
                    "title": one["title"],
                    "text": one["text"],
                    "_vectors": {"given": vectors[first + place].tolist()},
                }
                for place, one in enumerate(passages[first : first + _BATCH])
            ]
            self._done("POST", "/indexes/peers/documents?primaryKey=id", rows)
        (self._folder / "ids.json").write_text(json.dumps([one["id"] for one in passages]))

    def open(self) -> None:
        """Read the ids; the server runs since it was made."""
        self._ids = json.loads((self._folder / "ids.json").read_text())

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One request."""
        answer = self._server.ask(
            "POST",
            "/indexes/peers/search",
            {
                "q": text,
                "vector": vector.tolist(),
                "hybrid": {"embedder": "given", "semanticRatio": 0.5},
                "limit": count,
                "attributesToRetrieve": ["id"],
            },
        )
        return [self._ids[hit["id"]] for hit in answer["hits"]]

    def processes(self) -> list[int]:
        """The server."""
        return [self._server.id]

    def close(self) -> None:
        """End the server."""
        self._server.end()

    def _done(self, method: str, path: str, body: Any) -> None:
        task = self._server.ask(method, path, body)["taskUid"]
        while (found := self._server.ask("GET", f"/tasks/{task}"))["status"] in (
            "enqueued",
            "processing",
        ):
            time.sleep(0.1)
        if found["status"] != "succeeded":
            raise RuntimeError(f"{path}: {found['error']}")
