"""The plan: which lanes run for which query."""

from __future__ import annotations

import pytest

from twolane import Mode, Settings
from twolane.model.answer import Lane
from twolane.query.intent import Intent
from twolane.query.plan import plan_for

USUAL = Settings()


@pytest.mark.parametrize("intent", Intent)
def test_letters_have_a_say_where_they_say_most(intent: Intent) -> None:
    """Addresses, paths, symbols and quotations are looked for by their letters at once."""
    plan = plan_for(Mode.HYBRID, intent, USUAL)
    literal = intent in (Intent.URL, Intent.PATH, Intent.SYMBOL, Intent.QUOTED)
    assert (Lane.EXACT in plan.weights) is literal
    assert (Lane.EXACT in plan.fallback) is not literal
    assert {Lane.LEXICAL, Lane.DENSE, Lane.IDENTITY} <= set(plan.weights)


def test_a_part_of_a_word_is_looked_for_by_its_letters() -> None:
    """Where a word that no document holds may be part of another one, letters have a say."""
    for kind, looked in (("part", True), ("typo", True), ("layout", False)):
        plan = plan_for(Mode.HYBRID, Intent.KEYWORDS, USUAL, [kind])
        assert (Lane.EXACT in plan.weights) is looked


def test_modes() -> None:
    """Each mode has its lanes; words fall back on letters, meaning on nothing."""
    lanes = {mode: set(plan_for(mode, Intent.KEYWORDS, USUAL).weights) for mode in Mode}
    assert lanes[Mode.LEXICAL] == {Lane.LEXICAL}
    assert lanes[Mode.SEMANTIC] == {Lane.DENSE}
    assert lanes[Mode.EXACT] == {Lane.EXACT}
    assert lanes[Mode.HYBRID] == {Lane.LEXICAL, Lane.DENSE, Lane.IDENTITY}
    assert set(plan_for(Mode.LEXICAL, Intent.KEYWORDS, USUAL).fallback) == {Lane.EXACT}
    assert not plan_for(Mode.SEMANTIC, Intent.KEYWORDS, USUAL).fallback


def test_letters_can_be_switched_off() -> None:
    """Then names and letters are not looked for, except where nothing else was asked for."""
    silent = USUAL.changed(experiment={"letters": False})
    plan = plan_for(Mode.HYBRID, Intent.URL, silent)
    assert set(plan.weights) == {Lane.LEXICAL, Lane.DENSE}
    assert not plan.fallback
    assert plan_for(Mode.EXACT, Intent.URL, silent).weights == {Lane.EXACT: 1.0}


def test_a_plan_as_followed() -> None:
    """A fallback is part of the plan only if it was needed."""
    plan = plan_for(Mode.LEXICAL, Intent.KEYWORDS, USUAL)
    assert set(plan.followed([Lane.LEXICAL]).weights) == {Lane.LEXICAL}
    assert set(plan.followed([Lane.LEXICAL, Lane.EXACT]).weights) == {Lane.LEXICAL, Lane.EXACT}
