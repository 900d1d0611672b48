"""Bookmarks of browsers, and notes and prompts from folders: Markdown, plain text, Joplin."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bookmark_files import HEAD, TAIL, generated
from tests.builders import write_notes
from twolane import Draft, Kind, Library, Scope
from twolane.ingest.drafting import drafted
from twolane.ingest.exchange.netscape import Folders, read_bookmarks
from twolane.ingest.exchange.rows import BadRow, Row, normalised
from twolane.model.errors import BadDraft, BadInput, MissingFolder


def rows(text: str, folders: Folders = Folders.TAGS) -> list[Row | BadRow]:
    """What the reader makes of a text."""
    return list(read_bookmarks(io.StringIO(text), collection="b", folders=folders))


def drafts(text: str, folders: Folders = Folders.TAGS) -> list[Draft]:
    """The drafts among it."""
    return [one.draft for one in rows(text, folders) if isinstance(one, Row)]


FIREFOX = f"""{HEAD}
    <DT><H3 ADD_DATE="1" LAST_MODIFIED="2" PERSONAL_TOOLBAR_FOLDER="true">Toolbar</H3>
    <DD>Add bookmarks to this folder
    <DL><p>
        <DT><H3>Dev</H3>
        <DL><p>
            <DT><H3>TCP/IP</H3>
            <DL><p>
                <DT><A HREF="https://a.org/x?a=1&amp;b=2" ADD_DATE="1700000000"
                     LAST_MODIFIED="1700000100" TAGS="net,two words" LAST_VISIT="1700000200"
                     >R&amp;D &lt;b&gt;</A>
                <DD>First line
second &quot;line&quot;
            </DL><p>
        </DL><p>
        <DT><A HREF="https://b.org/with space">Плов</A>
    </DL><p>
    <DT><A HREF="place:sort=8&maxResults=10">Most visited</A>
    <HR>
    <DT><A>no address</A>
{TAIL}"""


def test_everything_that_a_browser_says_is_kept() -> None:
    """Address, title, description, tags, folders and times."""
    first, second = drafts(FIREFOX)
    assert first == Draft(
        "b/https://a.org/x?a=1&b=2",
        kind=Kind.BOOKMARK,
        title="R&D <b>",
        url="https://a.org/x?a=1&b=2",
        description='First line second "line"',
        tags=("net", "two words", "Dev/TCP-IP"),
        collection="b",
        created=datetime.fromtimestamp(1700000000, UTC),
        updated=datetime.fromtimestamp(1700000100, UTC),
        used=datetime.fromtimestamp(1700000200, UTC),
    )
    assert (second.url, second.title, second.tags) == ("https://b.org/with%20space", "Плов", ())
    bad = [(one.place, one.reason) for one in rows(FIREFOX) if isinstance(one, BadRow)]
    assert [reason.split(",")[0] for _, reason in bad] == [
        "a query of the browser",
        "a bookmark without an address (HREF)",
    ]
    assert FIREFOX.split("\n")[int(bad[1][0].split()[1]) - 1].strip() == "<DT><A>no address</A>"


def test_folders_may_be_paths_or_nothing() -> None:
    """An option says what becomes of them."""
    assert drafts(FIREFOX, Folders.PATH)[0].path == "Dev/TCP-IP/R&D <b>"
    assert drafts(FIREFOX, Folders.PATH)[0].tags == ("net", "two words")
    assert drafts(FIREFOX, Folders.NONE)[0].tags == ("net", "two words")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("13344473600000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("0", None),
        ("", None),
        ("soon", None),
        ("9" * 400, None),
    ],
)
def test_times_come_in_several_units(text: str, moment: datetime | None) -> None:
    """Seconds, thousandths, millionths, and Chrome's count from 1601; nonsense is told."""
    (row,) = rows(f'<DT><A HREF="https://a.org" ADD_DATE="{text}">A</A>')
    assert isinstance(row, Row)
    assert row.draft.created == moment
    assert bool(row.remarks) == (moment is None and bool(text.strip("0")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://A.org", "https://a.org/"),
        ("https://a.org:443/x/", "https://a.org/x"),
        ("https://a.org/x?utm_source=z&id=1", "https://a.org/x?id=1"),
        ("https://a.org/x#part", "https://a.org/x"),
    ],
)
def test_one_page_has_many_spellings(one: str, other: str) -> None:
    """Case, port, slash, trackers and place do not make another page."""
    assert normalised(one) == normalised(other)


def test_different_pages_stay_apart() -> None:
    """Another path, query, host, port or page of an application is another page."""
    apart = ["https://a.org/X", "https://a.org/x", "https://a.org/x?id=2", "https://b.org/x"]
    apart += ["http://a.org/x", "https://a.org:8443/x", "https://a.org/#/inbox", "https://[::1/"]
    assert len({normalised(one) for one in apart}) == len(apart)


def test_five_thousand_bookmarks_go_in_once(library: Library, tmp_path: Path) -> None:
    """A whole file is imported, duplicates are merged, and a second time changes nothing."""
    file = generated(tmp_path / "bookmarks.html", 5_000)
    report = library.import_bookmarks(file)
    assert (report.added, report.merged, report.failed) == (4_900, 100, 0)
    assert report.rows == 5_000
    assert library.status().stats.documents == 4_900
    again = library.import_bookmarks(file)
    assert (again.added, again.changed, again.unchanged, again.merged) == (0, 0, 4_900, 100)
    (merged,) = library.documents(scope=Scope(documents=("bookmarks/https://example.org/page/48",)))
    assert {"t6", "t0", "a b"} <= set(merged.tags)
    assert merged.created == datetime.fromtimestamp(1600000048, UTC)
    assert merged.updated == datetime.fromtimestamp(1600000049, UTC)
    assert library.search("example.org/page/77", mode="lexical").results[0].url == (
        "https://example.org/page/77"
    )
    assert library.facets().kinds == {"bookmark": 4_900}


def test_what_was_added_here_survives_an_import(library: Library, tmp_path: Path) -> None:
    """Scraped text, tags and the archive stay; a new title comes; what was deleted stays so."""
    file = tmp_path / "b.html"
    file.write_text('<DT><A HREF="https://a.org/">Old</A><DT><A HREF="https://b.org/">B</A>')
    library.import_bookmarks(file)
    held = library.document("https://a.org/")
    library.save(replace(held, body="the page itself", tags=("mine",), archived=True))
    library.delete("bookmarks/https://b.org")
    file.write_text(
        '<DT><A HREF="https://a.org" TAGS="new">New</A><DT><A HREF="https://b.org">B</A>'
    )
    report = library.import_bookmarks(file)
    assert (report.changed, report.skipped) == (1, 1)
    now = library.document("bookmarks/https://a.org", scope=Scope(archived=True))
    assert (now.title, now.body, now.tags) == ("New", "the page itself", ("mine", "new"))
    assert [one.id for one in library.deleted()] == ["bookmarks/https://b.org"]


def test_bad_bookmarks_are_problems(library: Library, tmp_path: Path) -> None:
    """Each has its line and its reason, and the others go in."""
    file = tmp_path / "b.html"
    lines = [
        '<DT><A HREF="javascript:alert(1)">Run</A>',
        '<DT><A HREF="no scheme">X</A>',
        '<DT><A HREF="https://good.org/" ADD_DATE="never">Bell\x07</A>',
        f'<DT><A HREF="https://long.org/{"x" * 20_000}">Long</A>',
        '<DT><A HREF="https://tags.org/" TAGS="ok,\x01bad">Tags</A>',
    ]
    file.write_text("\n".join(lines))
    report = library.import_bookmarks(file)
    assert (report.added, report.failed, report.mended) == (1, 4, 1)
    told = {(one.path, str(one.code)) for one in report.problems}
    assert told >= {
        ("b.html: line 1", "bad-row"),
        ("b.html: line 2", "bad-row"),
        ("b.html: line 3", "mended"),
        ("b.html: line 4", "bad-row"),
        ("b.html: line 5", "bad-row"),
    }
    with pytest.raises(BadInput, match="tags, path, none"):
        library.import_bookmarks(file, folders="piles")


def test_a_tag_that_never_ends_is_told() -> None:
    """A hostile file costs neither memory nor the bookmarks around it."""
    text = '<DT><A HREF="https://a.org">A</A><DT><A HREF="' + "x" * 5_000_000
    found = rows(text)
    assert [one.draft.title for one in found if isinstance(one, Row)] == ["A"]
    assert any("never ends" in one.reason for one in found if isinstance(one, BadRow))


pieces = st.sampled_from(
    '<DT>|<A HREF=|"https://a.org/|">|</A>|<H3>|</H3>|<DL><p>|</DL>|<DD>|text|&amp;|&#0;|<!--|-->|'
    '<|"|\x00|Ж|/|..|ADD_DATE=x'.split("|")
)


@given(st.lists(pieces, max_size=40).map("".join), st.sampled_from(Folders))
def test_any_html_is_read(text: str, folders: Folders) -> None:
    """Whatever stands in the file, rows come out, and each is a document or a clear error."""
    for row in rows(text, folders):
        assert row.place.startswith("line ")
        if isinstance(row, Row):
            try:
                drafted(row.draft)
            except BadDraft as error:
                assert error.reason  # noqa: PT017


@pytest.mark.parametrize(
    "piece", ["<!-- ", "<a ", "<a href='", "<!", "<?", "<![CDATA[", "</a ", "&#", "<"]
)
@pytest.mark.parametrize("times", [3_000, 300_000])
def test_what_never_ends_is_read_in_one_go(piece: str, times: int) -> None:
    """However many tags and comments are opened, the time grows with the file and no faster."""
    whole = '<DT><A HREF="https://example.org/">Tea</A>\n' + piece * times
    began = time.process_time()
    assert drafts(whole)[0].url == "https://example.org/"
    assert time.process_time() - began < 10


NOTE, BOOK, INNER, TAG, USE, SECRET = (f"{digit}" * 32 for digit in "123456")

JOPLIN = {
    f"{NOTE}.md": f"""Winter plans

Order *seeds* in time.

time: this is text, not a value

id: {NOTE}
parent_id: {INNER}
created_time: 2024-01-02T03:04:05.678Z
updated_time: 2024-02-02T03:04:05.678Z
source_url: https://example.org/seeds
user_created_time: 2023-01-02T03:04:05.678Z
type_: 1""",
    f"{BOOK}.md": f"Garden\n\nid: {BOOK}\nparent_id: \ntype_: 2",
    f"{INNER}.md": f"Plans/2024\n\nid: {INNER}\nparent_id: {BOOK}\ntype_: 2",
    f"{TAG}.md": f"to do\n\nid: {TAG}\ntype_: 5",
    f"{USE}.md": f"id: {USE}\nnote_id: {NOTE}\ntag_id: {TAG}\ntype_: 6",
    f"{SECRET}.md": f"id: {SECRET}\nencryption_cipher_text: JED01\nencryption_applied: 1\ntype_: 1",
    f"{'a' * 32}.md": "no item at all",
    "resources/picture.md": "not looked at",
}


def test_a_joplin_export(library: Library, tmp_path: Path) -> None:
    """Notes have their notebooks as paths, their tags, their times and their address."""
    folder = write_notes(tmp_path / "joplin", JOPLIN)
    report = library.import_notes(folder)
    assert (report.added, report.failed) == (2, 1)
    assert "no item of a Joplin export" in report.problems[0].reason
    (note,) = library.documents()
    assert (note.id, note.title) == (f"notes/{NOTE}", "Winter plans")
    assert note.body == "Order *seeds* in time.\n\ntime: this is text, not a value"
    assert (note.path, note.tags) == ("Garden/Plans-2024/Winter plans", ("to do",))
    assert note.url == "https://example.org/seeds"
    assert note.created == datetime(2023, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    assert library.import_notes(folder).unchanged == 2


def test_a_folder_of_text(library: Library, tmp_path: Path) -> None:
    """Markdown and plain text go in under their paths; binaries and hidden files do not."""
    folder = write_notes(
        tmp_path / "texts",
        {
            "letter.txt": "Dear Ann,\n\nthe ants came back.",
            "deep/note.md": "---\ntags: [x]\nsource: https://a.org/page\n---\n# Bees\n\nbuzz",
            ".hidden/a.md": "no",
            "draft.md": "---\nsearch: false\n---\nno",
            "picture.png": "no",
        },
    )
    (folder / "binary.txt").write_bytes(b"\0\1\2")
    (folder / "out.md").symlink_to(tmp_path / "x.db")
    report = library.import_notes(folder, collection="post")
    assert (report.added, report.skipped, report.failed) == (2, 1, 2)
    assert {str(one.code) for one in report.problems} == {"excluded", "binary", "outside-root"}
    held = {one.id: one for one in library.documents()}
    assert set(held) == {"post/letter.txt", "post/deep/note.md"}
    assert held["post/letter.txt"].title == "letter"
    assert (held["post/deep/note.md"].url, held["post/deep/note.md"].tags) == (
        "https://a.org/page",
        ("x",),
    )
    assert library.search("ants", mode="lexical").results[0].path == "letter.txt"


def test_prompts_from_markdown(library: Library, tmp_path: Path) -> None:
    """A folder or a single file; arguments and description come from the front matter."""
    folder = write_notes(
        tmp_path / "prompts",
        {
            "cut.md": "---\ndescription: Makes it short\narguments: [text, words]\n---\n{{text}}",
            "plain.md": "# Greet\n\nSay hello to {{name}}.",
        },
    )
    assert library.import_prompts(folder / "cut.md").added == 1
    assert library.import_prompts(folder).added == 1
    held = {one.id: one for one in library.documents()}
    assert {one.kind for one in held.values()} == {Kind.PROMPT}
    assert held["prompts/cut.md"].arguments == ("text", "words")
    assert held["prompts/plain.md"].title == "Greet"
    with pytest.raises(MissingFolder):
        library.import_prompts(folder / "nowhere")


def test_a_folder_that_is_indexed_takes_no_imports(library: Library, tmp_path: Path) -> None:
    """An import into the collection of a folder is refused before anything is read."""
    folder = write_notes(tmp_path / "notes", {"a.md": "ant"})
    library.index(folder)
    with pytest.raises(BadInput, match="--collection"):
        library.import_notes(folder)
    assert library.import_notes(folder, collection="copies").added == 1
    assert {one.id for one in library.documents()} == {"notes/a.md", "copies/a.md"}
