"""`twolane embed`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.interfaces.conftest import Cli


def test_missing_vectors_are_made(twolane: Cli, vault: Path) -> None:
    """Embedding completes what --no-wait left, and a second run has nothing to do."""
    twolane("index", vault, "--no-wait")
    number = twolane.json("status")["pending"]
    assert f"{number} passages embedded" in twolane("embed").stdout
    assert twolane.json("status")["pending"] == 0
    said = twolane.json("embed")
    assert said.pop("seconds") >= 0
    assert said == {
        "generation": 1,
        "embedded": 0,
        "failed": 0,
        "pending": 0,
        "stopped": None,
        "rate": None,
        "took_over": None,
        "refused": None,
    }
    assert twolane("embed", "-q").stdout == ""


def test_something_moves_from_the_first_second(twolane: Cli, vault: Path) -> None:
    """While the model loads, a terminal says so; then the passages are counted."""
    twolane("index", vault, "--no-wait")
    said = twolane.on_terminal("embed")
    assert said.index("loading the model") < said.index("embedding passages")


def test_a_missing_embedder_is_a_failure(
    twolane: Cli, vault: Path, no_model: Callable[[Cli], Cli]
) -> None:
    """Without its model, or with the embedder switched off, embedding exits with 5."""
    twolane("index", vault, "--no-wait")
    assert "pip install" in no_model(twolane)("embed", code=5).stderr
    assert "switched off" in twolane("embed", code=5, TWOLANE_EMBEDDING_EMBEDDER="none").stderr


def test_another_embedder_takes_over_when_it_is_complete(twolane: Cli, vault: Path) -> None:
    """A new space fills beside the old one and then serves."""
    twolane("index", vault)
    real = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")
    # Until then the old vectors answer, by the embedder that made them.
    assert real.json("search", "--mode", "semantic", "shoots")["generation"] == 1
    assert real.json("status")["degraded"] == []
    said = real.json("embed")
    assert (said["generation"], said["took_over"]) == (2, 2)
    status = real.json("status")
    assert (status["generation"], status["degraded"]) == (2, [])


def test_no_database(twolane: Cli) -> None:
    """Embedding nothing exits with 3 and names the command that comes first."""
    assert "twolane index FOLDER" in twolane("embed", code=3).stderr
