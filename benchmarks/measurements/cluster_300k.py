"""Three hundred thousand passages on a Qdrant node: as `cluster`, with 60,000 documents."""

from __future__ import annotations

from measurements.cluster import measured
from outcome import Outcome, Room


def measure(room: Room) -> Outcome:
    """Fill the node, and ask it."""
    return measured(room, 60_000, ("scalar", "none"))
