"""Ablation: every preset over every set, each measured once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.small_sets import NOTES, QUERIES, quick, small_set
from twolane import Library, Settings
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.evaluation import ablation as module
from twolane.evaluation import indexes
from twolane.evaluation.ablation import (
    FORMAT,
    Ablation,
    ablate,
    cells,
    markdown,
    remarks,
    save_ablation,
)
from twolane.evaluation.golden import GoldenSet
from twolane.evaluation.golden_formats import save_golden
from twolane.evaluation.metrics import ndcg
from twolane.evaluation.presets import load_presets, selected
from twolane.evaluation.runs import plain_settings
from twolane.model.errors import BadInput, EmbedderError

STORY = Path(__file__).parents[2] / "benchmarks" / "story.toml"
CHOSEN = ("rrf-k-2", "relaxation-any", "no-breadcrumb", "lexical-only", "dense-only")


@pytest.fixture
def sets(tmp_path: Path) -> list[tuple[Path, GoldenSet]]:
    """One golden set over a small vault."""
    return [small_set(tmp_path)]


@pytest.fixture
def run(tmp_path: Path, sets: list[tuple[Path, GoldenSet]]) -> Callable[..., Ablation]:
    """Ablates the set, with all kept results in one folder."""

    def ablated(
        settings: Settings | None = None, only: tuple[str, ...] = CHOSEN, **options: Any
    ) -> Ablation:
        chosen = settings or quick()
        story = load_presets(STORY) if options.pop("story", False) else None
        presets = selected(chosen, only, story)
        given = options.pop("sets", sets)
        return ablate(given, presets, chosen, tmp_path / "kept", **options)

    return ablated


def test_every_preset_is_measured_and_compared(run: Callable[..., Ablation]) -> None:
    """Each preset has a run; all but the default are compared with it, query by query."""
    found = run()
    assert [row.preset.name for row in found.rows] == ["default", *CHOSEN]
    default, *others = found.rows
    assert default.comparison is None
    before = default.run.table(("ndcg@10",)).overall
    assert before is not None
    for row in others:
        assert row.comparison is not None
        after = row.run.table(("ndcg@10",)).overall
        assert after is not None
        assert row.comparison.delta == pytest.approx(after.values[0] - before.values[0])
        assert row.comparison.interval.low <= row.comparison.delta <= row.comparison.interval.high
    assert {row.preset.name: row.run.mode for row in others}["dense-only"] == "semantic"


def test_presets_run_under_their_settings(run: Callable[..., Ablation]) -> None:
    """What a run says of its settings is what the preset asked for."""
    by_name = {row.preset.name: row.run.settings for row in run().rows}
    assert by_name["rrf-k-2"]["ranking.rrf_k"] == 2.0
    assert by_name["no-breadcrumb"]["experiment.breadcrumb"] is False
    assert by_name["lexical-only"]["embedding.embedder"] == "none"
    # Evaluations wait for every lane, however busy the machine is.
    patient = {"search.embed_seconds": 3600.0, "search.query_seconds": 3600.0}
    assert by_name["default"] == {**plain_settings(quick()), **patient}


def test_a_second_time_runs_nothing(
    run: Callable[..., Ablation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept runs are used as they are: no query is asked again."""
    first = run()
    assert not any(row.kept for row in first.rows)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a query was asked again")

    monkeypatch.setattr(Library, "search", refuse)
    second = run()
    assert all(row.kept for row in second.rows)
    assert [row.run for row in second.rows] == [row.run for row in first.rows]
    assert [row.weight for row in second.rows] == [row.weight for row in first.rows]


def test_an_interrupted_ablation_goes_on(run: Callable[..., Ablation]) -> None:
    """What was measured before the interruption is kept, and only the rest is measured."""

    def stop(text: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(progress=stop)
    assert [row.kept for row in run().rows] == [True, True, True, False, False, False]


def test_presets_that_come_to_the_same_share_a_run(run: Callable[..., Ablation]) -> None:
    """The last step of the story is the default by another name."""
    default = run(only=("default",)).rows[0]
    ours = run(only=("ours",), story=True).rows[-1]
    assert (ours.preset.name, ours.run.name, ours.kept) == ("ours", "ours", True)
    assert ours.run.asked == default.run.asked


def test_fresh_measures_again(run: Callable[..., Ablation]) -> None:
    """With `fresh` nothing is taken from before."""
    run(only=("rrf-k-2",))
    assert not any(row.kept for row in run(only=("rrf-k-2",), fresh=True).rows)


def test_a_change_of_anything_is_measured(
    run: Callable[..., Ablation],
    sets: list[tuple[Path, GoldenSet]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other settings, judgments, notes or code make other runs."""
    ((file, golden),) = sets
    assert not run(only=("default",)).rows[0].kept
    assert run(only=("default",)).rows[0].kept

    assert not run(quick(ranking={"common_share": 0.3}), only=("default",)).rows[0].kept

    judged = replace(golden, queries=(replace(QUERIES[0], partial=("tea.md",)), *QUERIES[1:]))
    assert not run(only=("default",), sets=[(file, judged)]).rows[0].kept

    (file.parent / "vault" / "tea.md").write_text(NOTES["tea.md"] + "\nAnd honey.\n", "utf-8")
    assert not run(only=("default",)).rows[0].kept
    assert run(only=("default",)).rows[0].kept

    monkeypatch.setattr(module, "ranking_code", lambda: "other code")
    assert not run(only=("default",)).rows[0].kept


def test_a_kept_run_that_went_bad_is_measured_again(
    run: Callable[..., Ablation], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged file costs time, not the ablation."""
    before = run(only=("default",)).rows[0].run
    (kept,) = (tmp_path / "kept" / "runs").iterdir()
    kept.write_text("{", "utf-8")
    again = run(only=("default",)).rows[0]
    assert not again.kept
    assert again.run.rankings == before.rankings
    assert "measured again" in caplog.text


def test_a_degraded_run_is_not_kept(
    run: Callable[..., Ablation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that a broken embedder spoilt is told of, and measured again when it is mended."""

    def broken(self: HashingEmbedder, text: str) -> None:
        raise EmbedderError("out of order")

    with monkeypatch.context() as patched:
        patched.setattr(HashingEmbedder, "embed_query", broken)
        spoilt = run(only=("default",)).rows
    assert spoilt[0].degraded == len(QUERIES)
    assert "out of order" in remarks(spoilt)[0]
    mended = run(only=("default",)).rows
    assert (mended[0].kept, mended[0].degraded, remarks(mended)) == (False, 0, [])


def test_no_embedder_is_a_choice_and_is_kept(run: Callable[..., Ablation]) -> None:
    """Search by words only lacks a lane on purpose."""
    run(only=("lexical-only",))
    rows = run(only=("lexical-only",)).rows
    assert rows[1].kept
    assert remarks(rows) == []


def test_indexes_are_shared_where_analysis_agrees(
    run: Callable[..., Ablation], tmp_path: Path
) -> None:
    """One database per way to analyse notes; ranking alone needs no other."""
    run(only=("rrf-k-2", "rrf", "relaxation-any"))
    assert len(list((tmp_path / "kept").glob("*.db"))) == 1
    run(only=("no-breadcrumb", "one-stemmer", "characters-2000", "tokens-750", "overlap-100"))
    assert len(list((tmp_path / "kept").glob("*.db"))) == 6


def test_analysis_is_what_needs_another_index() -> None:
    """Every setting that changes how a document is analysed gives a bench of its own."""
    from twolane.ingest.analysis import analyzer_version

    changed: dict[str, Any] = {
        "index.languages": ("en",),
        "index.chunk_tokens": 300,
        "index.chunk_overlap": 10,
        "experiment.chunk_characters": 500,
        "experiment.breadcrumb": False,
        "experiment.stemming": "ru",
    }
    for name, value in changed.items():
        other = Settings().changed(**{name: value})
        assert analyzer_version(other) != analyzer_version(Settings())
        assert name in indexes.ANALYSIS


def test_other_code_makes_another_index(
    run: Callable[..., Ablation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the code that reads notes changes, the index is made again and the old one goes."""
    run(only=("default",))
    (old,) = (tmp_path / "kept").glob("*.db")
    monkeypatch.setattr(indexes, "analysis_code", lambda: "0123456789ab")
    run(only=("default",))
    (new,) = (tmp_path / "kept").glob("*.db")
    assert old != new
    assert new.name.endswith("-0123456789ab.db")


def test_weight_is_the_database_and_the_vectors(
    run: Callable[..., Ablation], tmp_path: Path
) -> None:
    """Vectors count by passages and dimensions; without an embedder there are none."""
    by_name = {row.preset.name: row.weight for row in run().rows}
    assert by_name["default"].vectors == len(NOTES) * 256 * 4
    assert by_name["lexical-only"].vectors == 0
    assert by_name["lexical-only"].database <= by_name["default"].database
    assert by_name["default"].megabytes == pytest.approx(
        (by_name["default"].database + by_name["default"].vectors) / 1e6
    )


def test_several_sets_are_kept_apart(run: Callable[..., Ablation], tmp_path: Path) -> None:
    """Each set has its own default to compare with."""
    first, second = small_set(tmp_path / "a", "first"), small_set(tmp_path / "b", "second")
    found = run(only=("rrf-k-2",), sets=[first, second])
    assert [(name, len(rows)) for name, rows in found.by_set.items()] == [
        ("first", 2),
        ("second", 2),
    ]


def test_sets_that_cannot_be_compared_are_refused(
    run: Callable[..., Ablation], tmp_path: Path
) -> None:
    """A set of unanswerable queries, and two sets of one name, say so before anything runs."""
    file, golden = small_set(tmp_path / "a")
    silent = replace(golden, queries=QUERIES[-1:])
    with pytest.raises(BadInput, match="no answerable query"):
        run(sets=[(file, silent)])
    with pytest.raises(BadInput, match="two golden sets are called 'small'"):
        run(sets=[(file, golden), (file, golden)])
    with pytest.raises(BadInput, match="no measure"):
        run(measure="accuracy")
    assert not (tmp_path / "kept").exists()


def test_the_artefact_holds_what_the_figures_came_from(
    run: Callable[..., Ablation], tmp_path: Path
) -> None:
    """From the stored rankings alone the stored figures can be computed again."""
    path = save_ablation(run(), tmp_path / "runs", "ablation")
    again = save_ablation(run(), tmp_path / "runs", "ablation")
    assert path != again
    stored = json.loads(path.read_text("utf-8"))
    assert stored["format"] == FORMAT
    assert [one["name"] for one in stored["presets"]] == ["default", *CHOSEN]
    assert stored["presets"][1]["changes"] == {"ranking.fusion": "rrf", "ranking.rrf_k": 2.0}
    assert str(tmp_path) not in path.read_text("utf-8")
    (kept,) = stored["sets"]
    answerable = [query for query in QUERIES if not query.unanswerable]
    for row in kept["runs"]:
        rankings = dict(zip(kept["queries"], row["rankings"], strict=True))
        values = [
            ndcg([kept["documents"][at] for at in rankings[query.id]], query.grades, 10)
            for query in answerable
        ]
        mean = sum(values) / len(values)
        assert row["figures"]["all"]["ndcg@10"] == pytest.approx(mean, abs=1e-5)
        assert len(row["ms"]) == len(QUERIES)
        assert (row["delta"] is None) == (row["preset"] == "default")


def test_tables_show_every_preset(run: Callable[..., Ablation]) -> None:
    """A row has the measure, the difference with its interval, the times and the megabytes."""
    found = run()
    head, *rows = cells(list(found.rows), found.measure, detailed=False)
    assert head[1:3] == ["ndcg@10", "Δ ndcg@10 [95 %]"]
    assert head[-3:] == ["p50 ms", "p95 ms", "MB"]
    assert [row[0] for row in rows] == ["default", *CHOSEN]
    assert rows[0][2] == "" and "[" in rows[1][2]
    text = markdown(found, detailed=False)
    assert "## small, 8 queries" in text
    for row in found.rows:
        assert f"- `{row.preset.name}`: {row.preset.reason}" in text


def test_the_story_shows_directions(run: Callable[..., Ablation]) -> None:
    """The table of a story has all usual measures, and the measure in each direction."""
    found = run(only=(), story=True, measure="ndcg@5")
    head, *rows = cells(list(found.rows), found.measure, detailed=True)
    assert head[1:7] == ["recall@10", "ndcg@10", "mrr", "ndcg@5", "ndcg@5 en→en", "ndcg@5 ru→ru"]
    assert [row[0] for row in rows] == ["F0", "F1", "F2", "F4", "F5", "F5x", "ours"]
    compared = [row.preset.follows for row in found.rows if row.comparison]
    assert compared == ["F0", "F1", "F2", "F4", "F5", "F5"]


def test_a_vault_that_is_not_there_is_named(run: Callable[..., Ablation], tmp_path: Path) -> None:
    """A golden set without its vault says what to correct."""
    golden = GoldenSet("lost", vault="nowhere", queries=QUERIES[:1])
    save_golden(golden, tmp_path / "lost.json")
    with pytest.raises(BadInput, match="nowhere"):
        run(sets=[(tmp_path / "lost.json", golden)])
