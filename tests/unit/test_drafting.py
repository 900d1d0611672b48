"""What can be saved, and what is said of what cannot."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.ingest.drafting import LONGEST_TAG, LONGEST_TITLE, drafted, tags_of
from twolane.model.document import Kind
from twolane.model.draft import Draft
from twolane.model.errors import BadDraft

WRONG = [
    ("id", {"id": ""}),
    ("id", {"id": " a"}),
    ("id", {"id": "a\nb"}),
    ("id", {"id": "x" * 1001}),
    ("id", {"id": 7}),
    ("id", {"id": "\ud800"}),
    ("kind", {"kind": "poem"}),
    ("collection", {"collection": "a/b"}),
    ("collection", {"collection": ""}),
    ("title", {"title": None}),
    ("title", {"title": "x" * (LONGEST_TITLE + 1)}),
    ("body", {"body": b"bytes"}),
    ("body", {"body": "half \udc00"}),
    ("url", {"url": "example.org"}),
    ("url", {"url": "https://exa mple.org"}),
    ("url", {"url": "https://"}),
    ("url", {"url": "https://[::1"}),
    ("url", {"url": "https://host:port/"}),
    ("url", {"url": "javascript:alert(1)"}),
    ("url", {"kind": Kind.BOOKMARK}),
    ("path", {"path": "/etc/passwd"}),
    ("path", {"path": "../up"}),
    ("path", {"path": "a/../../b"}),
    ("path", {"path": "a\\..\\b"}),
    ("path", {"path": "a//b"}),
    ("created", {"created": "yesterday"}),
    ("updated", {"updated": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))}),
    ("tags", {"tags": "food"}),
    ("tags", {"tags": ("a\x07b",)}),
    ("tags", {"tags": ("x" * (LONGEST_TAG + 1),)}),
    ("tags", {"tags": (1,)}),
    ("arguments", {"arguments": "name"}),
    ("aliases", {"aliases": (1,)}),
    ("properties", {"properties": ["a"]}),
    ("properties", {"properties": {"a": {1, 2}}}),
    ("owner", {"owner": ""}),
]


@pytest.mark.parametrize(("field", "fields"), WRONG, ids=lambda one: str(one)[:40])
def test_what_is_wrong_is_named(field: str, fields: dict[str, Any]) -> None:
    """A draft that cannot be saved raises an error that names the field."""
    with pytest.raises(BadDraft) as raised:
        drafted(Draft(**{"id": "a", "title": "A", **fields}))
    assert raised.value.field == field


def test_a_body_has_a_limit() -> None:
    """A text that is larger than allowed is refused, by bytes."""
    with pytest.raises(BadDraft, match="max_file_bytes"):
        drafted(Draft("a", body="ё" * 60), most_bytes=100)
    assert drafted(Draft("a", body="ё" * 50), most_bytes=100)


def test_control_characters_are_left_out_with_a_remark() -> None:
    """The document is saved without them; tabs and line ends stay."""
    done = drafted(Draft("a", title="bell\x07", body="a\r\nb\tc\x00d\x9f"))
    assert (done.document.title, done.document.body) == ("bell", "a\nb\tcd")
    assert [one.partition(":")[0] for one in done.remarks] == ["body", "title"]


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"body": "## Sub\n\n# Top"}, "Top"),
        ({"body": "\n\n> first line\nsecond"}, "first line"),
        ({"body": "word " * 40}, ("word " * 16).strip() + "…"),
        ({"url": "https://www.example.org/a/b?x=1"}, "example.org/a/b"),
        ({"url": "about:blank"}, "blank"),
        ({}, "the-id"),
    ],
)
def test_a_title_is_found_for_what_has_none(fields: dict[str, Any], title: str) -> None:
    """From the first heading, else the address, else the first line, else the id."""
    assert drafted(Draft("the-id", **fields)).document.title == title


def test_times_without_a_zone_are_utc() -> None:
    """And any zone becomes UTC."""
    zoned = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=3)))
    bare = datetime(2024, 5, 1, tzinfo=UTC).replace(tzinfo=None)
    held = drafted(Draft("a", created=bare, updated=zoned)).document
    assert held.created == datetime(2024, 5, 1, tzinfo=UTC)
    assert held.updated is not None
    assert (held.updated.hour, held.updated.tzinfo) == (9, UTC)


def test_properties_become_plain_json() -> None:
    """Dates become texts, tuples lists, and infinities do not break JSON."""
    given = {"day": date(2024, 5, 1), "list": (1, None), "big": float("inf"), 3: True}
    held = drafted(Draft("a", properties=given)).document.properties
    assert dict(held) == {"day": "2024-05-01", "list": [1, None], "big": "inf", "3": True}


texts = st.text(max_size=40)
anything = st.one_of(texts, st.none(), st.integers(), st.binary(max_size=4), st.floats())


@given(
    fields=st.fixed_dictionaries(
        {"id": anything},
        optional={
            **dict.fromkeys(("title", "body", "url", "description", "path", "owner"), anything),
            **{name: st.lists(anything, max_size=3) for name in ("tags", "aliases", "arguments")},
            "properties": st.dictionaries(texts, anything, max_size=3),
            "created": st.one_of(st.datetimes(), anything),
            "kind": st.one_of(st.sampled_from(Kind), anything),
        },
    )
)
def test_any_draft_is_a_document_or_a_clear_error(fields: dict[str, Any]) -> None:
    """Nothing but BadDraft is ever raised, and what comes out can be written and is stable."""
    try:
        done = drafted(Draft(**fields)).document
    except BadDraft:
        return
    json.dumps([done.title, done.body, dict(done.properties)], ensure_ascii=False).encode()
    assert drafted(Draft.of(done)).document == done


@given(tags=st.lists(st.text(max_size=20), max_size=6))
def test_tags_are_stable(tags: list[str]) -> None:
    """Tags that were read once are read the same again."""
    try:
        once = tags_of(tags)
    except BadDraft:
        return
    assert tags_of(once) == once
