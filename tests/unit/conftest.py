"""What many unit tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library with an embedder that needs no model."""
    with open_library(tmp_path / "x.db") as opened:
        yield opened
