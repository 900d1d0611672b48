"""tantivy with its English stemmer, every word by OR, and a float32 product in NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from fusing import POOL, fused, nearest, words


class Engine:
    """The fastest lexical library, with what is missing for meaning."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """An index of words, a file of vectors and one of ids."""
        index = self._index()
        writer = index.writer(256_000_000, 2)
        for number, one in enumerate(passages):
            writer.add_document(
                tantivy.Document(number=number, title=one["title"], text=one["text"])
            )
        writer.commit()
        writer.wait_merging_threads()
        np.save(self._folder / "vectors.npy", vectors)
        (self._folder / "ids.json").write_text(json.dumps([one["id"] for one in passages]))

    def open(self) -> None:
        """Read the vectors and ids."""
        self._words = self._index()
        self._words.reload()
        self._searcher = self._words.searcher()
        self._vectors = np.load(self._folder / "vectors.npy")
        self._ids = json.loads((self._folder / "ids.json").read_text())

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """Both rankings, fused."""
        query, _ = self._words.parse_query_lenient(
            " ".join(words(text)), ["title", "text"], field_boosts={"title": 5.0}
        )
        hits = self._searcher.search(query, POOL).hits
        lexical = [self._searcher.doc(address)["number"][0] for _, address in hits]
        best = fused((lexical, nearest(self._vectors, vector, POOL)), count)
        return [self._ids[row] for row in best]

    def processes(self) -> list[int]:
        """None of its own."""
        return []

    def close(self) -> None:
        """Nothing to end."""

    def _index(self) -> Any:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("number", stored=True, indexed=False)
        builder.add_text_field("title", tokenizer_name="en_stem")
        builder.add_text_field("text", tokenizer_name="en_stem")
        place = self._folder / "words"
        place.mkdir(exist_ok=True)
        return tantivy.Index(builder.build(), path=str(place))
