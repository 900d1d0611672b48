"""A cache for the model that all pages share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the model leaves its tables once."""
    return tmp_path_factory.mktemp("model")
