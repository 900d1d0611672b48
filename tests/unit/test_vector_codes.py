"""Codes only leave out what cannot be among the nearest: answers are those of the vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import embed, prepared, put, space
from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import CHUNKER
from twolane.model.document import Batch, Collection
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.stores.sqlite import matrix, open_stores
from twolane.stores.vector_codes import Codes

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector

VAULT = Path(__file__).parents[2] / "benchmarks" / "vaults" / "help-en"
DIMENSIONS = 32


def random_units(count: int, seed: int) -> Matrix:
    """Unit vectors about a few centres, so that many are nearly as near as the nearest."""
    dice = np.random.default_rng(seed)
    centres = dice.standard_normal((5, DIMENSIONS))
    found = centres[dice.integers(5, size=count)] + dice.standard_normal((count, DIMENSIONS))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def order_of(held: dict[str, Vector], query: Vector) -> list[str]:
    """The documents by their similarity, ties by id."""
    return sorted(held, key=lambda name: (-float(held[name] @ query), name))


@pytest.fixture(scope="module")
def real() -> tuple[Matrix, Matrix]:
    """Vectors of real passages and of real questions: the paragraphs and headings of a vault."""
    notes = [path.read_text("utf-8") for path in sorted(VAULT.rglob("*.md"))]
    blocks = [block.strip() for note in notes for block in note.split("\n\n") if block.strip()]
    headings = [block.lstrip("# ") for block in blocks if block.startswith("#")]
    embedder = UseEmbedder(chunker=CHUNKER)
    passages = embedder.embed_passages([block for block in blocks if not block.startswith("#")])
    return passages, np.stack([embedder.embed_query(heading) for heading in headings[:100]])


def test_the_same_order_on_real_vectors(real: tuple[Matrix, Matrix]) -> None:
    """The twenty nearest passages, found by codes and compared whole, are the exact twenty."""
    passages, queries = real
    assert len(passages) > 400
    codes = Codes.of(passages)
    for query in queries:
        exact = passages @ query
        told, margin = codes.similarities(query)
        last = np.partition(told, -20)[-20]
        left = np.flatnonzero(told >= last - margin)
        assert len(left) < len(passages)
        order = left[np.argsort(-exact[left], kind="stable")][:20]
        assert order.tolist() == np.argsort(-exact, kind="stable")[:20].tolist()
        assert np.abs(told - exact).max() < margin / 2


def test_codes_grow() -> None:
    """Codes that were made in parts are those that are made at once."""
    vectors = random_units(700, 1)
    whole = Codes.of(vectors)
    parts = Codes.of(vectors[:300])
    parts = parts.with_more(vectors[300:320], 300, 320).with_more(vectors[320:], 320, 700)
    assert (whole.codes[:700] == parts.codes[:700]).all()
    assert (whole.scales[:700] == parts.scales[:700]).all()
    assert parts.count == 700


@pytest.fixture(params=["held whole", "read from the file"])
def store(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stores]:
    """A store that takes to codes at once, with vectors in memory or without."""
    monkeypatch.setattr(matrix, "_FEW", 0)
    if request.param == "read from the file":
        monkeypatch.setattr(matrix.VectorCache.__init__, "__defaults__", (10,))
    stores = open_stores(tmp_path / "x.db")
    stores.documents.apply(PutCollection(Collection("notes")))
    yield stores
    stores.maintenance.close()


def test_answers_are_exact_while_documents_come_and_go(store: Stores) -> None:
    """The nearest documents and their similarities are those of all vectors, after each change."""
    vectors = random_units(120, 2)
    generation = store.vectors.open_generation(space(dimensions=DIMENSIONS)).number
    held: dict[str, Vector] = {}

    def write(numbers: range) -> None:
        for number in numbers:
            id = f"d{number:03}"
            note = prepared(id, f"word{number}")
            archived = number % 7 == 0
            put(store, replace(note, document=replace(note.document, archived=archived)))
            embed(store, generation, note, vectors[number])
            if not archived:
                held[id] = vectors[number]

    def agree() -> None:
        for query in random_units(5, 3):
            near = store.vectors.nearest(generation, query, Scope(), limit=8, detail=1)
            assert [one.id for one in near] == order_of(held, query)[:8]
            for one in near:
                assert one.similarity == pytest.approx(float(held[one.id] @ query), abs=1e-6)
                assert one.vector == pytest.approx(held[one.id])
            some = tuple(sorted(held)[::9])
            few = store.vectors.nearest(generation, query, Scope(documents=some), limit=3)
            assert [one.id for one in few] == [id for id in order_of(held, query) if id in some][:3]

    write(range(60))
    agree()
    write(range(60, 120))
    agree()
    store.documents.apply(Batch("notes", deletes=sorted(held)[:30]))
    for id in sorted(held)[:30]:
        del held[id]
    agree()
