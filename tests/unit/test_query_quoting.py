"""Quotation marks: a demand among keywords, a name within a question."""

from __future__ import annotations

import pytest

from twolane.query import parse


@pytest.mark.parametrize(
    "text",
    [
        'where did the crew of "Apollo 1" train?',
        "Где экипаж «Аполлон-1» тренировался перед стартом?",
        "Wie hieß die Mannschaft von „Apollo 1“ damals?",
        "where did the crew of “Apollo 1” train？",
    ],
)
def test_a_question_names(text: str) -> None:
    """Nothing is demanded, and the words in quotes are words like any other."""
    query = parse(text, {"en", "ru", "de"})
    assert query.clause is None
    assert query.text == text
    assert "1" in {word.text for word in query.words} or "аполлон-1" in query.meaning.lower()


@pytest.mark.parametrize(
    "text",
    [
        '"green tea" kettle',
        'leaves "green tea"',
        'steep the leaves of "green tea" slowly',
        '"what is green tea?"',
        'what is "green tea"?',
        'how do I steep the leaves title:"green tea"?',
        'how do I steep the leaves -"green tea"?',
    ],
)
def test_keywords_demand(text: str) -> None:
    """Without a question mark, or with hardly a word beside it, a quotation is a demand."""
    assert parse(text, {"en"}).clause is not None
