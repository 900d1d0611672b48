"""The page of peers says what the stored run says, also where others are ahead."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))

import page  # noqa: E402


def test_the_page_is_made_from_the_stored_run() -> None:
    """Whoever runs the peers again, or changes the page's code, writes the page again."""
    (stored,) = (ROOT / "benchmarks" / "results").glob("engines-*.json")
    made = page.page(json.loads(stored.read_text("utf-8")), stored.name)
    assert page.PAGE.read_text("utf-8") == made


def test_losses_are_told() -> None:
    """A peer that is quicker is named with its figure."""
    rows = [
        {"peer": peer, "set": "s", "p50 ms": ms, "CPU ms": 1, "cold seconds": 1}
        | {"index seconds": 1, "disk bytes": 1e6, "peak bytes": 1e6, "answers a second": 9}
        for peer, ms in (("Twolane", 3.0), ("Swift", 2.0))
    ]
    assert page._losses(rows, ["s"]) == "- s, warm p50: 3 ms; Swift 2."
