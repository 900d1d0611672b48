"""Front matter: what a note says about itself, and what it may try on us."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.ingest.parsing.markdown import Parsed, parse_note
from twolane.model.document import Document, Kind
from twolane.model.problem import ProblemCode

MODIFIED = datetime(2025, 5, 18, 12, 0, tzinfo=UTC)


def parse(text: str, modified: datetime = MODIFIED) -> Parsed:
    """Parse a note."""
    return parse_note(text.encode(), path="note.md", collection="notes", modified=modified)


def with_properties(yaml: str) -> Document:
    """The document of a note with this front matter, which must be in order."""
    parsed = parse(f"---\n{yaml}\n---\nbody\n")
    assert parsed.problems == ()
    assert parsed.document is not None
    return parsed.document


def broken(yaml: str) -> tuple[str, Document]:
    """The reason that is given for this front matter, and the document."""
    parsed = parse(f"---\n{yaml}\n---\nbody\n")
    assert parsed.document is not None
    assert parsed.document.body == "body\n"
    (problem,) = parsed.problems
    assert problem.code == ProblemCode.FRONT_MATTER
    return problem.reason, parsed.document


# ----------------------------------------------------------------------------------- boundaries


@pytest.mark.parametrize(
    ("text", "body", "first_line"),
    [
        ("---\na: b\n---\nbody", "body", 4),
        ("---  \na: b\n---\t\n\nbody", "\nbody", 4),
        ("---\n---\nbody", "body", 3),
        ("---\n# only a comment\n---\nbody", "body", 4),
        ("---\na: b\n---", "", 3),
        ("---\na: |\n  text\n  --- inside\n---\nbody", "body", 6),
        ("---\na: b\nno end", "---\na: b\nno end", 1),
        ("\n---\na: b\n---\n", "\n---\na: b\n---\n", 1),
        ("----\na: b\n----\n", "----\na: b\n----\n", 1),
        ("--- a: b\n---\n", "--- a: b\n---\n", 1),
    ],
)
def test_front_matter_stands_between_dashes_at_the_start(
    text: str, body: str, first_line: int
) -> None:
    """Only dashes on the first line open it, and the body begins after the closing ones."""
    parsed = parse(text)
    assert parsed.problems == ()
    assert parsed.document is not None
    assert (parsed.document.body, parsed.document.first_line) == (body, first_line)


def test_a_byte_order_mark_does_not_hide_front_matter() -> None:
    """Editors that write a mark in front of the dashes are understood."""
    found = parse("\ufeff---\r\ntitle: T\r\n---\r\nbody").document
    assert found is not None
    assert (found.title, found.body) == ("T", "body")


# ------------------------------------------------------------------------------ recognised keys


def test_the_recognised_keys() -> None:
    """Every key that search knows lands in its field."""
    found = with_properties(
        "title:  A  title\naliases: [one, two]\ntags: [a, b]\ndescription: D\nsummary: S\n"
        "url: https://example.org/\nkind: bookmark\ncreated: 2025-01-02\n"
        "updated: 2025-02-03T04:05:06Z\narchived: true"
    )
    assert (found.title, found.aliases, found.tags) == ("A title", ("one", "two"), ("a", "b"))
    assert (found.description, found.summary, found.url) == ("D", "S", "https://example.org/")
    assert (found.kind, found.archived, found.searchable) == (Kind.BOOKMARK, True, True)
    assert found.created == datetime(2025, 1, 2, tzinfo=UTC)
    assert found.updated == datetime(2025, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_keys_are_recognised_in_any_case() -> None:
    """`Title` and `TAGS` are what they look like."""
    found = with_properties("Title: T\nTAGS: a\nAlias: b")
    assert (found.title, found.tags, found.aliases) == ("T", ("a",), ("b",))


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("tags: a", ("a",)),
        ("tags: a, b c,d", ("a", "b", "c", "d")),
        ("tags: '#a #b/c'", ("a", "b/c")),
        ("tags: ['#a', b, two words]", ("a", "b", "two words")),
        ("tags:\n  - a\n  - А\n  - A", ("a", "А")),
        ("tag: a\nkeywords: [b, a]\ntags: c", ("c", "a", "b")),
        ("tags: [2024, 1.5, null, '', '#']", ("2024", "1.5")),
        ("tags:", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags(yaml: str, expected: tuple[str, ...]) -> None:
    """Tags come as a text or a list, with or without `#`, and are kept once each."""
    assert with_properties(yaml).tags == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("alias: Smith, John", ("Smith, John",)),
        ("aliases: [a, b, a]\nalias: c", ("a", "b", "c")),
        ("aliases: 1984", ("1984",)),
        ("aliases: {a: b}", ()),
    ],
)
def test_aliases(yaml: str, expected: tuple[str, ...]) -> None:
    """A text is one alias, commas and all; a list is several."""
    assert with_properties(yaml).aliases == expected


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("title: 2025-05-18", "2025-05-18"),
        ("title: 12:30", "12:30"),
        ("title: 1984", "1984"),
        ("title: |\n  two\n  lines", "two lines"),
        ("title: [a]", "note"),
        ("title: true", "note"),
    ],
)
def test_titles_of_other_types(yaml: str, expected: str) -> None:
    """A number or a date is a title as it was written; a list is none."""
    assert with_properties(yaml).title == expected


@pytest.mark.parametrize("value", ["false", "no", "off", "False", "'no'", '"off"', "0"])
def test_search_false_hides(value: str) -> None:
    """Every way to say no to `search` makes the document unsearchable."""
    found = with_properties(f"search: {value}")
    assert found.searchable is False
    assert found.hidden


@pytest.mark.parametrize(
    "yaml", ["search: true", "search: yes", "search:", "research: false", "a: b"]
)
def test_other_values_do_not_hide(yaml: str) -> None:
    """Only a clear no hides a note."""
    assert with_properties(yaml).searchable is True


def test_a_broken_note_can_still_hide() -> None:
    """Front matter that cannot be read but says `search: false` is obeyed."""
    _, found = broken("title: Gifts: ideas\nsearch: false")
    assert found.searchable is False
    _, found = broken("title: Gifts: ideas\nsearch: true")
    assert found.searchable is True


@pytest.mark.parametrize(("value", "expected"), [("yes", True), ("'on'", True), ("no", False)])
def test_archived(value: str, expected: bool) -> None:
    """`archived` takes the usual ways to say yes."""
    assert with_properties(f"archived: {value}").archived is expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("prompt", Kind.PROMPT),
        ("Bookmark", Kind.BOOKMARK),
        ("recipe", Kind.NOTE),
        ("[a]", Kind.NOTE),
    ],
)
def test_kind(value: str, kind: Kind) -> None:
    """The three kinds are accepted; anything else is a note."""
    assert with_properties(f"kind: {value}").kind == kind


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-01-02", datetime(2025, 1, 2, tzinfo=UTC)),
        ("'2025-01-02'", datetime(2025, 1, 2, tzinfo=UTC)),
        ("2025-01-02 03:04", datetime(2025, 1, 2, 3, 4, tzinfo=UTC)),
        ("2025-01-02T03:04:05", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2025-01-02T03:04:05+03:00", datetime(2025, 1, 2, 0, 4, 5, tzinfo=UTC)),
        ("'20250102T030405Z'", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("yesterday", None),
        ("2025-13-45", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("12", None),
        ("[2025-01-02]", None),
    ],
)
def test_dates(value: str, expected: datetime | None) -> None:
    """Dates and ISO texts are moments in UTC; what is no date says nothing."""
    assert with_properties(f"created: {value}").created == expected
    assert with_properties(f"updated: {value}").updated == (expected or MODIFIED)


def test_second_names_of_dates() -> None:
    """`date` and `modified` stand in for `created` and `updated`."""
    found = with_properties("date: 2025-01-02\nmodified: 2025-01-03")
    assert found.created == datetime(2025, 1, 2, tzinfo=UTC)
    assert found.updated == datetime(2025, 1, 3, tzinfo=UTC)
    found = with_properties("created: 2025-01-01\ndate: 2025-01-02")
    assert found.created == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_naive_time_of_change_is_utc() -> None:
    """The time of the file gets a zone if it has none, and keeps the one it has."""
    naive = parse("text", datetime(2025, 1, 2)).document  # noqa: DTZ001
    assert naive is not None
    assert naive.updated == datetime(2025, 1, 2, tzinfo=UTC)
    zone = timezone(timedelta(hours=3))
    aware = parse("text", datetime(2025, 1, 2, 3, tzinfo=zone)).document
    assert aware is not None
    assert aware.updated == datetime(2025, 1, 2, tzinfo=UTC)


# ----------------------------------------------------------------------------------- properties


def test_properties_are_kept_as_json() -> None:
    """All properties stay, as values that JSON can hold."""
    found = with_properties(
        "text: a\nnumber: 3\nfloat: 1.5\nflag: true\nnothing:\nday: 2025-05-18\n"
        "moment: 2025-05-18T10:00:00Z\nclock: 12:30\nlist: [1, [2], {a: 2025-01-01}]\n"
        "set: !!set {b, a}\nbytes: !!binary aGk=\nnan: .nan\ninf: .inf\nbad: 2025-02-30\n"
        "1: one\n2025-01-01: day\nнечто: да\nhuge: " + "9" * 5000
    )
    assert found.properties == {
        "text": "a",
        "number": 3,
        "float": 1.5,
        "flag": True,
        "nothing": None,
        "day": "2025-05-18",
        "moment": "2025-05-18T10:00:00+00:00",
        "clock": "12:30",
        "list": [1, [2], {"a": "2025-01-01"}],
        "set": ["a", "b"],
        "bytes": "hi",
        "nan": "nan",
        "inf": "inf",
        "bad": "2025-02-30",
        "1": "one",
        "2025-01-01": "day",
        "нечто": "да",
        "huge": "9" * 5000,
    }
    assert json.loads(json.dumps(dict(found.properties), allow_nan=False)) == found.properties


def test_escapes_smuggle_nothing_in() -> None:
    """A NUL written as an escape is replaced, and decomposed letters are composed."""
    found = with_properties(r'title: "a\0b"' + "\n" + r'tags: ["\u0438\u0306"]')
    assert (found.title, found.tags) == ("a\ufffdb", ("й",))
    assert found.properties["title"] == "a\ufffdb"


def test_no_front_matter_no_properties() -> None:
    """A note without front matter has none."""
    found = parse("text").document
    assert found is not None
    assert found.properties == {}


# -------------------------------------------------------------------------------------- broken


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("title: a: b", 2),
        ("a: b\ntags: [c", 4),
        ("a: b\nc: d\n\te: f", 4),
        ("a: !unknown b", 2),
        ("a: b\nc: {{date}}", 3),
        ("a: b\nc: \x07", 3),
        ("just text", 2),
        ("- a\n- list", 2),
    ],
)
def test_broken_front_matter_is_a_problem_with_a_line(yaml: str, line: int) -> None:
    """The note is indexed without the broken text, and the reason names the line of the file."""
    reason, found = broken(yaml)
    assert reason.startswith(f"line {line}: the front matter is not")
    assert (found.properties, found.title) == ({}, "note")


def bomb(levels: int, width: int, *, merge: bool) -> str:
    """Aliases of aliases, which are tiny to write and huge to write out."""
    lines = ["a0: &a0 " + ("{k: v}" if merge else "[x, x]")]
    for level in range(1, levels):
        names = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} " + (f"{{<<: [{names}]}}" if merge else f"[{names}]"))
    return "\n".join(lines)


HOSTILE: dict[str, Any] = {
    "aliases": bomb(10, 10, merge=False),
    "merged aliases": bomb(10, 10, merge=True),
    "few aliases, deep": bomb(20, 2, merge=False),
    "an alias of itself": "a: &a [*a]",
    "brackets": "a: " + "[" * 60_000,
    "closed brackets": "a: " + "[" * 500 + "]" * 500,
    "braces": "a: " + "{a: " * 10_000,
    "sequences": "- " * 30_000,
    "questions": "? " * 30_000,
    "mixed": "- ? " * 15_000,
    "large": "a: b\n" * 20_000,
    "many values": "a: [" + "1, " * 15_000 + "1]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_front_matter_is_a_problem(name: str) -> None:
    """Front matter made to exhaust time, memory or the stack is refused, and quickly."""
    started = time.process_time()
    reason, found = broken(HOSTILE[name])
    assert time.process_time() - started < 2
    assert "the front matter" in reason
    assert found.properties == {}


def test_a_few_aliases_are_fine() -> None:
    """Anchors and aliases in a sane number are read, and an ampersand in text is no anchor."""
    found = with_properties("a: &x [1, 2]\nb: *x\nc: Tom & Jerry, R&D")
    assert found.properties == {"a": [1, 2], "b": [1, 2], "c": "Tom & Jerry, R&D"}


@given(st.text(alphabet="ab: -[]{}&*!|>'\"#%@`?,\n\t01", max_size=60))
def test_no_front_matter_raises(yaml: str) -> None:
    """Any text between the dashes gives a document whose properties JSON can hold."""
    parsed = parse(f"---\n{yaml}\n---\nbody\n")
    assert parsed.document is not None
    json.dumps(dict(parsed.document.properties), allow_nan=False)
