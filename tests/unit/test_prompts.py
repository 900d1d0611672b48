"""Prompts with places to fill in."""

from __future__ import annotations

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
