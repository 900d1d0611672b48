"""`twolane eval ablate`: variations and the story, from the command line."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import UNANSWERABLE, write_golden
from tests.waiting import PATIENCE, eventually

STORY = Path(__file__).parents[2] / "benchmarks" / "story.toml"
STEPS = ["F0", "F1", "F2", "F4", "F5", "F5x", "ours"]


@pytest.fixture
def golden(vault: Path, tmp_path: Path) -> Path:
    """A golden set that names its vault."""
    return write_golden(tmp_path / "notes.json", vault=vault.name)


def ablate(cli: Cli, *words: str | Path) -> Any:
    """What `eval ablate --json` says."""
    return json.loads(cli("eval", "ablate", "--json", *words).stdout)


def test_variations_are_measured_and_stored(twolane: Cli, golden: Path) -> None:
    """Each variation stands beside the default with difference, times and bytes."""
    said = ablate(twolane, golden, "--only", "rrf-*", "--only", "dense-only")
    (one,) = said["sets"]
    assert one["name"] == "notes"
    names = [row["preset"] for row in one["rows"]]
    assert names[0] == "default" and names[-1] == "dense-only"
    assert {name.partition("-")[0] for name in names[1:-1]} == {"rrf"}
    default, *others = one["rows"]
    assert default["delta"] is None
    for row in others:
        assert row["delta"]["low"] <= row["delta"]["estimate"] <= row["delta"]["high"]
        assert set(row["figures"]["all"]) == {"recall@10", "ndcg@10", "mrr"}
        assert 0 < row["ms"]["p50"] <= row["ms"]["p95"]
        assert row["bytes"]["database"] > row["bytes"]["vectors"] > 0
    stored = json.loads(Path(twolane.home / said["file"]).read_text("utf-8"))
    assert stored["format"] == "twolane-ablation/1"
    assert [run["preset"] for run in stored["sets"][0]["runs"]] == names


def test_a_second_time_everything_is_kept(twolane: Cli, golden: Path) -> None:
    """The same command again measures nothing, and --fresh measures all of it."""
    words = (golden, "--only", "relaxation-all")
    assert [row["kept"] for row in ablate(twolane, *words)["sets"][0]["rows"]] == [False, False]
    said = twolane("eval", "ablate", *words).stdout
    assert "2 of 2 runs were kept from before" in said
    again = ablate(twolane, *words, "--fresh")
    assert [row["kept"] for row in again["sets"][0]["rows"]] == [False, False]


def test_the_story_is_told_in_order(twolane: Cli, golden: Path, tmp_path: Path) -> None:
    """The steps stand in a table with their measures, and in a Markdown file if one is named."""
    words = ("--presets", STORY, "--markdown", tmp_path / "story.md")
    told = twolane("eval", "ablate", golden, *words).stdout
    lines = told.splitlines()
    assert lines[0].startswith("notes  3 queries")
    assert lines[1].split()[:3] == ["recall@10", "ndcg@10", "mrr"]
    assert [line.split()[0] for line in lines[2 : 2 + len(STEPS)]] == STEPS
    assert "MB: the database file" in told
    assert list((twolane.home / "eval-runs").glob("story-*.json"))
    page = (tmp_path / "story.md").read_text("utf-8")
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| F")] == (
        STEPS[:-1]
    )


def test_settings_and_measure_can_be_chosen(twolane: Cli, golden: Path) -> None:
    """--set changes what everything is compared with, --measure what is compared."""
    said = ablate(
        twolane,
        golden,
        "--set",
        "ranking.rrf_k=5",
        "--only",
        "rrf-k-2",
        "--measure",
        "mrr",
        "--runs",
        "kept",
    )
    assert said["measure"] == "mrr"
    stored = json.loads((twolane.home / said["file"]).read_text("utf-8"))
    assert Path(said["file"]).parent == Path("kept")
    assert stored["settings"]["ranking.rrf_k"] == 5.0
    assert stored["presets"][1]["changes"] == {"ranking.fusion": "rrf", "ranking.rrf_k": 2.0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "nothing"), "no variation is called 'nothing'"),
        (("--only", "rrf", "--presets", str(STORY)), "no variation is called 'rrf'"),
        (("--measure", "beauty"), "no measure 'beauty'"),
        (("--set", "db=x"), "use --db FILE"),
        (("--set", "colour=red"), "unknown setting 'colour'"),
    ],
)
def test_bad_wishes_are_refused(
    twolane: Cli, golden: Path, words: tuple[str, ...], message: str
) -> None:
    """A wrong name is said before anything is indexed."""
    done = twolane("eval", "ablate", golden, *words, code=2)
    assert message in done.stderr
    assert not (twolane.home / "eval-runs").exists()


def test_sets_without_vault_or_answers_are_refused(
    twolane: Cli, vault: Path, tmp_path: Path
) -> None:
    """Ablation makes its own indexes and compares rankings, so it needs a vault and answers."""
    lost = write_golden(tmp_path / "lost.json")
    assert "names no vault" in twolane("eval", "ablate", lost, code=2).stderr
    silent = write_golden(tmp_path / "silent.json", [UNANSWERABLE], vault=vault.name)
    assert "no answerable query" in twolane("eval", "ablate", silent, code=2).stderr


def test_an_interrupted_ablation_goes_on(twolane: Cli, golden: Path) -> None:
    """Interrupted, it says what to do; the same command then finds what was measured."""
    kept = twolane.home / "cache" / "twolane" / "eval" / "runs"
    with twolane.beside("eval", "ablate", golden) as process:
        # A run that is being written has another name until it is complete.
        eventually(lambda: len(list(kept.glob("*.json"))) >= 3 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "run the same command to go on" in complaint
    assert not (twolane.home / "eval-runs").exists()
    rows = ablate(twolane, golden)["sets"][0]["rows"]
    flags = [row["kept"] for row in rows]
    assert flags[:3] == [True, True, True]
    assert not all(flags)
