"""Documents as JSON, and no more memory for a longer file."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bookmark_files import HEAD
from tests.builders import inventory, open_library, write_notes
from twolane import Capability, Draft, Kind, Library, Scope, Settings
from twolane.ingest.drafting import drafted
from twolane.ingest.exchange.json_rows import document_line, read_json
from twolane.ingest.exchange.netscape import Folders, read_bookmarks
from twolane.ingest.exchange.rows import BadRow, Row, Rows, Text
from twolane.model.document import Collection
from twolane.model.errors import BadDraft
from twolane.ports.documents import PutCollection

ALL = Scope(archived=True)


def rows(text: str, longest: int = 1_000) -> list[Row | BadRow]:
    """What the reader makes of a text."""
    read = read_json(io.StringIO(text), collection="c", kind=Kind.NOTE, longest=longest)
    return [one for one in read if isinstance(one, Row | BadRow)]


def told(text: str, longest: int = 1_000) -> list[tuple[str, str]]:
    """The id of each row with its place, or why there is none."""
    return [
        (one.place, one.draft.id if isinstance(one, Row) else one.reason)
        for one in rows(text, longest)
    ]


def test_lines_and_arrays_mean_the_same() -> None:
    """One object a line, or an array in any layout."""
    given = [{"id": f"n{number}", "title": "T"} for number in range(3)]
    expected = ["n0", "n1", "n2"]
    for text in (
        "\n".join(map(json.dumps, given)),
        "\ufeff" + "\r\n\r\n".join(map(json.dumps, given)) + "\n",
        json.dumps(given),
        json.dumps(given, indent=2),
        "\n [" + ",".join(map(json.dumps, given)) + "]\n",
    ):
        assert [id for _, id in told(text)] == expected
    assert rows("") == rows("[]") == rows("\n\n") == []


def test_every_field_is_read() -> None:
    """A full row becomes the draft that it describes."""
    row = {
        "id": 7,
        "kind": "prompt",
        "collection": "p",
        "title": "T",
        "body": "B",
        "url": "https://a.org",
        "tags": ["x y", "🍕"],
        "arguments": ["name"],
        "properties": {"n": [1, None]},
        "created": "2024-05-01T12:00:00Z",
        "updated": 1714564800,
        "archived": True,
        "owner": None,
    }
    (found,) = rows(json.dumps(row))
    assert isinstance(found, Row)
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert found.draft == Draft(
        "7",
        kind=Kind.PROMPT,
        collection="p",
        title="T",
        body="B",
        url="https://a.org",
        tags=("x y", "🍕"),
        arguments=("name",),
        properties={"n": [1, None]},
        created=noon,
        updated=noon,
        archived=True,
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "no JSON"),
        ('{"id": "a", "title": tru}', "no JSON"),
        ("7", "number, not an object"),
        ('["id"]', "list, not an object"),
        ('{"id": true}', "id: must be a text"),
        ('{"id": "a", "title": 7}', "title: must be a text"),
        ('{"id": "a", "tags": "x"}', "tags: must be a list"),
        ('{"id": "a", "archived": "yes"}', "archived: must be true or false"),
        ('{"id": "a", "created": "yesterday"}', "created: 'yesterday' is no time"),
        ('{"id": "a", "created": 1e400}', "is no time"),
        ('{"id": "a", "updated": [1]}', "updated: must be a time"),
        ("{}", "neither an id nor a text"),
        ("[" * 100_000, "longer than"),
        (json.dumps({"id": "a", "body": "x" * 2_000}), "longer than"),
    ],
)
def test_a_bad_row_is_told_and_the_next_goes_in(row: str, reason: str) -> None:
    """Each has its line and what is wrong, and nothing after it is lost."""
    text = f'{{"id": "first", "title": "F"}}\n{row}\n{{"id": "next", "title": "N"}}\n'
    first, bad, following = told(text)
    assert first == ("line 1", "first")
    assert bad[0] == "line 2"
    assert reason in bad[1]
    assert following == ("line 3", "next")


@pytest.mark.parametrize(
    "broken", ['{"id": "a", "title": tru}', '{"id": "a" "title": 1}', '{"id": "a", }', "{]}"]
)
def test_a_broken_element_does_not_take_the_array_along(broken: str) -> None:
    """The elements around it are read, and its line is told."""
    good = '{\n "id": "first", "title": "F"}'
    text = f'[{good},\n{broken},\n{{"id": "next", "title": "N"}}\n]'
    first, bad, following = told(text)
    assert first == ("line 1", "first")
    assert bad[0] == "line 3"
    assert following == ("line 4", "next")


def test_an_element_that_is_too_large_is_passed_over() -> None:
    """It is told, and what comes after it is read."""
    large = json.dumps({"id": "large", "body": "x" * 600_000})
    text = f'[{large}, {{"id": "next", "title": "N"}}]'
    bad, following = told(text, longest=1_000)
    assert "longer than" in bad[1]
    assert following[1] == "next"


def test_an_array_that_breaks_off_keeps_what_came() -> None:
    """A file that was cut gives what it holds, and says that it was cut."""
    found = told('[{"id": "a", "title": "A"},\n{"id": "b", "ti')
    assert found[0][1] == "a"
    assert found[1][0] == "line 2"
    assert told('[{"id": "a", "title": "A"}')[1][1].startswith("the array does not end")


def test_ids_are_made_for_rows_without(library: Library, tmp_path: Path) -> None:
    """By address or by content, so that a second import finds them again."""
    file = tmp_path / "x.jsonl"
    lines = [
        {"kind": "bookmark", "url": "https://a.org/x/"},
        {"title": "T", "body": "ant"},
        {"title": "T", "body": "bee", "shade": "blue"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    report = library.import_jsonl(file, collection="mine")
    assert (report.added, report.mended) == (3, 1)
    assert report.problems[0].reason == "unknown keys were left out: shade"
    again = library.import_jsonl(file, collection="mine")
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)
    assert library.document("mine/https://a.org/x").kind == Kind.BOOKMARK


def test_problems_of_rows(library: Library, tmp_path: Path) -> None:
    """Ids that come twice, paths that lead out, control characters, bytes that are no text."""
    file = tmp_path / "x.jsonl"
    rows = [
        b'{"id": "a", "title": "first"}',
        b'{"id": "a", "title": "second"}',
        b'{"id": "p", "title": "out", "path": "../../etc/passwd"}',
        b'{"id": "u", "kind": "bookmark", "url": "nowhere"}',
        b'{"id": "c", "title": "bell\\u0007", "body": "tab\there"}',
        b'{"id": "h", "title": "half \\ud800"}',
        b'{"id": "b", "title": "caf\xe9"}',
        b'{"id": "t", "title": "T", "tags": ["x\\u0000"]}',
    ]
    file.write_bytes(b"\n".join(rows))
    report = library.import_jsonl(file)
    assert (report.added, report.failed, report.mended) == (3, 5, 1)
    assert {(one.path, str(one.code)) for one in report.problems} == {
        ("x.jsonl: line 2", "duplicate"),
        ("x.jsonl: line 3", "bad-row"),
        ("x.jsonl: line 4", "bad-row"),
        ("x.jsonl: line 5", "mended"),
        ("x.jsonl: line 6", "bad-row"),
        ("x.jsonl: line 8", "bad-row"),
        ("x.jsonl", "not-utf8"),
    }
    assert library.document("a").title == "first"
    assert library.document("c").body == "tab\there"
    assert library.document("b").title == "caf\N{REPLACEMENT CHARACTER}"


def test_an_owner_imports_only_their_own(library: Library, tmp_path: Path) -> None:
    """Rows of others, and ids that others hold, are problems; the rest is theirs."""
    library.save(Draft("held", title="T", owner="bob"))
    file = tmp_path / "x.jsonl"
    rows = [{"id": "a", "title": "A"}, {"id": "b", "title": "B", "owner": "bob"}, {"id": "held"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    report = library.import_jsonl(file, scope=Scope(owner="ann"))
    assert (report.added, report.failed) == (1, 2)
    assert library.document("a").owner == "ann"
    assert library.document("held").owner == "bob"


def test_a_row_of_ten_megabytes_goes_in(library: Library, tmp_path: Path) -> None:
    """Large is no problem below the limit; above it the row is told."""
    file = tmp_path / "x.jsonl"
    body = "some words and " * 700_000
    file.write_text(json.dumps({"id": "a", "title": "T", "body": body, "encrypted": True}))
    assert library.import_jsonl(file).added == 1
    small = Settings(embedding={"embedder": "none"}, index={"max_file_bytes": 1_000_000})
    with Library.open(tmp_path / "y.db", settings=small) as other:
        report = other.import_jsonl(file)
        assert (report.added, str(report.problems[0].code)) == (0, "too-large")


def test_what_comes_from_files_is_skipped(library: Library, tmp_path: Path) -> None:
    """An export of a vault goes into another library, and is left alone by its own."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("---\ntitle: A\nstatus: done\n---\n# One\n\nant #x")
    library.index(vault)
    file = tmp_path / "out.jsonl"
    assert library.export(file) == 1
    assert (file.stat().st_mode & 0o777) == 0o600
    assert library.import_jsonl(file).skipped == 1
    with open_library(tmp_path / "y.db", "none") as other:
        assert other.import_jsonl(file).added == 1
        copy, held = other.document("vault/a.md"), library.document("vault/a.md")
        assert Draft.of(copy) == Draft.of(held)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({}, "name: must be a text, not NoneType"),
        ({"name": "a/b"}, "name: must not hold a `/`"),
        ({"name": "c", "kind": "recipe"}, "kind: 'recipe' is none of note, bookmark, prompt"),
        ({"name": "c", "kind": ["note"]}, "kind: ['note'] is none of note, bookmark, prompt"),
        ({"name": "c", "include": "*.md"}, "include: must be a list of patterns"),
        ({"name": "c", "exclude": [1]}, "exclude: must be a list of patterns"),
        ({"name": "c", "description": 5}, "description: must be a text"),
        ({"name": "c", "description": "x" * 501}, "description: is longer than 500 characters"),
        ({"name": "c", "description": "\ud800"}, "description: is not valid Unicode"),
    ],
)
def test_a_bad_collection_is_told(row: dict[str, Any], reason: str) -> None:
    """What makes no collection says why."""
    (bad,) = rows(json.dumps({"type": "collection", **row}))
    assert bad == BadRow("line 1", reason)


def test_collections_are_described_by_those_who_may(library: Library, tmp_path: Path) -> None:
    """A folder's collection stays as it is; without `admin` a row only makes new ones."""
    write_notes(tmp_path / "vault", {"a.md": "# Ant"})
    library.index(tmp_path / "vault")
    file = tmp_path / "c.jsonl"
    described = {"type": "collection", "description": "New.", "colour": "red"}
    file.write_text("".join(json.dumps({**described, "name": n}) + "\n" for n in ("vault", "c")))
    writer = Scope(capabilities=frozenset({Capability.WRITE, Capability.SEARCH}))
    first = library.import_jsonl(file, scope=writer)
    assert (first.collections, first.skipped, first.mended) == (1, 1, 2)
    assert "stays as it is" in str([one.reason for one in first.problems])
    assert library.collection("c").description == "New."
    assert library.collection("vault").description == ""
    file.write_text(json.dumps({**described, "name": "c", "description": "Newer."}))
    assert library.import_jsonl(file, scope=writer).skipped == 1
    assert library.import_jsonl(file).collections == 1
    assert library.collection("c").description == "Newer."


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
lines = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
moments = st.datetimes(
    min_value=datetime.fromisoformat("1902-01-01"),
    max_value=datetime.fromisoformat("2200-01-01"),
    timezones=st.just(UTC),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(), lines),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def some_drafts(draw: st.DrawFn) -> Draft:
    """A draft with anything in it that can be saved."""
    kind = draw(st.sampled_from(Kind))
    given = Draft(
        id=draw(names).strip() or "id",
        kind=kind,
        title=draw(lines),
        body=draw(lines) + draw(st.sampled_from(["", "\n# Head\n\ntext\u2028more\x85"])),
        url=draw(st.sampled_from(["https://a.org/ä?q=1#x", "file:///x"])),
        description=draw(lines),
        summary=draw(lines),
        arguments=tuple(draw(st.lists(lines, max_size=2))),
        aliases=tuple(draw(st.lists(lines, max_size=2))),
        tags=tuple(draw(st.lists(names, max_size=3))),
        properties=draw(st.dictionaries(names, values, max_size=3)),
        collection=draw(st.sampled_from(["one", "Zwei ü", "三"])),
        path=draw(st.sampled_from([None, "a/b c.md"])),
        owner=draw(st.sampled_from([None, "ann"])),
        created=draw(st.none() | moments),
        updated=draw(st.none() | moments),
        used=draw(st.none() | moments),
        uses=draw(st.integers(0, 3)),
        searchable=draw(st.booleans()),
        archived=draw(st.booleans()),
        encrypted=draw(st.sampled_from([False, False, False, True])),
    )
    try:
        drafted(given)
    except BadDraft:
        return Draft("plain", title="plain", created=given.created, updated=given.updated)
    return given


some_collections = st.builds(
    Collection,
    name=st.sampled_from(["one", "Zwei ü", "empty  one"]),
    kind=st.sampled_from(Kind),
    include=st.lists(names, max_size=2).map(tuple),
    exclude=st.lists(names, max_size=2).map(tuple),
    description=lines.map(lambda text: " ".join(text.replace("\0", "").split())),
)


@settings(max_examples=25, deadline=None)
@given(
    given_drafts=st.lists(some_drafts(), min_size=1, max_size=8),
    collections=st.lists(some_collections, max_size=3),
)
def test_a_round_trip_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    given_drafts: list[Draft],
    collections: list[Collection],
) -> None:
    """What is exported and imported elsewhere is the same, field by field, and exports the same."""
    folder = tmp_path_factory.mktemp("trip")
    none = Settings(embedding={"embedder": "none"})
    with Library.open(folder / "a.db", settings=none) as one:
        for collection in collections:
            one._stores.documents.apply(PutCollection(collection))
        one.save_all(given_drafts)
        ids = inventory(one._stores, ALL, deleted=False)
        assert one.export(folder / "a.jsonl") == len(ids)
        with Library.open(folder / "b.db", settings=none) as other:
            report = other.import_jsonl(folder / "a.jsonl")
            assert (report.added, report.problems) == (len(ids), [])
            held, copied = one._stores.documents.get(ids), other._stores.documents.get(ids)
            assert copied == {
                id: replace(it, document=replace(it.document, version=1)) for id, it in held.items()
            }
            assert other.collections() == one.collections()
            assert other.digest() == one.digest()
            again = other.import_jsonl(folder / "a.jsonl")
            assert (again.unchanged, again.collections) == (len(ids), 0)
            other.export(folder / "b.jsonl")
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_any_text_is_read(text: str) -> None:
    """Whatever stands in the file, the reader ends and every row has its place."""
    for one in rows(text) + rows(f"[{text}") + rows(f'[{{"id": "a"}},{text},{{"id": "b"}}]'):
        assert one.place.startswith("line ")


@given(st.dictionaries(st.sampled_from([*Draft.__slots__, "other"]), values))
def test_any_object_is_a_draft_or_a_clear_reason(value: dict[str, Any]) -> None:
    """No value of any key raises anything but what says what is wrong."""
    for row in rows(json.dumps(value), longest=10_000):
        if isinstance(row, BadRow):
            assert row.reason
            continue
        try:
            document = drafted(row.draft).document
        except BadDraft:
            continue
        assert document_line(Draft.of(document))


ROWS = 6_000
FILLER = "some words that fill a page " * 40


class Endless:
    """A text that is made while it is read."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._rest = ""

    def read(self, size: int, /) -> str:
        """The next characters."""
        while len(self._rest) < size and (piece := next(self._pieces, "")):
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def many_lines() -> Iterator[str]:
    """One object a line."""
    for number in range(ROWS):
        yield f'{{"id": "{number}", "body": "{FILLER}"}}\n'


def array() -> Iterator[str]:
    """One array of objects."""
    yield "["
    for number in range(ROWS):
        yield f'{{"id": "{number}", "body": "{FILLER}"}},'
    yield "{}]"


def bookmarks() -> Iterator[str]:
    """Links with large pictures."""
    yield HEAD
    for number in range(ROWS):
        yield f'<DT><A HREF="https://a.org/{number}" ICON="{FILLER}">Title</A>\n'


def _json(text: Text) -> Rows:
    return read_json(text, collection="c", kind=Kind.NOTE, longest=100_000)


def _html(text: Text) -> Rows:
    return read_bookmarks(text, collection="c", folders=Folders.TAGS)


@pytest.mark.parametrize(
    ("pieces", "reader"), [(many_lines, _json), (array, _json), (bookmarks, _html)]
)
def test_memory_does_not_grow_with_the_file(
    pieces: Callable[[], Iterator[str]], reader: Callable[[Text], Rows]
) -> None:
    """Seven megabytes pass through less than three."""
    tracemalloc.start()
    try:
        found = sum(isinstance(row, Row) for row in reader(Endless(pieces())))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ROWS
    assert peak < 3_000_000


def test_a_line_without_an_end_is_bounded() -> None:
    """A row that never ends is given up, and costs no more than its limit allows."""
    tracemalloc.start()
    try:
        (row,) = _json(Endless(repeat("x" * 1_000, 10_000)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not isinstance(row, Row)
    assert peak < 3_000_000
