"""The folder of notes as a source, on real files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from twolane.ingest.sources.vault import VaultSource
from twolane.model.errors import BadSetting, MissingFolder
from twolane.model.problem import FileRecord, FileState, ProblemCode, Stamp
from twolane.ports.source import Entry

NFC = unicodedata.normalize("NFC", "й")
NFD = unicodedata.normalize("NFD", "й")

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file names and links")


def write(root: Path, *paths: str, text: str = "text\n") -> None:
    """Create files, with the folders they lie in."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def offered(source: VaultSource) -> list[str]:
    """The paths of the notes that are offered."""
    return [item.path for item in source.entries() if isinstance(item, Entry)]


def records(source: VaultSource) -> dict[str, FileRecord]:
    """The ledger rows by path."""
    return {item.path: item for item in source.entries() if isinstance(item, FileRecord)}


def test_a_missing_root_says_what_to_do(tmp_path: Path) -> None:
    """A root that does not exist, or is a file, is an error that names it and the remedy."""
    write(tmp_path, "note.md")
    with pytest.raises(MissingFolder, match=r"nowhere does not exist; name a folder"):
        VaultSource(tmp_path / "nowhere")
    with pytest.raises(MissingFolder, match=r"note\.md is not a folder; name a folder"):
        VaultSource(tmp_path / "note.md")


def test_a_root_that_went_away_is_not_an_empty_vault(tmp_path: Path) -> None:
    """A root that vanishes before the listing raises, so that nobody deletes every document."""
    root = tmp_path / "vault"
    write(root, "note.md")
    source = VaultSource(root)
    shutil.rmtree(root)
    with pytest.raises(MissingFolder):
        list(source.entries())


def test_an_impossible_limit_is_refused(tmp_path: Path) -> None:
    """A size limit below one byte is a bad setting."""
    with pytest.raises(BadSetting, match="max_bytes"):
        VaultSource(tmp_path, max_bytes=0)


def test_notes_come_from_every_folder_in_order_of_path(tmp_path: Path) -> None:
    """The walk is recursive and its order is that of the paths, whatever the disk's order is."""
    paths = ["b.md", "a/z.md", "a/b/c.markdown", "a.md", "дом/кухня.md", "a b/x.md"]
    write(tmp_path, *paths)
    assert offered(VaultSource(tmp_path)) == sorted(paths)


def test_an_entry_carries_time_and_size(tmp_path: Path) -> None:
    """The stamp is the file's modification time in nanoseconds and its size in bytes."""
    write(tmp_path, "note.md", text="abc")
    os.utime(tmp_path / "note.md", ns=(0, 1_700_000_000_123_456_789))
    info = (tmp_path / "note.md").stat()
    (entry,) = VaultSource(tmp_path).entries()
    assert entry == Entry("note.md", Stamp(info.st_mtime_ns, 3))


@pytest.mark.parametrize("moment", [-1_500_000_000_123_456_789, -1, 0, 4_000_000_000_000_000_007])
def test_stamps_are_exact_at_any_time(tmp_path: Path, moment: int) -> None:
    """A file's time is kept to the nanosecond, also before 1970 and for an empty file."""
    write(tmp_path, "note.md", text="")
    os.utime(tmp_path / "note.md", ns=(moment, moment))
    info = (tmp_path / "note.md").stat()
    assert list(VaultSource(tmp_path).entries()) == [Entry("note.md", Stamp(info.st_mtime_ns, 0))]


def test_reading_gives_the_bytes(tmp_path: Path) -> None:
    """A note is read as it is on disk, byte for byte."""
    (tmp_path / "note.md").write_bytes(b"a\r\n\xff\x00")
    source = VaultSource(tmp_path)
    (entry,) = source.entries()
    assert isinstance(entry, Entry)
    assert source.read(entry) == b"a\r\n\xff\x00"


def test_reading_stays_under_the_root(tmp_path: Path) -> None:
    """A path that climbs out of the root is refused as unreadable."""
    write(tmp_path, "secret.md", "vault/note.md")
    source = VaultSource(tmp_path / "vault")
    for path in ("../secret.md", str(tmp_path / "secret.md")):
        with pytest.raises(OSError, match="not a path under"):
            source.read(Entry(path, Stamp(0, 0)))


def test_a_file_that_grew_after_the_listing_is_not_read(tmp_path: Path) -> None:
    """The size limit also holds when the file is read."""
    write(tmp_path, "note.md", text="abc")
    source = VaultSource(tmp_path, max_bytes=10)
    (entry,) = source.entries()
    write(tmp_path, "note.md", text="a" * 11)
    assert isinstance(entry, Entry)
    with pytest.raises(OSError, match="larger than 10 bytes"):
        source.read(entry)


def test_a_note_that_went_away_raises_on_reading(tmp_path: Path) -> None:
    """Reading a deleted note raises OSError, as the port promises."""
    write(tmp_path, "note.md")
    source = VaultSource(tmp_path)
    (entry,) = source.entries()
    (tmp_path / "note.md").unlink()
    assert isinstance(entry, Entry)
    with pytest.raises(FileNotFoundError):
        source.read(entry)


def test_other_files_are_passed_over_in_silence(tmp_path: Path) -> None:
    """Only names that match `include` are reported, in any letter case."""
    write(tmp_path, "note.md", "LOUD.MD", "photo.png", "page.markdown", "no-suffix")
    assert offered(VaultSource(tmp_path)) == ["LOUD.MD", "note.md", "page.markdown"]
    assert records(VaultSource(tmp_path)) == {}


def test_include_takes_names_and_paths(tmp_path: Path) -> None:
    """A pattern without a slash is about the name, one with a slash about the path."""
    write(tmp_path, "a.txt", "sub/b.txt", "docs/c.rst", "docs/deep/d.rst", "c.rst", "day-1.log")
    source = VaultSource(tmp_path, include=("*.txt", "docs/**/*.rst", "day-?.log"))
    assert offered(source) == ["a.txt", "day-1.log", "docs/c.rst", "docs/deep/d.rst", "sub/b.txt"]


def test_a_folder_called_like_a_note_is_a_folder(tmp_path: Path) -> None:
    """A folder whose name ends in `.md` is entered and not read."""
    write(tmp_path, "folder.md/note.md", "folder.md/photo.png")
    assert offered(VaultSource(tmp_path)) == ["folder.md/note.md"]
    assert records(VaultSource(tmp_path)) == {}


def test_hidden_files_and_folders_are_not_entered(tmp_path: Path) -> None:
    """Names that begin with a dot are passed over without a ledger row."""
    write(tmp_path, ".git/a.md", ".obsidian/b.md", ".trash/c.md", ".d.md", "sub/.e/f.md", "g.md")
    assert offered(VaultSource(tmp_path)) == ["g.md"]
    assert records(VaultSource(tmp_path)) == {}


@pytest.mark.parametrize("name", [".gitignore", ".twolaneignore"])
def test_ignore_files_count_in_every_folder(tmp_path: Path, name: str) -> None:
    """Both kinds of ignore file hold for the folder they lie in and for those below."""
    write(tmp_path, "a.md", "drafts/b.md", "sub/c.md", "sub/drop.md", "drop.md", "sub/deep/drop.md")
    (tmp_path / name).write_text("# Not yet.\ndrafts/\n")
    (tmp_path / "sub" / name).write_text("drop.md\n")
    assert offered(VaultSource(tmp_path)) == ["a.md", "drop.md", "sub/c.md"]
    assert records(VaultSource(tmp_path)) == {}


def test_our_ignore_file_overrules_that_of_git(tmp_path: Path) -> None:
    """In one folder `.twolaneignore` has the last word, in both directions."""
    write(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("a.md\n")
    (tmp_path / ".twolaneignore").write_text("!a.md\nb.md\n")
    assert offered(VaultSource(tmp_path)) == ["a.md"]


def test_exclude_overrules_ignore_files(tmp_path: Path) -> None:
    """The setting speaks the same language as the ignore files and has the last word."""
    write(tmp_path, "a.md", "private/b.md", "sub/private/c.md", "sub/d.md")
    (tmp_path / ".twolaneignore").write_text("!private/\nd.md\n")
    source = VaultSource(tmp_path, exclude=("private/", "!d.md"))
    assert offered(source) == ["a.md", "sub/d.md"]


@pytest.mark.parametrize("pattern", ["!", "a\\", "[z-a]"])
def test_a_broken_pattern_is_refused_in_a_setting(tmp_path: Path, pattern: str) -> None:
    """A pattern that cannot be understood is an error in `exclude`."""
    with pytest.raises(BadSetting, match=r"is not a pattern.*\.gitignore"):
        VaultSource(tmp_path, exclude=(pattern,))


def test_a_broken_line_of_an_ignore_file_is_passed_over(tmp_path: Path) -> None:
    """A line that git would not understand either does not spoil the lines around it."""
    write(tmp_path, "a.md", "b.md", "c.md")
    (tmp_path / ".gitignore").write_text("a.md\n!\nx\\\n[z-a]\nb.md\n")
    assert offered(VaultSource(tmp_path)) == ["c.md"]


@posix
def test_an_ignored_folder_is_not_entered(tmp_path: Path) -> None:
    """Nothing in an ignored folder is looked at, so that even a broken one costs nothing."""
    write(tmp_path, "a.md", "node_modules/b.md")
    (tmp_path / "node_modules" / "loop.md").symlink_to("loop.md")
    (tmp_path / ".gitignore").write_text("node_modules/\n!node_modules/b.md\n")
    assert offered(VaultSource(tmp_path)) == ["a.md"]
    assert records(VaultSource(tmp_path)) == {}


RULES = [
    "*.md\n!keep.md\n",
    "/*\n!/sub\n",
    "sub/**\n!sub/keep.md\n",
    "*\n!*/\n!keep.md\n",
    "sub/\n!sub/keep.md\n",
    "**/deep\n",
    "sub/*/x.md\n",
    "/a.md\n",
    "[ab].md\n",
    "\\!odd.md\n\\#hash.md\n",
    "a.md \nb.md\\ \n",
    "deep/**/x.md\n",
    "**\n!sub/\n",
    "s?b\n",
    "дом/\n",
    "/**/deep\n!/**/\n",
    "sub/**/\n",
    "**/**/*/\n",
    "*.md\n!/sub\n",
    "sub/deep\n!sub/\n",
    "**/sub/*.md\n",
]


@posix
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")
@pytest.mark.parametrize("lines", RULES)
def test_ignore_rules_are_those_of_git(tmp_path: Path, lines: str) -> None:
    """For each rule set the notes offered are exactly those that git does not ignore."""
    names = ["a.md", "b.md", "x.md", "keep.md", "!odd.md", "#hash.md"]
    folders = ["", "sub/", "sub/deep/", "deep/", "deep/er/", "дом/"]
    write(tmp_path, *(folder + name for folder in folders for name in names))
    (tmp_path / ".gitignore").write_text(lines, encoding="utf-8")
    (tmp_path / "deep" / ".gitignore").write_text("!x.md\nkeep.md\n")
    environment = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {name: value for name, value in environment.items() if name != "GIT_DIR"}

    def git(*arguments: str) -> str:
        command = ["git", "-c", "core.quotePath=off", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    git("init", "--quiet")
    listed = git("ls-files", "--others", "--exclude-standard").splitlines()
    assert offered(VaultSource(tmp_path)) == sorted(p for p in listed if p.endswith(".md"))


def test_underscored_paths_are_skipped_with_a_row_each(tmp_path: Path) -> None:
    """Each note below a name that begins with `_` has a row that says why it is left out."""
    write(tmp_path, "_templates/day.md", "_templates/deep/week.md", "_x.md", "a/_b/c.md", "d_e.md")
    write(tmp_path, "_templates/logo.png")
    source = VaultSource(tmp_path)
    assert offered(source) == ["d_e.md"]
    rows = records(source)
    assert list(rows) == ["_templates/day.md", "_templates/deep/week.md", "_x.md", "a/_b/c.md"]
    assert {(row.state, row.code) for row in rows.values()} == {
        (FileState.SKIPPED, ProblemCode.EXCLUDED)
    }
    assert rows["a/_b/c.md"].reason == "'_b' begins with an underscore"


def test_an_ignored_underscored_note_has_no_row(tmp_path: Path) -> None:
    """Ignore rules come first: what is ignored leaves no trace."""
    write(tmp_path, "_a/b.md", "_a/c.md")
    source = VaultSource(tmp_path, exclude=("c.md",))
    assert list(records(source)) == ["_a/b.md"]


def test_a_file_that_is_too_large_fails_without_being_read(tmp_path: Path) -> None:
    """A note over the limit has a failed row; one at the limit is offered."""
    write(tmp_path, "large.md", text="a" * 11)
    write(tmp_path, "fits.md", text="a" * 10)
    source = VaultSource(tmp_path, max_bytes=10)
    assert offered(source) == ["fits.md"]
    row = records(source)["large.md"]
    assert (row.state, row.code) == (FileState.FAILED, ProblemCode.TOO_LARGE)
    assert "larger than 10 bytes" in row.reason
    assert row.stamp is not None
    assert row.stamp.size == 11


@posix
def test_something_that_is_not_a_file_fails(tmp_path: Path) -> None:
    """A named pipe called like a note is reported and never opened."""
    os.mkfifo(tmp_path / "pipe.md")
    row = records(VaultSource(tmp_path))["pipe.md"]
    assert (row.state, row.code) == (FileState.FAILED, ProblemCode.UNREADABLE)


# -------------------------------------------------------------------------------------- links


@posix
def test_links_out_of_the_root_fail(tmp_path: Path) -> None:
    """A link to a file or a folder elsewhere is a failed row and is never followed."""
    write(tmp_path, "secret.md", "elsewhere/a.md", "photo.png", "vault/note.md")
    root = tmp_path / "vault"
    (root / "out.md").symlink_to("../secret.md")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "photo.png").symlink_to("../photo.png")
    source = VaultSource(root)
    assert offered(source) == ["note.md"]
    rows = records(source)
    assert list(rows) == ["folder", "out.md"]
    assert {row.code for row in rows.values()} == {ProblemCode.OUTSIDE_ROOT}
    assert "secret.md" in rows["out.md"].reason


@posix
def test_links_out_of_the_root_can_be_allowed(tmp_path: Path) -> None:
    """With `outside` they are taken as if they lay where the links are, each file once."""
    write(tmp_path, "secret.md", "elsewhere/a.md", "elsewhere/deep/b.md", "vault/note.md")
    root = tmp_path / "vault"
    (root / "out.md").symlink_to("../secret.md")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "again").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "loop").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "home").symlink_to(root)
    (root / "above").symlink_to(tmp_path)
    (root / "nowhere.md").symlink_to(tmp_path / "gone.md")
    source = VaultSource(root, outside=True)
    assert offered(source) == ["again/a.md", "again/deep/b.md", "note.md", "out.md"]
    for entry in source.entries():
        if isinstance(entry, Entry):
            source.read(entry)
    assert sorted(records(source)) == ["above", "nowhere.md"]


@posix
def test_a_file_reached_twice_is_offered_at_its_real_path(tmp_path: Path) -> None:
    """A link to a note that is offered anyway adds nothing, and nor does one to its folder."""
    write(tmp_path, "sub/real.md")
    (tmp_path / "a-link.md").symlink_to("sub/real.md")
    (tmp_path / "again").symlink_to("sub")
    source = VaultSource(tmp_path)
    assert offered(source) == ["sub/real.md"]
    assert records(source) == {}


@posix
def test_links_to_hidden_places_are_followed(tmp_path: Path) -> None:
    """What only a link leads to is offered at the link's path and can be read."""
    write(tmp_path, ".store/a.md", ".shelf/b.md", ".shelf/deep/c.md", text="hidden\n")
    (tmp_path / "a.md").symlink_to(".store/a.md")
    (tmp_path / "z.md").symlink_to(".store/a.md")
    (tmp_path / "shelf").symlink_to(".shelf")
    source = VaultSource(tmp_path)
    entries = [item for item in source.entries() if isinstance(item, Entry)]
    assert [entry.path for entry in entries] == ["a.md", "shelf/b.md", "shelf/deep/c.md"]
    assert {source.read(entry) for entry in entries} == {b"hidden\n"}


@posix
def test_a_link_undoes_neither_underscores_nor_ignore_rules(tmp_path: Path) -> None:
    """A note that is left out under its real name stays out under that of a link."""
    write(tmp_path, "_private/a.md", "ignored/b.md", "sub/c.md", "open.md")
    (tmp_path / ".gitignore").write_text("ignored/\n")
    (tmp_path / "sub" / ".gitignore").write_text("c.md\n")
    for name, target in {"a": "_private/a", "b": "ignored/b", "c": "sub/c"}.items():
        (tmp_path / f"{name}.md").symlink_to(f"{target}.md")
    (tmp_path / "private").symlink_to("_private")
    (tmp_path / "kept").symlink_to("ignored")
    source = VaultSource(tmp_path)
    assert offered(source) == ["open.md"]
    assert list(records(source)) == ["_private/a.md"]


@posix
def test_cycles_of_links_end(tmp_path: Path) -> None:
    """Folders that link to themselves, to their parents and to each other are walked once."""
    write(tmp_path, "a/one.md", "b/two.md", ".h/three.md")
    (tmp_path / "a" / "self").symlink_to(".")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "a" / "b").symlink_to("../b")
    (tmp_path / "b" / "a").symlink_to("../a")
    (tmp_path / "h").symlink_to(".h")
    (tmp_path / ".h" / "again").symlink_to("../.h")
    assert offered(VaultSource(tmp_path)) == ["a/one.md", "b/two.md", "h/three.md"]


@posix
def test_links_that_lead_nowhere_fail(tmp_path: Path) -> None:
    """A broken link and a link to itself are failed rows if they are called like notes."""
    (tmp_path / "broken.md").symlink_to("nothing.md")
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "broken.png").symlink_to("nothing.png")
    rows = records(VaultSource(tmp_path))
    assert list(rows) == ["broken.md", "loop.md"]
    assert {row.code for row in rows.values()} == {ProblemCode.UNREADABLE}


@posix
def test_links_with_an_underscore_are_not_followed(tmp_path: Path) -> None:
    """An underscored link to a note is skipped with a row, one to a folder without."""
    write(tmp_path, "outside.md", "vault/.hidden/a.md")
    root = tmp_path / "vault"
    (root / "_out.md").symlink_to("../outside.md")
    (root / "_folder").symlink_to(".hidden")
    source = VaultSource(root)
    assert offered(source) == []
    assert {path: row.code for path, row in records(source).items()} == {
        "_out.md": ProblemCode.EXCLUDED
    }


@posix
def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    """A vault that is itself reached through a link is an ordinary vault."""
    write(tmp_path, "real/a.md")
    (tmp_path / "vault").symlink_to("real")
    assert offered(VaultSource(tmp_path / "vault")) == ["a.md"]


# -------------------------------------------------------------------------------------- names


@posix
def test_decomposed_names_are_composed_and_still_open(tmp_path: Path) -> None:
    """A path is NFC even where the disk's names are not, and reading finds the real file."""
    write(tmp_path, f"{NFD}/{NFD}.md", text="found\n")
    source = VaultSource(tmp_path)
    (entry,) = source.entries()
    assert isinstance(entry, Entry)
    assert entry.path == f"{NFC}/{NFC}.md"
    assert source.read(entry) == b"found\n"


@posix
def test_ignore_rules_know_both_spellings(tmp_path: Path) -> None:
    """A rule that is spelled in one Unicode form holds for a name in the other."""
    write(tmp_path, f"{NFD}/a.md", f"{NFC}.md", "b.md")
    (tmp_path / ".gitignore").write_text(f"{NFC}/\n{NFD}.md\n", encoding="utf-8")
    assert offered(VaultSource(tmp_path)) == ["b.md"]


@posix
@pytest.mark.parametrize("place", ["{}.md", "{}/note.md", "{}/deep/note.md"])
def test_two_spellings_of_one_name_clash(tmp_path: Path, place: str) -> None:
    """The composed one is offered, the other fails under the name that it has on disk."""
    write(tmp_path, place.format(NFC), text="composed")
    write(tmp_path, place.format(NFD), text="decomposed")
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("this file system holds only one spelling")
    source = VaultSource(tmp_path)
    (entry,) = (item for item in source.entries() if isinstance(item, Entry))
    assert entry.path == place.format(NFC)
    assert source.read(entry) == b"composed"
    (row,) = records(source).values()
    assert (row.path, row.state, row.code) == (
        place.format(NFD),
        FileState.FAILED,
        ProblemCode.CLASH,
    )
    assert place.format(NFC) in row.reason


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8_fail(tmp_path: Path) -> None:
    """A name that cannot be written down in UTF-8 is reported in a form that can be."""
    for name in (b"bad\xff.md", b"bad\xff.png", b"dir\xff"):
        if name.startswith(b"dir"):
            (tmp_path / os.fsdecode(name)).mkdir()
        else:
            (tmp_path / os.fsdecode(name)).touch()
    rows = records(VaultSource(tmp_path))
    assert list(rows) == ["bad\ufffd.md", "dir\ufffd"]
    assert all("not valid UTF-8" in row.reason for row in rows.values())


# ------------------------------------------------------------------------------ what goes wrong


def unreadable(path: str, rows: dict[str, FileRecord]) -> None:
    """Assert that exactly this folder failed because it could not be listed."""
    assert list(rows) == [path]
    assert (rows[path].state, rows[path].code) == (FileState.FAILED, ProblemCode.UNREADABLE)
    assert rows[path].reason.startswith("cannot list it: ")


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_forbidden_folder_fails_and_the_walk_goes_on(tmp_path: Path) -> None:
    """A folder without permission is one failed row; its neighbours are still offered."""
    write(tmp_path, "a/one.md", "locked/two.md", "z/three.md")
    (tmp_path / "locked").chmod(0)
    try:
        source = VaultSource(tmp_path)
        assert offered(source) == ["a/one.md", "z/three.md"]
        unreadable("locked", records(source))
    finally:
        (tmp_path / "locked").chmod(0o700)


@pytest.mark.skipif(sys.platform != "linux", reason="relies on Linux's limit of a path's length")
def test_a_folder_too_deep_to_open_fails_and_the_walk_goes_on(tmp_path: Path) -> None:
    """Folders may nest until the system refuses; that one is a failed row, the rest is offered."""
    write(tmp_path, "zz/note.md")
    name, depth = "a" * 200, 25
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=handle)
        below = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    try:
        source = VaultSource(tmp_path)
        assert offered(source) == ["zz/note.md"]
        (path,) = records(source)
        unreadable(path, records(source))
    finally:
        shutil.rmtree(tmp_path / name)


@posix
def test_deep_nesting_does_not_exhaust_the_stack(tmp_path: Path) -> None:
    """A note more than a thousand folders down is offered."""
    folders = ["/".join("d" * depth) for depth in range(1, 1_201)]
    for folder in folders:
        (tmp_path / folder).mkdir()
    (tmp_path / folders[-1] / "note.md").touch()
    try:
        assert offered(VaultSource(tmp_path)) == [f"{folders[-1]}/note.md"]
    finally:
        (tmp_path / folders[-1] / "note.md").unlink()
        for folder in reversed(folders):
            (tmp_path / folder).rmdir()


@posix
def test_rules_that_cannot_be_read_close_the_folder(tmp_path: Path) -> None:
    """Where an ignore file cannot be read, its folder fails and nothing in it is offered."""
    write(tmp_path, "a.md", "sub/b.md")
    unlisted = tmp_path / "sub" / ".gitignore"
    unlisted.symlink_to("/proc/self/mem" if sys.platform == "linux" else "/dev/tty")
    if not unlisted.is_file():
        pytest.skip("this system has no file that exists and cannot be read")
    source = VaultSource(tmp_path)
    assert offered(source) == ["a.md"]
    unreadable("sub", records(source))


def test_ten_thousand_files_are_listed_quickly(tmp_path: Path) -> None:
    """Ignore rules cost a large vault little beside looking at its files; the bound is generous."""
    for folder in range(100):
        (tmp_path / f"folder {folder}").mkdir()
        for note in range(100):
            (tmp_path / f"folder {folder}" / f"note {note}.md").touch()
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n/dist\n*.tmp\n!keep.md\n")
    source = VaultSource(tmp_path)
    started = time.process_time()
    assert sum(path.stat().st_size == 0 for path in tmp_path.rglob("*.md")) == 10_000
    bare = time.process_time() - started
    started = time.process_time()
    assert len(list(source.entries())) == 10_000
    assert time.process_time() - started < 4 * bare
