"""Copies of a SQLite file: complete, and in their place as a whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from twolane.model.errors import StoreError

# What SQLite keeps beside a file that is open, or was when its process was killed.
LOGS = ("-wal", "-journal")

# Copies are written under such names, which nobody takes for a copy.
_PREFIX, _SUFFIX = ".twolane-", ".partial"

# A process that commits holds the file for a moment.
_BUSY_SECONDS = 10.0


@contextmanager
def arriving(target: Path) -> Iterator[Path]:
    """A file to write, which takes the target's place when all of it is on the disk.

    If the block fails, or the process is killed, the target is as it was.
    What a killed process left in the folder goes with the next file that arrives there.
    """
    try:
        with _held_folder(target.parent) as folder:
            handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=target.parent)
            try:
                yield Path(name)
                os.fsync(handle)
                Path(name).replace(target)
                _sync(folder)
            finally:
                os.close(handle)
                _discard(target.parent, Path(name).name)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def _held_folder(folder: Path) -> Iterator[int]:
    """Hold the folder while a file arrives, so that nobody takes it for one that was left there."""
    # Not every system has this, and most commands need no copy.
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        # Not every file system has locks. Without them nothing is taken for left.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _discard(folder, f"{_PREFIX}*{_SUFFIX}")
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield handle
    finally:
        os.close(handle)


def copy_live(source: Path, target: Path) -> None:
    """Copy a database with all that is in its log, whoever has it open; damage is copied, too."""
    with closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)) as reader:
        # Putting the log into the file would change the source.
        reader.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        reader.set_busy_timeout(round(_BUSY_SECONDS * 1000))
        with closing(apsw.Connection(str(target))) as writer:
            # Nobody looks at the copy before it is complete.
            writer.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            with writer.backup("main", reader, "main") as copying:
                copying.step(-1)


def copy_resting(source: Path, target: Path) -> None:
    """Copy a database that lies somewhere, with the log beside it if there is one."""
    if any(beside(source, ending).exists() for ending in LOGS):
        copy_live(source, target)
    else:
        shutil.copyfile(source, target)


def beside(path: Path, ending: str) -> Path:
    """The file beside a database that has its name and this ending."""
    return path.with_name(path.name + ending)


def kept_name(path: Path, ending: str) -> Path:
    """A name for keeping the database as it is: with the ending, and a number if that is taken.

    A name that is another one of the same file already is not taken: a process was killed there.
    """
    kept, number = path.with_name(f"{path.name}.{ending}"), 2
    while kept.exists() and not kept.samefile(path):
        kept = path.with_name(f"{path.name}.{ending}-{number}")
        number += 1
    return kept


def _discard(folder: Path, pattern: str) -> None:
    """Delete files that were not finished, and all that was kept beside them."""
    for left in folder.glob(f"{pattern}*"):
        left.unlink(missing_ok=True)


def sync_name(folder: Path) -> None:
    """Put the names of new files in the folder on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            _sync(handle)
        finally:
            os.close(handle)


def _sync(folder: int) -> None:
    """Put a new name on the disk, or a power cut may take it back; some file systems cannot."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
