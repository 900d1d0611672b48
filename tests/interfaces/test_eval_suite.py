"""`twolane eval suite` and collections: many sets in one table."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import UNANSWERABLE, write_golden
from tests.unit.test_indexes import beir_folder


def test_a_collection_is_run_from_its_folder(twolane: Cli, tmp_path: Path) -> None:
    """`--beir` indexes the corpus of the folder; nothing else has to be prepared."""
    folder = beir_folder(tmp_path / "teas")
    said = json.loads(twolane("eval", "run", "--beir", folder, "--json").stdout)
    assert said["runs"][0]["overall"]["mrr"]["estimate"] == 1.0
    assert not twolane.db.exists()
    nothing = twolane("eval", "run", code=2)
    assert "name a golden set" in nothing.stderr


def test_a_suite_in_one_table(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """Every set has a row, groups and all have a mean, and a stored run a difference to it."""
    beir_folder(tmp_path / "teas")
    write_golden(tmp_path / "own.json", vault=vault.name)
    write_golden(tmp_path / "none.json", [UNANSWERABLE], vault=vault.name)
    suite = tmp_path / "suite.toml"
    suite.write_text(
        'name = "both"\n[groups]\nours = ["own.json", "none.json"]\nopen = ["teas"]\n', "utf-8"
    )
    said = json.loads(twolane("eval", "suite", suite, "--runs", tmp_path / "r", "--json").stdout)
    assert [one["name"] for one in said["sets"]] == ["own", "none", "teas.test"]
    assert said["mean"]["mrr"]["estimate"] == 1.0
    assert said["mean_delta"] is None
    assert said["relevance_auroc"].keys() == {"none"}
    stored = Path(said["file"])
    assert stored.name.startswith("suite-both-hybrid-2")
    shown = twolane(
        "eval", "suite", suite, "--baseline", stored, "--measures", "mrr,recall@50", "--quiet"
    ).stdout
    assert "both  hybrid  3 sets, 5 queries" in shown
    assert "Δ mrr" in shown
    assert "±.000 [±.000, ±.000]" in shown
    lines = [line.split("  ")[1] for line in shown.splitlines() if line.startswith("  mean of")]
    assert lines == ["mean of ours", "mean of open", "mean of all sets"]
    assert "answerable or not, none: AUROC" in shown
    alone = twolane("eval", "suite", suite, "--only", "open", "--json").stdout
    assert [one["name"] for one in json.loads(alone)["sets"]] == ["teas.test"]
