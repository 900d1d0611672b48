"""When meaning fails, words still answer, and the answer says so."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.builders import open_library
from tests.waiting import eventually
from twolane import Capability, Library, Scope, Settings
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.model.answer import Lane
from twolane.model.errors import (
    EmbedderError,
    EmbedderUnavailable,
    NoDatabase,
    NotPermitted,
    StoreError,
)
from twolane.model.space import Space
from twolane.ports.embedder import Embedder
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.vectors import SqliteVectors


class Broken(HashingEmbedder):
    """An embedder that does what it is told to when asked for a query's vector."""

    def __init__(self, call: Callable[[str], object]) -> None:
        self._call = call

    def embed_query(self, text: str) -> np.ndarray:
        self._call(text)
        return super().embed_query(text)


def raising(error: Exception) -> Callable[[str], object]:
    def call(text: str) -> object:
        raise error

    return call


class BlindVectors(SqliteVectors):
    """An index whose search by vector fails although everything else works."""

    def nearest(self, *arguments: object, **options: object) -> list:  # type: ignore[override,type-arg]
        raise StoreError("the vectors cannot be read")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\nBees winter in a tight cluster.", "utf-8")
    (folder / "chess.md").write_text("# Chess\n\nRooks belong behind passed pawns.", "utf-8")
    return folder


def library(
    tmp_path: Path,
    vault: Path,
    embedder: Embedder | None,
    vectors: type[SqliteVectors] = SqliteVectors,
    **settings: object,
) -> Library:
    """A library whose vectors were made by a sound embedder before this one came."""
    chosen = Settings(db=tmp_path / "x.db", embedding={"embedder": "hashing"}).changed(**settings)
    with Library.open(settings=chosen) as sound:
        sound.index(vault)
        sound.embed()
    stores = open_stores(tmp_path / "x.db")
    stores.vectors.__class__ = vectors
    return Library(stores, chosen, embedder)


def words_alone(answered: Library, caplog: pytest.LogCaptureFixture, reason: str) -> None:
    with caplog.at_level(logging.WARNING, "twolane"):
        answers = [answered.search("bees in winter") for _ in range(2)]
    for answer in answers:
        assert [result.path for result in answer.results] == ["bees.md"]
        (degraded,) = answer.degraded
        assert degraded.lane == Lane.DENSE
        assert reason in degraded.reason
        assert answer.generation is None
    warnings = [record for record in caplog.records if reason in record.getMessage()]
    assert len(warnings) == 1
    answered.close()


def test_no_model(tmp_path: Path, vault: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No embedding model: words only."""
    words_alone(library(tmp_path, vault, None), caplog, "no embedder is configured")


def test_switched_off(tmp_path: Path, vault: Path) -> None:
    """Semantic search switched off by configuration: words only, and the answer says why."""
    with open_library(tmp_path / "x.db", "none") as opened:
        opened.index(vault)
        answer = opened.search("bees")
        assert [result.path for result in answer.results] == ["bees.md"]
        assert "switched off" in answer.degraded[0].reason
        with pytest.raises(EmbedderUnavailable, match="switched off"):
            opened.embed()


@pytest.mark.parametrize(
    "error",
    [EmbedderError("the server is down"), RuntimeError("the server is down")],
    ids=["ours", "foreign"],
)
def test_the_query_cannot_be_embedded(
    tmp_path: Path, vault: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """The embedder fails to embed the query: words only, and a warning is logged once."""
    words_alone(library(tmp_path, vault, Broken(raising(error))), caplog, "the server is down")


def test_the_search_by_vector_fails(
    tmp_path: Path, vault: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The similarity search fails after the query was embedded: words only, and a warning."""
    embedded: list[str] = []
    broken = library(tmp_path, vault, Broken(embedded.append), BlindVectors)
    words_alone(broken, caplog, "the vectors cannot be read")
    assert embedded


def test_no_library_open(tmp_path: Path) -> None:
    """No database: an error that names the command to run, and no file is made."""
    with pytest.raises(NoDatabase, match="twolane index"):
        Library.open(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()


def test_missing_capability(tmp_path: Path, vault: Path) -> None:
    """Without `search.use` nothing is searched; the store is not even asked."""
    opened = library(tmp_path, vault, HashingEmbedder())
    opened.close()  # A closed store raises when it is touched.
    with pytest.raises(NotPermitted, match=r"the capability 'search\.use';"):
        opened.search("bees", scope=Scope(capabilities=frozenset()))


def test_meaning_not_permitted(tmp_path: Path, vault: Path) -> None:
    """Without `search.semantic` words answer, and the answer says what is missing."""
    with library(tmp_path, vault, HashingEmbedder()) as opened:
        words_only = Scope(capabilities=frozenset({Capability.SEARCH}))
        answer = opened.search("bees", scope=words_only)
        assert [result.path for result in answer.results] == ["bees.md"]
        assert "search.semantic" in answer.degraded[0].reason


def test_a_slow_embedder(tmp_path: Path, vault: Path) -> None:
    """Past its time the search answers without meaning, and does not wait again behind it."""
    release = threading.Event()
    slow = library(
        tmp_path, vault, Broken(lambda text: release.wait(20)), search={"embed_seconds": 0.1}
    )
    started = time.perf_counter()
    first, second = slow.search("bees"), slow.search("bees")
    assert time.perf_counter() - started < 10
    assert "longer than 0.1 s" in first.degraded[0].reason
    assert "still busy" in second.degraded[0].reason
    assert first.results and second.results
    release.set()
    eventually(lambda: not slow.search("bees").degraded)
    slow.close()


def test_another_space_never_answers(tmp_path: Path, vault: Path) -> None:
    """Vectors of another space are not compared with the query; the answer names the command."""

    class Other(HashingEmbedder):
        @property
        def space(self) -> Space:
            return replace(super().space, revision="2")

    with library(tmp_path, vault, Other()) as opened:
        assert "twolane index" in opened.search("bees").degraded[0].reason


def test_text_before_vectors(tmp_path: Path, vault: Path) -> None:
    """Text is searchable before a single vector exists."""
    with open_library(tmp_path / "x.db") as opened:
        opened.index(vault)
        answer = opened.search("rooks")
        assert [result.path for result in answer.results] == ["chess.md"]
        assert "no vectors yet" in answer.degraded[0].reason


class Poisoned(HashingEmbedder):
    """Lies about one passage in a way that can be chosen."""

    def __init__(self, lie: Callable[[np.ndarray], np.ndarray]) -> None:
        self._lie = lie

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        made = super().embed_passages(texts)
        for row, text in enumerate(texts):
            if "Rooks" in text:
                made[row] = self._lie(made[row])
        return made


@pytest.mark.parametrize(
    "lie",
    [
        lambda row: row * np.nan,
        lambda row: row * 3,
        lambda row: row * 0,
    ],
    ids=["NaN", "not of unit length", "zero"],
)
def test_a_bad_vector_fails_alone(
    tmp_path: Path, vault: Path, lie: Callable[[np.ndarray], np.ndarray]
) -> None:
    """A passage that gets a bad vector is reported failed; the others are embedded."""
    store = open_stores(tmp_path / "x.db")
    with Library(store, Settings(embedding={"embedder": "hashing"}), Poisoned(lie)) as opened:
        opened.index(vault)
        filled = opened.embed()
        assert (filled.embedded, filled.failed) == (1, 1)
        status = opened.status()
        assert (status.progress.ready, status.progress.pending, status.progress.failed) == (1, 0, 1)
        failed = {one.record.path: one.failure for one in opened.files() if one.failure}
        assert list(failed) == ["chess.md"]
        assert [result.path for result in opened.search("rooks", mode="lexical").results] == [
            "chess.md"
        ]
