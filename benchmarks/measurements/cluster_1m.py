"""A million passages on a Qdrant node: as `cluster`, with 200,000 documents."""

from __future__ import annotations

from measurements.cluster import measured
from outcome import Outcome, Room


def measure(room: Room) -> Outcome:
    """Fill the node, and ask it."""
    return measured(room, 200_000, ("scalar",))
