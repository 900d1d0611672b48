"""Properties inside a text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.ingest.parsing.markdown import inline_fields, parse_note


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("status:: done", {"status": "done"}),
        ("- **Due Date**:: 2026-03-01", {"due-date": "2026-03-01"}),
        ("rating:: 4\n\nprice:: 2.5\n\nread:: true", {"rating": 4, "price": 2.5, "read": True}),
        ("I met [who:: [[Ann|Anna]]] (mood:: good) there", {"who": "Anna", "mood": "good"}),
        ("tag:: a\ntag:: b", {"tag": ["a", "b"]}),
        ("статус:: готово", {"статус": "готово"}),
        ("use std::vector and a::b", {}),
        ("`x:: y` and\n\n```\nkey:: value\n```\n", {}),
        ("key::", {}),
        ("day:: 2026-99-99", {"day": "2026-99-99"}),
    ],
)
def test_what_is_a_field(text: str, fields: dict[str, object]) -> None:
    """Lines, list items and brackets; numbers, days and truth values are such; code is not."""
    assert inline_fields(text) == fields


def test_front_matter_goes_first() -> None:
    """What it says is not overruled by the text."""
    data = b"---\nstatus: open\n---\nstatus:: done\n\nrating:: 5\n"
    parsed = parse_note(
        data, path="a.md", collection="c", modified=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert parsed.document is not None
    assert dict(parsed.document.properties) == {"status": "open", "rating": 5}


@given(st.text(alphabet="ab:[]()` \n*->#1"))
def test_no_text_raises(text: str) -> None:
    """Whatever stands in a note."""
    assert isinstance(inline_fields(text), dict)
