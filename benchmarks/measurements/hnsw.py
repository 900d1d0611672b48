"""How many of the ten nearest documents the index of PostgreSQL's vectors finds.

Vectors are those that `use` gives the passages of public collections (OPEN_COLLECTIONS names their
folder; synthetic ones where it does not): each real vector as it is, and then copies with noise,
as passages about the same things would have, up to the number that is needed.
One owner has 10 documents, one 1,000 and one 100,000, all of one passage, in one generation with
an index over all of them.
Queries are those of the collections, embedded by `use`; each is asked for each owner, once as a
search asks and once with all passages compared, and the first ten are compared.
A small owner is compared exactly in any case, as the store decides; with `forced` the index is
asked all the same.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import corpus
import synthetic_library
from outcome import Goal, Outcome, Room, Table, median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.postgres_server import running

from twolane.embedding.embedders.use import UseEmbedder
from twolane.ingest.chunking import CHUNKER
from twolane.model.document import Batch, Chunk, Collection, Document, Prepared, Stems
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.stores.postgres import open_stores
from twolane.stores.postgres import vectors as vector_store

if TYPE_CHECKING:
    from synthetic_library import Vectors

_COLLECTIONS = ("locomo", "danetqa-ru", "qa-mix", "polyglot", "scifact")
_EACH = 300
_SIZES = {"ten": 10, "thousand": 1_000, "hundred-thousand": 100_000}
# As many documents as a search asks for.
_POOL = 100
# How far a copy is from its passage: similarities of .8, as passages about one thing have.
_NOISE = 0.75


def measure(room: Room) -> Outcome:
    """Fill one generation for three owners, build its index, and ask both ways."""
    sizes = {name: min(size, room.size(size, 3_000)) for name, size in _SIZES.items()}
    embedder = UseEmbedder(chunker=CHUNKER)
    real, queries = _real(embedder, room.size(_EACH, 60), room.size(20, 10))
    vectors = _many(real, sum(sizes.values()))
    if room.quick:
        vector_store.FEW = 500
    rows = []
    with running() as server, server.database() as url:
        store = open_stores(url)
        seconds = _fill(store, sizes, vectors, quick=room.quick)
        for name in sizes:
            for number, query in enumerate(queries):
                rows.append({"owner": name, "query": number, **_asked(store, name, query)})
        store.maintenance.close()
    goals, shown = [], []
    for name, size in sizes.items():
        own = [row for row in rows if row["owner"] == name]
        recall = sum(row["recall"] for row in own) / len(own)
        forced = sum(row["forced"] for row in own) / len(own)
        what = f"Recall@10 of a search, owner of {size:,}"
        goals.append(Goal(what, recall, "", at_least=0.98))
        shown.append(
            (
                f"{size:,}",
                round(recall, 4),
                round(forced, 4),
                round(median(row["ms"] for row in own), 1),
                round(median(row["exact ms"] for row in own), 1),
            )
        )
    table = Table(
        f"{len(vectors):,} vectors of 512 dimensions, index built in {seconds:.0f} s",
        ("documents", "recall@10", "forced through the index", "ms p50", "exact, ms p50"),
        shown,
    )
    facts = {"real vectors": len(real), "queries": len(queries), "noise": _NOISE}
    return Outcome(goals, [table], rows, facts)


def _real(embedder: UseEmbedder, each: int, queries: int) -> tuple[Vectors, list[Vectors]]:
    """The vectors of passages, and of queries."""
    folder = os.environ.get("OPEN_COLLECTIONS")
    if not folder:
        found = synthetic_library.vectors(each * len(_COLLECTIONS), embedder.space.dimensions)
        asked = synthetic_library.vectors(
            queries * 5, embedder.space.dimensions, seed=corpus.SEED + 1
        )
        return found, list(asked)
    passages, texts = [], []
    for name in _COLLECTIONS:
        passages += [
            f"{one['title']}\n\n{one['text']}"[:1200] for one in _lines(folder, name, each)
        ]
        texts += [one["text"] for one in _lines(folder, name, queries, "queries")]
    vectors = np.concatenate(
        [embedder.embed_passages(passages[at : at + 64]) for at in range(0, len(passages), 64)]
    )
    return vectors, [embedder.embed_query(text) for text in texts]


def _lines(folder: str, name: str, most: int, what: str = "corpus") -> Iterator[dict[str, str]]:
    with (Path(folder) / name / f"{what}.jsonl").open(encoding="utf-8") as file:
        for _, line in zip(range(most), file, strict=False):
            yield json.loads(line)


def _many(real: Vectors, count: int) -> Vectors:
    """So many vectors: the real ones, then copies of them with noise; shuffled."""
    dice = np.random.default_rng(corpus.SEED)
    extra = max(0, count - len(real))
    copies = real[dice.integers(len(real), size=extra)]
    noise = dice.standard_normal((extra, real.shape[1]), np.float32)
    noise *= _NOISE / np.sqrt(np.float32(real.shape[1]))
    copies = copies + noise
    copies /= np.linalg.norm(copies, axis=1, keepdims=True)
    found: Vectors = np.concatenate([real, copies])[:count]
    dice.shuffle(found)
    return found


def _fill(store: Stores, sizes: dict[str, int], vectors: Vectors, *, quick: bool) -> float:
    """Write all documents; how long the index took."""
    from twolane.stores.postgres import maintenance

    if quick:
        maintenance.EXACTLY = 500
    store.documents.apply(PutCollection(Collection("notes")))
    generation = store.vectors.open_generation(synthetic_library.space()).number
    owners = [name for name, size in sizes.items() for _ in range(size)]
    for start in range(0, len(owners), 1000):
        some = range(start, min(start + 1000, len(owners)))
        batch = [_document(at, owners[at]) for at in some]
        store.documents.apply(Batch("notes", batch))
        store.vectors.add(
            generation,
            [
                NewVector(one.chunks[0].content_hash, vectors[at])
                for at, one in zip(some, batch, strict=True)
            ],
        )
    started = time.perf_counter()
    store.maintenance.settle()
    return time.perf_counter() - started


def _document(number: int, owner: str) -> Prepared:
    name = f"{number:06}"
    chunk = Chunk(0, 0, 6, 1, 1, (), "en", 1, name, name)
    document = Document(name, "notes", name, name, owner=owner, content_hash=name)
    return Prepared(document, (chunk,), Stems(body=f" {name} "))


def _asked(store: Stores, owner: str, query: Vectors) -> dict[str, float]:
    """The share of the ten nearest that a search finds, and that the index finds by itself."""
    scope, few = Scope(owner=owner), vector_store.FEW
    try:
        found, ms = _nearest(store, query, scope)
        vector_store.FEW = 1 << 40
        exact, exact_ms = _nearest(store, query, scope)
        vector_store.FEW = _POOL
        forced, _ = _nearest(store, query, scope)
    finally:
        vector_store.FEW = few
    return {
        "recall": len(set(found) & set(exact)) / len(exact),
        "forced": len(set(forced) & set(exact)) / len(exact),
        "ms": ms,
        "exact ms": exact_ms,
    }


def _nearest(store: Stores, query: Vectors, scope: Scope) -> tuple[Sequence[str], float]:
    started = time.perf_counter()
    found = store.vectors.nearest(1, query, scope, limit=_POOL)
    return [one.id for one in found[:10]], (time.perf_counter() - started) * 1e3
