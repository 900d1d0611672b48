"""The figures about optional stages are those of the stored run."""

from __future__ import annotations

import json

from tests.docs.pages import DOCS, ROOT, read


def test_the_table_of_rerankers_is_the_stored_one() -> None:
    """Every row of the page stands in the result, and every row of the result on the page."""
    stored = json.loads(read(ROOT / "benchmarks" / "reranking.json"))
    page = read(DOCS / "howto" / "optional-stages.md")
    for way, means in stored["means"].items():
        figures = " | ".join(f"{means[name]:.3f}".removeprefix("0") for name in stored["queries"])
        assert f"| {way} | {figures} |" in page
