"""The port of rerankers: what reads a passage together with the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges passages by reading each of them together with the query."""

    @property
    def name(self) -> str:
        """What its scores depend on, as one text; costs nothing and loads no model."""

    def log_odds(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage the log-odds that it is relevant, in order; finite numbers.

        Raises StageError if the model cannot be had or answers with anything else.
        """
