"""The files of an evaluation: read and written whole, with errors that name the file."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from twolane import BadInput

# What a file name should not hold: separators, blanks, and whatever a shell reads otherwise.
_UNSUITABLE = re.compile(r"[^\w.+]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark, with LF line ends."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, f"at byte {error.start}") from error
    return text.replace("\r\n", "\n")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    number = 0
    try:
        # Only LF ends a line here: other line separators may be part of a text.
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _not_utf8(path, f"after line {number}") from error


def read_artefact(path: Path, format: str, command: str) -> dict[str, Any]:
    """The object that a command stored in this format, without the name of the format."""
    try:
        document = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or document.pop("format", None) != format:
        raise BadInput(f"{path} is no run of `twolane eval {command}` (format {format})")
    return document


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file that is complete or untouched, whatever happens meanwhile.

    Its folder is made if it is not there.
    """
    try:
        data = text.encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".twolane-")
        written = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            # A file made by mkstemp is private; what is written here is a file like any other.
            written.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written ({error.strerror}); choose another place"
        ) from error
    except UnicodeEncodeError as error:
        raise BadInput(
            f"{path} was not written: half of a surrogate pair is no character; remove it"
        ) from error


def store_new(folder: Path, stem: str, created: str, save: Callable[[Path], None]) -> Path:
    """Save to a new file of the folder, `<stem>-<yyyymmdd-hhmmss>.json`; nothing is overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = _UNSUITABLE.sub("-", stem).strip("-.") or "run"
    stamp = datetime.fromisoformat(created).strftime("%Y%m%d-%H%M%S")
    for number in count(1):
        again = "" if number == 1 else f"-{number}"
        path = folder / f"{stem}-{stamp}{again}.json"
        try:
            # Whoever creates the file owns the name, even if another process wants it, too.
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        try:
            save(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
    raise AssertionError("there is always another number")


def with_fences(text: str) -> Iterator[tuple[int, str, bool]]:
    """The lines of a Markdown text, numbered from 1, and whether each is inside a block of code."""
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
            yield number, line, True
        else:
            yield number, line, fence is not None


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path} cannot be read ({error.strerror}); check the path")


def _not_utf8(path: Path, where: str) -> BadInput:
    return BadInput(f"{path} is not UTF-8 ({where}); save it as UTF-8 and try again")
