"""Notes and prompts from folders: Markdown, plain text, Joplin."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.builders import write_notes
from twolane import Kind, Library
from twolane.model.errors import BadInput, MissingFolder

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
