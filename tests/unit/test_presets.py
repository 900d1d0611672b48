"""Presets: each changes what it says, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twolane import Mode, Settings, TwolaneError
from twolane.evaluation.presets import DEFAULT, Preset, load_presets, selected
from twolane.model.errors import BadInput
from twolane.settings import DECLARED

ROOT = Path(__file__).parents[2]
VARIATIONS = load_presets()
STORY = load_presets(ROOT / "benchmarks" / "story.toml")
PRESETS = (DEFAULT, *VARIATIONS, *STORY)

# What the search as it was found had in common with ours, or what has no part in ranking.
NEUTRAL = {
    *(one for one in DECLARED if one.partition(".")[0] not in ("search", "ranking", "experiment")),
    "search.limit",
    "search.pool",
    "search.semantic",
    "search.min_relevance",
    "search.embed_seconds",
    "search.query_seconds",
    "ranking.common_share",
    "ranking.model_file",
    "experiment.reranking",
}


def name(preset: Preset) -> str:
    """The preset as it is called in reports."""
    return preset.name


def difference(before: Settings, after: Settings) -> dict[str, Any]:
    """The settings in which the second differs from the first, with its values."""
    old = before.flat()
    return {one: value for one, value in after.flat().items() if old[one] != value}


# Settings that no preset names, so that every change of a preset shows.
ELSEWHERE: dict[str, Any] = {
    "embedding.embedder": "hashing",
    "experiment.dense_pool": 7,
    "ranking.rrf_k": 33.0,
    "ranking.lexical_weight": 0.9,
    "ranking.dense_weight": 0.8,
    "experiment.stemming": "de",
    "experiment.relaxation": "graded",
    "experiment.chunk_characters": 999,
    "index.chunk_tokens": 333,
    "index.chunk_overlap": 11,
    "search.min_similarity": 0.11,
}


@pytest.mark.parametrize("preset", PRESETS, ids=name)
def test_a_preset_changes_what_it_says(preset: Preset) -> None:
    """The difference between the settings with and without a preset is what the preset lists."""
    for base in (Settings(), Settings().changed(**ELSEWHERE)):
        applied = preset.applied(base)
        before, after = base.flat(), applied.flat()
        changed = {one: value for one, value in preset.changes.items() if before[one] != value}
        assert difference(base, applied) == changed
        assert all(after[one] == value for one, value in preset.changes.items())


@pytest.mark.parametrize("preset", VARIATIONS, ids=name)
def test_a_variation_changes_one_thing(preset: Preset) -> None:
    """A variation has one change, of a setting or of the mode, and is compared with the default.

    Rank fusion and its constant are one: without the first, the second means nothing.
    """
    changed = set(preset.changes)
    if preset.changes.get("ranking.fusion") == "rrf":
        changed.discard("ranking.rrf_k")
    assert len(changed) + (preset.mode != Mode.HYBRID) == 1
    assert preset.follows == DEFAULT.name


@pytest.mark.parametrize("preset", PRESETS, ids=name)
def test_presets_are_possible_and_explained(preset: Preset) -> None:
    """Every value passes the settings' own checks, and every preset has its reason."""
    loaded = Settings.load(dict(preset.changes), environment={}).settings
    assert loaded == preset.applied(Settings())
    assert preset.reason.endswith(".")
    assert preset.reason[0].isupper()


@pytest.mark.parametrize("preset", VARIATIONS, ids=name)
def test_presets_are_documented(preset: Preset) -> None:
    """The reference has a row for each preset, with its reason."""
    page = (ROOT / "docs" / "reference" / "eval-ablate.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{preset.name}` |")]
    assert any(line.endswith(f"| {preset.reason} |") for line in rows)


def test_optional_presets_are_asked_for_by_name() -> None:
    """What takes long is left out of an ablation of everything, and measured when it is named."""
    usual = {preset.name for preset in selected(Settings())}
    optional = {preset.name for preset in VARIATIONS if preset.optional}
    assert optional == {
        "no-centring",
        "embedder-use",
        "embedder-e5",
        "embedder-ensemble",
        "rerank-replace",
        "rerank-replace-whole",
    }
    assert not usual & optional
    asked = [preset.name for preset in selected(Settings(), ["embedder-e*"])]
    assert asked == ["default", "embedder-e5", "embedder-ensemble"]


def test_names_are_unique() -> None:
    """A name means one preset."""
    names = [preset.name for preset in PRESETS]
    assert len(set(names)) == len(names)


STEPS: dict[str, dict[str, object]] = {
    "F1": {"experiment.dense_pool": 50},
    "F2": {"experiment.stemming": "per-language"},
    "F4": {"experiment.breadcrumb": True, "experiment.chunk_characters": 0},
    "F5": {"experiment.similarity": "dot"},
    "F5x": {"experiment.relaxation": "any"},
}


@pytest.mark.parametrize("step", STEPS)
def test_steps_of_the_story_build_on_each_other(step: str) -> None:
    """A step is the step that it follows and one improvement."""
    by_name = {preset.name: preset for preset in STORY}
    before = by_name[by_name[step].follows or ""].applied(Settings())
    assert difference(before, by_name[step].applied(Settings())) == STEPS[step]


def test_the_story_begins_with_every_choice_undone() -> None:
    """The first step sets all that has a part in ranking; a new setting must be decided on."""
    assert STORY[0].name == "F0"
    assert STORY[0].follows is None
    named = set(STORY[0].changes)
    assert named.isdisjoint(NEUTRAL)
    assert named | NEUTRAL == set(DECLARED)


def test_the_story_ends_with_the_settings_as_they_are() -> None:
    """What is shipped is compared with the last step that was kept."""
    settings = Settings().changed(**ELSEWHERE)
    assert STORY[-1].name == "ours"
    assert STORY[-1].follows == "F5"
    assert STORY[-1].applied(settings) == settings


class TestSelection:
    """Which presets are measured."""

    def test_what_is_so_already_is_left_out(self) -> None:
        """A variation that changes nothing about the settings is not measured; others are."""
        settings = Settings().changed(ranking={"fusion": "rrf", "rrf_k": 10.0})
        names = {preset.name for preset in selected(settings)}
        assert "rrf-k-10" not in names
        assert {"default", "rrf", "rrf-k-2", "dense-only"} <= names

    def test_the_default_comes_first(self) -> None:
        """Everything is compared with the default, so it is measured before."""
        assert selected(Settings())[0] is DEFAULT
        named = [one.name for one in selected(Settings(), ["rrf*"])]
        assert named == ["default", "rrf", "rrf-k-10", "rrf-k-2"]

    def test_a_step_brings_the_one_before(self) -> None:
        """A single step of the story is measured with the step that it is compared with."""
        assert [one.name for one in selected(Settings(), ["F4"], STORY)] == ["F2", "F4"]
        assert selected(Settings(), (), STORY) == STORY

    @pytest.mark.parametrize(("presets", "known"), [(None, "rrf-k-2"), (STORY, "F0")])
    def test_an_unknown_name_is_refused(self, presets: list[Preset] | None, known: str) -> None:
        """The message lists the names that there are."""
        with pytest.raises(BadInput, match=known) as refused:
            selected(Settings(), ["kk"], presets)
        assert "'kk'" in str(refused.value)

    def test_nothing_to_compare_is_refused(self) -> None:
        """Asking for what is in force anyway says so."""
        with pytest.raises(BadInput, match="already"):
            selected(Settings(ranking={"fusion": "rrf"}), ["rrf"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a", "not valid TOML"),
        ("a = 1", "'a' cannot be read"),
        ("[a]\nchanges = { ranking.rrf_k = 2 }", "'a' cannot be read"),
        ("[a]\nreason = 'x'\ncolour = 1", "unknown colour"),
        ("[a]\nreason = 'x'\nchanges = { ranking.colour = 1 }", "unknown setting 'ranking.colour'"),
        ("[a]\nreason = 'x'\nchanges = { ranking.rrf_k = 'x' }", "ranking.rrf_k"),
        ("[a]\nreason = 'x'\nfollows = 'b'\n[b]\nreason = 'x'", "'a' cannot be read"),
        ("[a]\nreason = 'x'\nmode = 'loud'", "'a' cannot be read"),
    ],
)
def test_a_bad_file_of_presets_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """A mistake in presets of one's own is named with the preset that it is in."""
    (tmp_path / "mine.toml").write_text(text, "utf-8")
    with pytest.raises(TwolaneError, match=problem):
        load_presets(tmp_path / "mine.toml")
