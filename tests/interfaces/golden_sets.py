"""Small golden sets over the vault of `conftest.NOTES`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOMATOES = "garden/Tomatoes.md"
COMPOST = "garden/Компост.md"
TEA = "kitchen/green tea.md"

QUERIES: list[dict[str, Any]] = [
    {
        "id": "a",
        "query": "side shoots of tomatoes",
        "relevant": [TOMATOES],
        "lang": "en",
        "direction": "en→en",
        "category": "garden",
    },
    {
        "id": "b",
        "query": "черви в компосте",
        "relevant": [COMPOST],
        "partial": [TOMATOES],
        "lang": "ru",
        "direction": "ru→ru",
        "category": "garden",
    },
    {
        "id": "c",
        "query": "steep green tea",
        "relevant": [TEA],
        "lang": "en",
        "direction": "en→en",
        "category": "kitchen",
    },
]

UNANSWERABLE: dict[str, Any] = {"id": "u", "query": "quantum zebra", "unanswerable": True}


def write_golden(path: Path, queries: list[dict[str, Any]] | None = None, **fields: Any) -> Path:
    """A file with a golden set; fields replace those of the set."""
    golden = {
        "format": "twolane-golden/1",
        "name": path.stem,
        "queries": QUERIES if queries is None else queries,
        **fields,
    }
    path.write_text(json.dumps(golden, ensure_ascii=False), "utf-8")
    return path
