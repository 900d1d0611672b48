"""Files that are named to be read once: a pipe that nobody writes to is not waited for."""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path
from typing import BinaryIO

from twolane.model.errors import BadInput

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
