"""The page about what each choice is worth is made from stored runs."""

from __future__ import annotations

import json

from tests.docs.pages import ROOT, out_of_date
from twolane.evaluation.presets import load_presets
from twolane.settings import OLD_NAMES


def test_the_page_says_what_the_runs_say() -> None:
    """Nobody changed a figure on the page by hand, and no figure is missing."""
    assert out_of_date("ablation_page.py") == ""


def test_every_choice_is_measured() -> None:
    """Each variation that the program knows is in a stored run, on every `dev` set with answers."""
    variations = load_presets()
    wanted = {path.name for path in ROOT.glob("benchmarks/golden/*.dev.json")}
    wanted -= {"unanswerable.dev.json"}
    measured: set[str] = set()
    for label in ("ablation", "embedders"):
        stored = json.loads(max(ROOT.glob(f"benchmarks/runs/{label}-*.json")).read_text("utf-8"))
        assert {f"{golden['name']}.json" for golden in stored["sets"]} == wanted
        settings = {OLD_NAMES.get(name) or name: one for name, one in stored["settings"].items()}
        measured |= {preset["name"] for preset in stored["presets"]}
        # A variation that is the setting already has nothing to measure.
        measured |= {
            one.name
            for one in variations
            if one.changes and all(settings[key] == value for key, value in one.changes.items())
        }
    assert {one.name for one in variations} <= measured
