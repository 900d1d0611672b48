"""Prompts with places to fill in."""

from __future__ import annotations

import pytest

from twolane.model.errors import BadInput
from twolane.text.prompts import Argument, arguments_of, filled

TEXT = "Shorten {{text}} to {{ words }} words.\n"


def test_arguments_are_declared_or_stand_in_the_text() -> None:
    """Declared ones come first, each once, with what they are for."""
    assert arguments_of(TEXT, ["words: how many", "tone"]) == [
        Argument("words", "how many"),
        Argument("tone"),
        Argument("text"),
    ]
    assert arguments_of("{{ 1 + 2 }} {{}}", []) == []


def test_values_go_to_their_places() -> None:
    """A place without a value stays, a value without a place is told at the end."""
    assert filled(TEXT, {"text": "{{words}}"}) == "Shorten {{words}} to {{ words }} words.\n"
    said = filled(TEXT, {"text": "this", "words": "9", "tone": "kind", "x": ""})
    assert said == "Shorten this to 9 words.\n\ntone: kind"


def test_a_prompt_cannot_grow_without_bound() -> None:
    """Many places and a long value would be gigabytes; a long list of arguments is cut."""
    with pytest.raises(BadInput, match="longer than 200,000"):
        filled("{{a}}" * 30_000, {"a": "x" * 60_000})
    with pytest.raises(BadInput, match="longer than 200,000"):
        filled("", {"a": "x" * 200_001})
    assert len(arguments_of("", [f"a{number}" for number in range(5_000)])) == 100
