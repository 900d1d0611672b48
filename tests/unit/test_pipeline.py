"""The pipeline: work of the dead is taken over, work of the living is not."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import prepared, put
from twolane.embedders.hashing import HashingEmbedder
from twolane.model import Collection
from twolane.pipeline import fill
from twolane.stores.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """Two passages to embed."""
    opened = SqliteStore.open(tmp_path / "x.db")
    opened.add_collection(Collection("notes"))
    put(opened, prepared("a", "ant"), prepared("b", "bee"))
    return opened


def test_the_work_of_a_dead_process_is_taken_over(store: SqliteStore) -> None:
    """What a killed process had claimed is embedded by the next one at once."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    embedder = HashingEmbedder()
    generation = store.open_generation(embedder.space).number
    store.claim(generation, worker=f"{platform.node()}:{gone.pid}:1", limit=9, seconds=600)
    assert fill(store, embedder).embedded == 2


@pytest.mark.parametrize(
    "worker", [f"{platform.node()}:{os.getppid()}:1", "elsewhere:1:1", "nonsense"]
)
def test_the_work_of_others_is_left_to_them(store: SqliteStore, worker: str) -> None:
    """A process that lives, or one of another machine, keeps its lease."""
    embedder = HashingEmbedder()
    generation = store.open_generation(embedder.space).number
    store.claim(generation, worker=worker, limit=9, seconds=600)
    assert fill(store, embedder).embedded == 0
