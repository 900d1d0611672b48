"""A folder of Markdown notes on disk."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path

from twolane.ingest.sources.ignoring import IGNORE_FILES, Names, Rules, rules
from twolane.model.errors import BadSetting, MissingFolder
from twolane.model.problem import FileRecord, FileState, ProblemCode, Stamp
from twolane.ports.source import Entry


class VaultSource:
    """The notes under one folder, as `twolane.ports.source.Source`.

    Paths are relative to the folder, with `/` between their parts, in Unicode form NFC.
    Hidden files and folders, files that no `include` pattern names, and files that an ignore
    rule leaves out are passed over in silence.
    Notes below a name that begins with `_` are passed over with a ledger row.
    Links that stay under the folder are followed, others only with `outside`; no file is offered
    twice.
    What belongs to a `nested` folder is passed over with one ledger row for all of it.
    """

    def __init__(
        self,
        root: Path,
        *,
        include: Sequence[str] = ("*.md", "*.markdown"),
        exclude: Sequence[str] = (),
        max_bytes: int = 20_000_000,
        outside: bool = False,
        nested: Sequence[Nested] = (),
    ) -> None:
        if not root.is_dir():
            what = "is not a folder" if root.exists() else "does not exist"
            raise MissingFolder(f"{root} {what}; name a folder that holds your notes")
        if max_bytes < 1:
            raise BadSetting(f"max_bytes is {max_bytes}; set it to the largest size to read, ≥ 1")
        self.root = Path(os.path.realpath(root))
        self._wanted = Names(include)
        self._rules = rules(exclude)
        self._max_bytes = max_bytes
        self._outside = outside
        self._nested = nested
        self._disk_names: dict[str, str] = {}

    def entries(self) -> Iterator[Entry | FileRecord]:
        """The notes that are offered and the ledger rows of those that are not, by path."""
        walk = _Walk(
            self.root,
            self._wanted,
            self._rules,
            self._max_bytes,
            outside=self._outside,
            nested=self._nested,
        )
        walk.run()
        self._disk_names = walk.disk_names
        for path in sorted(walk.found):
            # What was taken up is let go, so that a long run does not hold it to the end.
            found = walk.found.pop(path)
            yield Entry(path, found) if isinstance(found, Stamp) else found

    def read(self, entry: Entry) -> bytes:
        """The bytes of a note that the last listing offered; raises OSError."""
        relative = self._disk_names.get(entry.path, entry.path)
        if (Path(relative).is_absolute() and not self._outside) or ".." in relative.split("/"):
            raise PermissionError(f"{entry.path} is not a path under {self.root}")
        # Not by `Path`, which remembers every name it ever saw until the process ends.
        place = relative if relative.startswith("/") else f"{self.root}/{relative}"
        with open(place, "rb") as file:  # noqa: PTH123
            # One byte more than allowed tells a file that has grown since it was listed.
            data = file.read(self._max_bytes + 1)
        if len(data) > self._max_bytes:
            raise OSError(_too_large(self._max_bytes))
        return data


@dataclass(frozen=True, slots=True)
class Nested:
    """A folder below that is a collection of its own, and which of its files are that one's."""

    path: str
    collection: str
    include: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to list: its path as reported, as on disk, and what holds inside it."""

    path: str
    disk: str
    rules: Rules
    underscored: bool


@dataclass(frozen=True, slots=True, order=True)
class _Link:
    """A link that waits until every real file has its place."""

    path: str
    disk: str
    rules: Rules = field(compare=False)
    underscored: bool = field(compare=False)


class _Walk:
    """One listing: first the real tree, then what only links lead to."""

    def __init__(
        self,
        root: Path,
        wanted: Names,
        given: Rules,
        max_bytes: int,
        *,
        outside: bool,
        nested: Sequence[Nested],
    ) -> None:
        # By path, the stamp of a note that is offered, or why a file is none.
        self.found: dict[str, Stamp | FileRecord] = {}
        self.disk_names: dict[str, str] = {}
        self._root = root
        self._wanted = wanted
        self._given = given
        self._max_bytes = max_bytes
        self._outside = outside
        self._nested = [(one, Names(one.include)) for one in nested]
        self._folders: list[_Folder] = []
        self._links: list[_Link] = []
        # Real places, relative to the root, that have been listed or judged already;
        # of files those that are not found under the name of their place.
        self._seen_folders: set[str] = set()
        self._seen_files: set[str] = set()
        # The rules that hold in real folders that links lead to, None where all is left out.
        self._real_rules: dict[str, Rules | None] = {}

    def run(self) -> None:
        """List everything; afterwards `found` holds what there is to report."""
        self._folders.append(_Folder("", "", self._given, underscored=False))
        self._drain()
        while self._links:
            # Links are taken in order of path, so that of two links to one hidden file
            # the same one wins on every machine.
            link = heappop(self._links)
            try:
                self._follow(link)
            except OSError as error:
                self._fail(link.path, ProblemCode.UNREADABLE, _cannot("follow", error))
            self._drain()

    def _drain(self) -> None:
        # A stack and not recursion: folders may nest deeper than Python's stack.
        while self._folders:
            folder = self._folders.pop()
            try:
                self._list(folder)
            except OSError as error:
                if not folder.path:
                    # An empty listing would read as if every note had been deleted.
                    reason = _cannot("list", error)
                    raise MissingFolder(f"{self._root}: {reason}; check the folder") from error
                if not isinstance(error, FileNotFoundError):  # It may go away meanwhile.
                    self._fail(folder.path, ProblemCode.UNREADABLE, _cannot("list", error))

    def _list(self, folder: _Folder) -> None:
        self._seen_folders.add(folder.disk)
        with os.scandir(self._root / folder.disk) as found:
            children = list(found)
        present = [child.name for child in children if child.name in IGNORE_FILES]
        lines = _ignore_lines(self._root / folder.disk, present)
        inside = folder.rules.within(folder.path, lines)
        # Of two spellings of one name, the one that needs no renaming keeps the name.
        children.sort(key=lambda child: (not _is_nfc(child.name), child.name))
        waiting = len(self._folders)
        for child in children:
            if not child.name.startswith("."):
                self._meet(child, folder, inside)
        # The stack gives back the last one first, and the order above is to hold.
        self._folders[waiting:] = reversed(self._folders[waiting:])

    def _meet(self, child: os.DirEntry[str], folder: _Folder, inside: Rules) -> None:
        name = child.name
        disk = f"{folder.disk}/{name}" if folder.disk else name
        if not name.isascii():
            if not _is_utf8(name):
                self._reject_name(child, disk)
                return
            name = unicodedata.normalize("NFC", name)
        path = f"{folder.path}/{name}" if folder.path else name
        if path == disk:
            # One string for both, in whatever keeps them.
            disk = path
        underscored = folder.underscored or name.startswith("_")
        if child.is_symlink():
            heappush(self._links, _Link(path, disk, inside, underscored))
        elif child.is_dir(follow_symlinks=False):
            if disk not in self._seen_folders and not inside.ignores(path, folder=True):
                self._folders.append(_Folder(path, disk, inside, underscored))
        elif self._wanted.match(path, name) and not inside.ignores(path):
            self._offer(path, disk, child, underscored=underscored)

    def _offer(
        self, path: str, disk: str, child: os.DirEntry[str] | Path, *, underscored: bool
    ) -> None:
        """Report the note whose real place is `disk`, unless it was reported before."""
        if self._is_seen(disk):
            return
        if path != disk:
            self._seen_files.add(disk)
        if nested := self._elsewhere(disk):
            reason = f"its notes are in the collection {nested.collection!r}"
            record = FileRecord(nested.path, FileState.SKIPPED, None, reason, ProblemCode.EXCLUDED)
            self.found[nested.path] = record
            return
        if path in self.found:
            # One path names one document, so this record goes by the spelling on disk.
            reason = f"another note has this name in another Unicode spelling: {path}; rename one"
            self._fail(disk, ProblemCode.CLASH, reason)
            return
        try:
            info = child.stat()
        except FileNotFoundError:
            return  # The note went away while it was being listed.
        except OSError as error:
            self._fail(path, ProblemCode.UNREADABLE, _cannot("look at", error))
            return
        stamp = Stamp(info.st_mtime_ns, info.st_size)
        if underscored:
            self._skip(path, stamp)
        elif not stat.S_ISREG(info.st_mode):
            self._fail(path, ProblemCode.UNREADABLE, "not a regular file", stamp)
        elif info.st_size > self._max_bytes:
            self._fail(path, ProblemCode.TOO_LARGE, _too_large(self._max_bytes), stamp)
        else:
            self.found[path] = stamp
            if path != disk:
                self.disk_names[path] = disk

    def _elsewhere(self, disk: str) -> Nested | None:
        """The collection inside of this one that a real file belongs to, if there is one."""
        for one, wanted in self._nested:
            if disk.startswith(f"{one.path}/"):
                rest = unicodedata.normalize("NFC", disk.removeprefix(f"{one.path}/"))
                if wanted.match(rest, rest.rpartition("/")[2]):
                    return one
        return None

    def _is_seen(self, disk: str) -> bool:
        """Whether a real file has been judged; no link is at the place of a real file."""
        return disk in self._seen_files or disk in self.found

    def _follow(self, link: _Link) -> None:
        target = Path(os.path.realpath(self._root / link.disk))
        folder = target.is_dir()
        name = link.path.rpartition("/")[2]
        if link.rules.ignores(link.path, folder=folder):
            return
        if not folder and not self._wanted.match(link.path, name):
            return
        real = self._relative(target)
        if real is None and self._outside and target.exists():
            self._enter(link, target, folder=folder)
            return
        if real is not None and (real in self._seen_folders if folder else self._is_seen(real)):
            return
        if link.underscored:
            if not folder:
                self._skip(link.path, None)
        elif real is None:
            reason = (
                f"a link that leads out of the folder, to {_printable(str(target))}; "
                "the setting index.outside_links follows it"
            )
            self._fail(link.path, ProblemCode.OUTSIDE_ROOT, reason)
        elif not target.exists():
            reason = "a link that leads nowhere; mend or delete it"
            self._fail(link.path, ProblemCode.UNREADABLE, reason)
        elif self._left_out(real, folder=folder):
            return
        elif folder:
            self._folders.append(_Folder(link.path, real, link.rules, underscored=False))
        else:
            self._offer(link.path, real, target, underscored=False)

    def _enter(self, link: _Link, target: Path, *, folder: bool) -> None:
        """Take what a link leads to outside of the folder as if it were where the link is."""
        place = str(target)
        if link.underscored:
            if not folder:
                self._skip(link.path, None)
        elif folder and self._root.is_relative_to(target):
            reason = f"a link to a folder that holds this one, {_printable(place)}"
            self._fail(link.path, ProblemCode.OUTSIDE_ROOT, reason)
        elif folder and place not in self._seen_folders:
            self._folders.append(_Folder(link.path, place, link.rules, underscored=False))
        elif not folder:
            self._offer(link.path, place, target, underscored=False)

    def _left_out(self, real: str, *, folder: bool) -> bool:
        """Whether a link's target may not be offered under its real name either.

        A link makes a hidden file visible, because that is what such links are made for.
        It does not undo an underscore or an ignore rule.
        """
        above, _, name = real.rpartition("/")
        inside = self._rules_in(above)
        if inside is None or name.startswith("_"):
            return True
        return inside.ignores(unicodedata.normalize("NFC", real), folder=folder)

    def _rules_in(self, real: str) -> Rules | None:
        """The rules that hold inside a real folder, or None if the folder is left out."""
        known = self._real_rules
        parts = real.split("/") if real else []
        inside: Rules | None = self._given
        for depth in range(len(parts) + 1):
            place = "/".join(parts[:depth])
            if place not in known:
                path = unicodedata.normalize("NFC", place)
                if inside is not None and depth:
                    hidden = parts[depth - 1].startswith("_") or inside.ignores(path, folder=True)
                    inside = None if hidden else inside
                if inside is not None:
                    inside = inside.within(path, _ignore_lines(self._root / place, IGNORE_FILES))
                known[place] = inside
            inside = known[place]
        return inside

    def _relative(self, real: Path) -> str | None:
        """A real path relative to the root, or None if it lies elsewhere."""
        if not real.is_relative_to(self._root):
            return None
        relative = real.relative_to(self._root).as_posix()
        return "" if relative == "." else relative

    def _reject_name(self, child: os.DirEntry[str], disk: str) -> None:
        shown = _printable(disk)
        if child.is_dir() or self._wanted.match(shown, _printable(child.name)):
            reason = "its name is not valid UTF-8; rename it"
            self._fail(shown, ProblemCode.UNREADABLE, reason)

    def _skip(self, path: str, stamp: Stamp | None) -> None:
        part = next(part for part in path.split("/") if part.startswith("_"))
        reason = f"{part!r} begins with an underscore"
        self.found[path] = FileRecord(path, FileState.SKIPPED, stamp, reason, ProblemCode.EXCLUDED)

    def _fail(self, path: str, code: ProblemCode, reason: str, stamp: Stamp | None = None) -> None:
        self.found[path] = FileRecord(path, FileState.FAILED, stamp, reason, code)


def _ignore_lines(folder: Path, names: Collection[str]) -> list[str]:
    """The lines of the ignore files among these names, the one that overrules the others last.

    An ignore file that cannot be read raises, and the whole folder counts as unreadable:
    to index what its owner wanted left out would be worse.
    """
    lines: list[str] = []
    for name in IGNORE_FILES:
        if name in names and (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8-sig", errors="replace")
            lines += text.split("\n")
    return lines


def _is_nfc(name: str) -> bool:
    return name.isascii() or unicodedata.is_normalized("NFC", name)


def _is_utf8(name: str) -> bool:
    """Whether a name has no bytes that the file system could not decode."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _printable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _cannot(verb: str, error: OSError) -> str:
    name = Path(str(error.filename or "")).name
    about = f" ({name})" if name in IGNORE_FILES else ""
    return f"cannot {verb} it: {error.strerror or error}{about}"


def _too_large(limit: int) -> str:
    return f"larger than {limit:,} bytes; raise the limit or split the note"
