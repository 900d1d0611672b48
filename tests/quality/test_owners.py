"""Owners who share a library learn nothing of each other, whatever they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.owner_operations import Operations
from tests.postgres_server import Server
from twolane import Library, Settings


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_random_operations_tell_nothing_of_others(
    store: str, postgres: Server, tmp_path: Path
) -> None:
    """Some hundred of them by seven owners; the benchmark `owners` does ten thousand by twenty."""
    settings = Settings(embedding={"embedder": "hashing"})
    with postgres.database() as url:
        place = tmp_path / "file.db" if store == "sqlite" else url
        with Library.open(place, settings=settings) as library:
            operations = Operations(library, owners=7, seed=20_260_101)
            for _ in range(4):
                operations.run(100)
                library.embed()
    assert operations.leaks == []
    # Everything was asked, and words of one's own were told where they may be.
    assert len(operations.done) == 15
    assert operations.own["search"] > 20 and operations.own["list"] > 5
