"""Documents from elsewhere and to elsewhere."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from twolane.library.adapters import vault_source
from twolane.model.document import Collection, Kind
from twolane.model.errors import BadInput, MissingFolder
from twolane.model.problem import ProblemCode
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.source import Source
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.ingest.exchange.rows import ImportReport, Rows

    Show = Callable[[ImportReport], None]

# What a file of notes may end in.
_TEXTS = ("*.md", "*.markdown", "*.txt")


class Exchange:
    """Imports and exports; an import is repeated without harm, and goes on where it broke off."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._stores = stores
        self._settings = settings

    def bookmarks(
        self, file: str | os.PathLike[str], collection: str, folders: str, scope: Scope, show: Show
    ) -> ImportReport:
        """Save the bookmarks that a browser exported."""
        from twolane.ingest.exchange.netscape import Folders, read_bookmarks

        self._refuse_folder(collection, scope)
        try:
            kept = Folders(folders)
        except ValueError:
            raise BadInput(f"folders are {', '.join(Folders)}, not {folders!r}") from None
        with _opened(file) as text:
            rows = read_bookmarks(text, collection=collection, folders=kept)
            return self._imported(rows, text.name, scope, show, text=text, merge=True)

    def json(
        self, file: str | os.PathLike[str], collection: str, kind: Kind, scope: Scope, show: Show
    ) -> ImportReport:
        """Save the documents of a file of JSON lines, or of one JSON array."""
        from twolane.ingest.exchange.json_rows import read_json

        longest = 2 * self._settings.index.max_file_bytes
        with _opened(file) as text:
            rows = read_json(text, collection=collection, kind=kind, longest=longest)
            return self._imported(rows, text.name, scope, show, text=text)

    def files(
        self, path: str | os.PathLike[str], collection: str, kind: Kind, scope: Scope, show: Show
    ) -> ImportReport:
        """Save text files as documents of a kind; of a Joplin export, its notes."""
        from twolane.ingest.exchange.joplin import is_joplin, read_joplin

        self._refuse_folder(collection, scope)
        folder = Path(path).expanduser()
        if kind == Kind.NOTE and folder.is_dir() and is_joplin(folder):
            largest = self._settings.index.max_file_bytes
            rows: Rows = read_joplin(folder, collection=collection, largest=largest)
        else:
            rows = self._texts(folder, collection, kind)
        return self._imported(rows, str(path), scope, show)

    def export(
        self, file: str | os.PathLike[str], scope: Scope, progress: Callable[[int, int], None]
    ) -> int:
        """Write the collections and documents in scope as JSON lines; how many documents."""
        from twolane.ingest.exchange.json_rows import exported, exported_collections

        lines = exported(
            self._stores.documents, scope, batch=self._settings.index.batch, progress=progress
        )
        count = 0
        with _written(file) as out:
            out.writelines(exported_collections(self._stores.documents, scope))
            for line in lines:
                out.write(line)
                count += 1
        return count

    def _imported(
        self,
        rows: Rows,
        name: str,
        scope: Scope,
        progress: Show,
        *,
        text: _Marked | None = None,
        merge: bool = False,
    ) -> ImportReport:
        from twolane.ingest.exchange.importing import Importer
        from twolane.ingest.exchange.rows import ImportReport

        def show(report: ImportReport) -> None:
            report.read = text.at() if text is not None else 0
            progress(report)

        report = ImportReport(name, size=text.size if text is not None else 0)
        Importer(self._stores.documents, self._settings, scope, report, merge=merge).run(rows, show)
        if report.added or report.changed:
            # A search by letters would look through what is not settled, one by one.
            self._stores.maintenance.settle()
        if not report.rows and not report.collections and (text is None or text.size):
            report.tell(name, ProblemCode.BAD_ROW, "there is nothing in it that can be imported")
        if text is not None and text.marked:
            reason = "parts of it are not valid UTF-8; what could not be read is marked �"
            report.tell(name, ProblemCode.NOT_UTF8, reason)
        return report

    def _refuse_folder(self, collection: str, scope: Scope) -> None:
        for other in self._stores.documents.collections(scope):
            if other.name == collection and other.root is not None:
                raise BadInput(
                    f"the collection {collection!r} holds the files of {other.root}; "
                    "choose another for the import (--collection)"
                )

    def _texts(self, path: Path, collection: str, kind: Kind) -> Rows:
        from twolane.ingest.exchange.files import OneFile, read_files

        if not path.exists():
            raise MissingFolder(f"{path} does not exist; nothing was imported")
        source: Source
        if path.is_dir():
            source = vault_source(path, self._settings, Collection(collection, include=_TEXTS))
        else:
            source = OneFile(path, max_bytes=self._settings.index.max_file_bytes)
        return read_files(source, collection=collection, kind=kind)


class _Marked(io.TextIOBase):
    """The text of a file; what is no text is marked, and that there was any is remembered."""

    def __init__(self, data: BinaryIO, name: str, size: int) -> None:
        beginning = data.peek(2)[:2] if isinstance(data, io.BufferedReader) else b""
        encoding = "utf-16" if beginning in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        self._data = data
        self._text = io.TextIOWrapper(data, encoding, errors="surrogateescape", newline="\n")
        self.name = name
        self.size = size
        self.marked = False

    def read(self, size: int | None = -1) -> str:
        text = self._text.read(size)
        if not text.isascii() and _NO_TEXT.search(text):
            self.marked = True
            return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
        return text

    def at(self) -> int:
        """How many bytes were read."""
        return min(self.size, self._data.tell()) if self.size else 0


_NO_TEXT = re.compile("[\ud800-\udfff]")


@contextmanager
def _opened(file: str | os.PathLike[str]) -> Iterator[_Marked]:
    """A text file; `-` is standard input."""
    from twolane.ingest.exchange.files import opened

    if str(file) == "-":
        yield _Marked(sys.stdin.buffer, "standard input", 0)
        return
    path = Path(file).expanduser()
    with opened(path) as data:
        yield _Marked(data, path.name, path.stat().st_size)


@contextmanager
def _written(file: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A new file that is there when it is whole, and for nobody else to read."""
    if str(file) == "-":
        yield sys.stdout
        return
    path = Path(file).expanduser()
    part = path.with_name(f"{path.name}.part")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}; make it, or choose another file")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
