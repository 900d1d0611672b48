"""Documents from a folder of Markdown or plain text, or from one file, each file once."""

from __future__ import annotations

import errno
import os
import select
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from twolane.ingest.exchange.rows import BadRow, Row, Rows
from twolane.ingest.parsing.markdown import parse_note
from twolane.model.document import Kind
from twolane.model.draft import Draft
from twolane.model.errors import BadInput
from twolane.model.problem import FileRecord, FileState, ProblemCode, Stamp
from twolane.ports.source import Entry, Source

# Where Joplin and web clippers keep the address of a page.
_ADDRESSES = ("source", "source_url", "link")


def read_files(source: Source, *, collection: str, kind: Kind) -> Rows:
    """A draft for each file of the source, under its path."""
    for offered in source.entries():
        if isinstance(offered, FileRecord):
            failed = offered.state == FileState.FAILED
            code = (offered.code if failed else None) or ProblemCode.EXCLUDED
            yield BadRow(offered.path, offered.reason, code)
            continue
        try:
            data = source.read(offered)
        except OSError as error:
            yield BadRow(offered.path, error.strerror or str(error), ProblemCode.UNREADABLE)
            continue
        modified = datetime.fromtimestamp(offered.stamp.modified_ns / 1e9, UTC)
        yield _row(data, offered.path, collection, kind, modified)


class OneFile:
    """A single file as a source."""

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def entries(self) -> Iterator[Entry | FileRecord]:
        """The file, or why it is not read."""
        found = self._path.stat()
        name = unicodedata.normalize("NFC", self._path.name)
        if found.st_size > self._max_bytes:
            reason = f"is larger than {self._max_bytes:,} bytes"
            yield FileRecord(name, FileState.FAILED, None, reason, ProblemCode.TOO_LARGE)
        else:
            yield Entry(name, Stamp(found.st_mtime_ns, found.st_size))

    def read(self, entry: Entry) -> bytes:
        """The bytes of the file; raises OSError."""
        del entry  # There is one.
        return self._path.read_bytes()


def _row(data: bytes, path: str, collection: str, kind: Kind, modified: datetime) -> Row | BadRow:
    parsed = parse_note(data, path=path, collection=collection, modified=modified, kind=kind)
    document = parsed.document
    if document is None:
        first = parsed.problems[0]
        return BadRow(path, first.reason, first.code)
    if not document.searchable:
        return BadRow(path, "`search: false` in its front matter", ProblemCode.EXCLUDED)
    draft = Draft.of(document)
    if draft.url is None:
        written = (document.properties.get(name) for name in _ADDRESSES)
        address = next((one for one in written if isinstance(one, str) and "://" in one), None)
        draft = replace(draft, url=address)
    return Row(path, draft, tuple(problem.reason for problem in parsed.problems))


# Who writes to a named pipe may need a moment to begin, and nobody can tell whether anybody will.
_PATIENCE_SECONDS = 5.0


def opened(path: Path) -> BinaryIO:
    """A file, or a pipe that somebody writes to; BadInput for anything that never ends."""
    # Otherwise opening itself would wait for somebody who writes.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_an_end(handle, path)
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _require_an_end(handle: int, path: Path) -> None:
    mode = os.fstat(handle).st_mode
    if stat.S_ISFIFO(mode):
        if not select.select([handle], [], [], _PATIENCE_SECONDS)[0]:
            raise BadInput(
                f"nobody writes to the pipe {str(path)!r}; nothing was read from it "
                "(`-` stands for standard input)"
            )
    elif stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    elif not stat.S_ISREG(mode):
        raise BadInput(f"{str(path)!r} is no file; `-` stands for standard input")
