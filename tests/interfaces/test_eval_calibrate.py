"""`twolane eval calibrate`: what similarities mean, and a threshold in the settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import COMPOST, QUERIES, TEA, TOMATOES, UNANSWERABLE, write_golden

MORE = [
    *QUERIES,
    {"id": "d", "query": "clean scissors and blades", "relevant": [TOMATOES]},
    {"id": "e", "query": "листья и трава", "relevant": [COMPOST]},
    {"id": "f", "query": "boiling water", "relevant": [TEA]},
    UNANSWERABLE,
]


@pytest.fixture
def golden(vault: Path, tmp_path: Path) -> Path:
    """A golden set with enough queries, one of them unanswerable."""
    return write_golden(tmp_path / "notes.json", MORE, vault=vault.name)


def calibrate(cli: Cli, *words: str | Path) -> Any:
    """What `eval calibrate --json` says."""
    return json.loads(cli("eval", "calibrate", "--json", *words).stdout)


def config(cli: Cli) -> Path:
    """The user's settings file."""
    return cli.home / "config" / "twolane" / "twolane.toml"


def test_shows_the_distributions_and_a_threshold(twolane: Cli, golden: Path) -> None:
    """Histogram, quantiles, and a threshold with its rates."""
    said = twolane("eval", "calibrate", golden).stdout
    assert "hashing signed-stems, 7 queries, 7 relevant and 21 irrelevant pairs" in said
    assert "proposed threshold search.min_similarity = " in said
    assert "where Youden's J is largest" in said
    assert "similarity" in said
    assert "--write puts search.min_similarity" in said
    assert not config(twolane).exists()


def test_the_artefact_is_stored(twolane: Cli, golden: Path) -> None:
    """What is printed as JSON is in the file, with the space's fingerprint."""
    said = calibrate(twolane, golden)
    stored = json.loads((twolane.home / said["file"]).read_text("utf-8"))
    assert stored["format"] == "twolane-calibration/3"
    assert stored["space"]["embedder"] == "hashing"
    assert len(stored["space"]["fingerprint"]) == 32
    for key in ("histogram", "quantiles", "proposed", "careful"):
        assert stored[key] == said[key]
    assert said["settings_change"] is None
    assert sum(row["relevant"] for row in said["histogram"]) == 7


def test_a_database_can_be_asked(indexed: Cli, tmp_path: Path) -> None:
    """With --db the user's own library is calibrated, and comes to the same."""
    golden = write_golden(tmp_path / "notes.json", MORE)
    said = calibrate(indexed, golden, "--db", indexed.db, "--runs", tmp_path / "runs")
    assert 0 < said["proposed"]["similarity"] < 1
    assert said["proposed"]["recall"] > 0.7


def test_a_share_can_be_kept(twolane: Cli, golden: Path) -> None:
    """--keep proposes the highest threshold that keeps so much of what is relevant."""
    said = calibrate(twolane, golden, "--keep", "1")
    assert said["proposed"]["recall"] == 1.0
    assert said["proposed"]["similarity"] <= calibrate(twolane, golden)["proposed"]["similarity"]
    assert "between 0 and 1" in twolane("eval", "calibrate", golden, "--keep", "7", code=2).stderr


def test_write_makes_a_settings_file(twolane: Cli, golden: Path) -> None:
    """Without a settings file --write creates one, shows it, and the setting is in force."""
    said = twolane("eval", "calibrate", golden, "--write").stdout
    threshold = calibrate(twolane, golden)["proposed"]["similarity"]
    assert config(twolane).read_text("utf-8") == f"[search]\nmin_similarity = {threshold:g}\n"
    assert f"+min_similarity = {threshold:g}" in said
    (row,) = [
        row
        for row in twolane.json("settings")["settings"]
        if row["name"] == "search.min_similarity"
    ]
    assert (row["value"], row["origin"]) == (threshold, str(config(twolane)))


def test_write_keeps_what_the_user_wrote(twolane: Cli, golden: Path) -> None:
    """Comments, other settings, order and line ends of the file stay; only the value changes."""
    before = (
        "# my settings\r\n[search]\r\nlimit = 7 # enough\r\n"
        "min_similarity = -0.5 # for now\r\npool = 50\r\n"
    )
    config(twolane).parent.mkdir(parents=True)
    config(twolane).write_bytes(before.encode())
    said = calibrate(twolane, golden, "--write")
    value = f"{said['proposed']['similarity']:g}"
    after = config(twolane).read_bytes().decode()
    assert after == before.replace("-0.5", value)
    assert "-min_similarity = -0.5 # for now" in said["settings_change"]
    assert f"+min_similarity = {value} # for now" in said["settings_change"]
    assert "says so already" in twolane("eval", "calibrate", golden, "--write").stdout
    assert config(twolane).read_bytes().decode() == after


def test_write_goes_to_the_file_in_use(twolane: Cli, golden: Path) -> None:
    """The file that TWOLANE_CONFIG names is changed, and no other is made."""
    own = twolane.home / "own.toml"
    own.write_text("[search]\nlimit = 7\n", "utf-8")
    twolane("eval", "calibrate", golden, "--write", TWOLANE_CONFIG=str(own))
    assert own.read_text("utf-8").startswith("[search]\nlimit = 7\nmin_similarity = ")
    assert not config(twolane).exists()


def test_a_value_that_is_overruled_is_told(twolane: Cli, golden: Path) -> None:
    """Where the environment says otherwise, the user hears that the file is not what counts."""
    done = twolane("eval", "calibrate", golden, "--write", TWOLANE_SEARCH_MIN_SIMILARITY="0.5")
    assert "min_similarity comes from environment" in done.stderr


def test_a_file_that_cannot_be_changed_is_left_alone(twolane: Cli, golden: Path) -> None:
    """Where the spelling is beyond us nothing is written, and the user is told what to do."""
    text = "search.min_similarity = 0.2\n"
    config(twolane).parent.mkdir(parents=True)
    config(twolane).write_text(text, "utf-8")
    done = twolane("eval", "calibrate", golden, "--write", code=2)
    assert "write min_similarity = " in done.stderr
    assert config(twolane).read_text("utf-8") == text


def test_no_vectors_no_calibration(twolane: Cli, golden: Path) -> None:
    """Without an embedder the command says why it cannot work."""
    done = twolane("eval", "calibrate", golden, code=5, TWOLANE_EMBEDDING_EMBEDDER="none")
    assert "without vectors" in done.stderr
