"""Noticing that something below a folder may have changed.

A notice only says *look again*; what changed is found by looking, which costs next to nothing
where nothing did.
So it does not matter whether an editor writes in place or by rename, whether a checkout moves
five thousand files at once, or whether the system loses a notice in the rush: the next look
sees what is there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from twolane.ingest.sources.ignoring import IGNORE_FILES

_log = logging.getLogger("twolane")

# How often a watcher wakes without a notice: to see that it should stop, or that a folder is back.
_TICK_SECONDS = 1.0

# A burst is over when nothing happened for this long.
_QUIET_MS = 100


class FolderChanges:
    """Watches folders until it is stopped.

    Notices of the system are used where there are any (the package `watchfiles`, the extra
    `watch`); elsewhere, and with `polling`, every `seconds` are a reason to look.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        stop: threading.Event,
        *,
        debounce: float,
        seconds: float,
        polling: bool = False,
    ) -> None:
        self._folders = tuple(folders)
        self._stop = stop
        self._debounce = debounce
        self._seconds = seconds
        self._watchfiles = None if polling else _watchfiles()

    def __iter__(self) -> Iterator[frozenset[Path]]:
        """The folders that may have changed, a burst at a time; ends soon after the stop."""
        while not self._stop.is_set():
            if self._watchfiles is not None:
                yield from self._noticed(self._watchfiles)
            elif not self._stop.wait(self._seconds):
                yield frozenset(self._folders)

    def _noticed(self, watchfiles: Any) -> Iterator[frozenset[Path]]:
        """Notices as long as the same folders are there; one that comes back has changed."""
        there = [folder for folder in self._folders if folder.is_dir()]
        if not there:
            self._stop.wait(_TICK_SECONDS)
            return
        notices = watchfiles.watch(
            *there,
            watch_filter=None,
            debounce=max(1, int(self._debounce * 1000)),
            step=_QUIET_MS,
            stop_event=self._stop,
            rust_timeout=int(_TICK_SECONDS * 1000),
            yield_on_timeout=True,
            raise_interrupt=True,
            ignore_permission_denied=True,
        )
        # What changed before the watch began is seen by one look after it has begun.
        unseen = frozenset(there)
        try:
            for notice in notices:
                paths = [Path(path) for _, path in notice]
                changed = unseen | frozenset(
                    folder for folder in there if any(_matters(path, folder) for path in paths)
                )
                unseen = frozenset()
                if changed:
                    yield changed
                now = [folder for folder in self._folders if folder.is_dir()]
                if now != there:
                    yield frozenset(set(now) ^ set(there))
                    return
        except (OSError, RuntimeError) as error:
            # The system has a limit on what may be watched; looking again and again has none.
            _log.warning("changes are not noticed (%s); looking every %g s", error, self._seconds)
            self._watchfiles = None


def _watchfiles() -> Any | None:
    try:
        return import_module("watchfiles")
    except ImportError:
        return None


def _matters(path: Path, folder: Path) -> bool:
    """Whether a change there can concern a note of the folder.

    Hidden files and folders hold no notes, save for the files that say what to ignore.
    """
    try:
        parts = path.relative_to(folder).parts
    except ValueError:
        return False
    hidden = any(part.startswith(".") for part in parts)
    return not hidden or (bool(parts) and parts[-1] in IGNORE_FILES)
