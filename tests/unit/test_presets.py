"""Presets: each changes what it says, and nothing else."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from twolane import Mode, Settings
from twolane.errors import BadInput
from twolane.evaluation.presets import (
    DEFAULT,
    STORY,
    VARIATIONS,
    Preset,
    difference,
    selected,
)

PRESETS = (DEFAULT, *VARIATIONS, *STORY)

# What the search as it was found had in common with ours, or what has no part in ranking.
NEUTRAL = {
    "db",
    "cache",
    "half_life_days",
    "half_uses",
    "embedder",
    "model",
    "model_url",
    "model_key",
    "model_dimensions",
    "model_tokens",
    "model_encoding",
    "model_input_type",
    "model_batch",
    "model_seconds",
    "model_tries",
    "model_threads",
    "query_prompt",
    "passage_prompt",
    "languages",
    "include",
    "exclude",
    "max_file_bytes",
    "chunk_tokens",
    "chunk_overlap",
    "limit",
    "pool",
    "common_share",
    "coverage_power",
    "embed_seconds",
    "phrasing_weight",
    "relevance_file",
    "save_embed_seconds",
    "embed_batch_tokens",
    "embed_tries",
    "retry_seconds",
    "retry_most_seconds",
    "keep_generations",
    "gate",
    "gate_tolerance",
    "semantic",
    "editor",
    "link_template",
    "watch_debounce",
    "watch_seconds",
    "batch",
    "cores",
    "busy_seconds",
    "exact_bodies",
    "host",
    "port",
    "hosts",
    "origins",
    "require_token",
    "tokens",
    "processes",
    "threads",
    "queue",
    "request_seconds",
    "max_body_bytes",
    "requests_per_minute",
    "log_queries",
    "judgments",
}


def name(preset: Preset) -> str:
    """The preset as it is called in reports."""
    return preset.name


# Settings that no preset names, so that every change of a preset shows.
ELSEWHERE: dict[str, Any] = {
    "embedder": "hashing",
    "dense_pool": 7,
    "rrf_k": 33.0,
    "lexical_weight": 0.9,
    "dense_weight": 0.8,
    "stemming": "de",
    "relaxation": "graded",
    "coverage_power": 2.5,
    "chunk_characters": 999,
    "chunk_tokens": 333,
    "chunk_overlap": 11,
    "min_similarity": 0.11,
    "exact_weight": 0.7,
    "identity_weight": 0.6,
}


@pytest.mark.parametrize("preset", PRESETS, ids=name)
def test_a_preset_changes_what_it_says(preset: Preset) -> None:
    """The difference between the settings with and without a preset is what the preset lists."""
    for base in (Settings(), replace(Settings(), **ELSEWHERE)):
        applied = preset.applied(base)
        changed = {
            one: value for one, value in preset.changes.items() if getattr(base, one) != value
        }
        assert difference(base, applied) == changed
        assert all(getattr(applied, one) == value for one, value in preset.changes.items())


@pytest.mark.parametrize("preset", VARIATIONS, ids=name)
def test_a_variation_changes_one_thing(preset: Preset) -> None:
    """A variation has one change, of a setting or of the mode, and is compared with the default."""
    assert len(preset.changes) + (preset.mode != Mode.HYBRID) == 1
    assert preset.follows == DEFAULT.name


@pytest.mark.parametrize("preset", PRESETS, ids=name)
def test_presets_are_possible_and_explained(preset: Preset) -> None:
    """Every value passes the settings' own checks, and every preset has its reason."""
    loaded = Settings.load(dict(preset.changes), environment={}).settings
    assert loaded == preset.applied(Settings())
    assert preset.reason.endswith(".")
    assert preset.reason[0].isupper()


@pytest.mark.parametrize("preset", [*VARIATIONS, *STORY], ids=name)
def test_presets_are_documented(preset: Preset) -> None:
    """The reference has a row for each preset, with its reason."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "eval-ablate.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{preset.name}` |")]
    assert any(line.endswith(f"| {preset.reason} |") for line in rows)


def test_optional_presets_are_asked_for_by_name() -> None:
    """What takes long is left out of an ablation of everything, and measured when it is named."""
    usual = {preset.name for preset in selected(Settings())}
    optional = {preset.name for preset in VARIATIONS if preset.optional}
    assert optional == {"no-centring", "embedder-use", "embedder-e5", "embedder-ensemble"}
    assert not usual & optional
    asked = [preset.name for preset in selected(Settings(), ["embedder-e*"])]
    assert asked == ["default", "embedder-e5", "embedder-ensemble"]


def test_names_are_unique() -> None:
    """A name means one preset."""
    names = [preset.name for preset in PRESETS]
    assert len(set(names)) == len(names)


STEPS: dict[str, dict[str, object]] = {
    "F1": {"dense_pool": 50},
    "F2": {"stemming": "per-language"},
    "F4": {"breadcrumb": True, "chunk_characters": 0},
    "F5": {"similarity": "dot"},
    "F5x": {"relaxation": "any"},
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
    assert named | NEUTRAL == {one.name for one in fields(Settings)}


def test_the_story_ends_with_the_settings_as_they_are() -> None:
    """What is shipped is compared with the last step that was kept."""
    settings = replace(Settings(), **ELSEWHERE)
    assert STORY[-1].name == "ours"
    assert STORY[-1].follows == "F5"
    assert STORY[-1].applied(settings) == settings


class TestSelection:
    """Which presets are measured."""

    def test_what_is_so_already_is_left_out(self) -> None:
        """A variation that changes nothing about the settings is not measured; others are."""
        names = {preset.name for preset in selected(replace(Settings(), rrf_k=10.0))}
        assert "k-10" not in names
        assert {"default", "k-2", "k-60", "dense-only"} <= names

    def test_the_default_comes_first(self) -> None:
        """Everything is compared with the default, so it is measured before."""
        assert selected(Settings())[0] is DEFAULT
        assert [one.name for one in selected(Settings(rrf_k=5.0), ["k-*"])][:2] == [
            "default",
            "k-2",
        ]

    def test_a_step_brings_the_one_before(self) -> None:
        """A single step of the story is measured with the step that it is compared with."""
        assert [one.name for one in selected(Settings(), ["F4"], story=True)] == ["F2", "F4"]
        assert selected(Settings(), story=True) == list(STORY)

    @pytest.mark.parametrize("story", [False, True])
    def test_an_unknown_name_is_refused(self, story: bool) -> None:
        """The message lists the names that there are."""
        with pytest.raises(BadInput, match="F0" if story else "k-2") as refused:
            selected(Settings(), ["kk"], story=story)
        assert "'kk'" in str(refused.value)

    def test_nothing_to_compare_is_refused(self) -> None:
        """Asking for what is in force anyway says so."""
        with pytest.raises(BadInput, match="already"):
            selected(Settings(rrf_k=60.0), ["k-60"])
