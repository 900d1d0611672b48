"""The page about search across languages is made from stored figures."""

from __future__ import annotations

import json

from tests.docs.pages import ROOT, out_of_date


def test_the_page_says_what_the_figures_say() -> None:
    """Nobody changed a figure on the page by hand, and no figure is missing."""
    assert out_of_date("xquad_page.py") == ""


def test_figures_are_of_all_questions() -> None:
    """Stored figures are of whole sets: every question in every language, hardly any left out."""
    found = [json.loads(file.read_text()) for file in ROOT.glob("benchmarks/results/xquad-*.json")]
    assert found
    for figures in found:
        languages = figures["name"].removeprefix("xquad-").split("-")
        assert figures["queries"] >= 0.98 * 1190 * len(languages)
