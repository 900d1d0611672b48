"""Folders that the server watches while it answers, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.model.errors import BadInput, TwolaneError

if TYPE_CHECKING:
    from twolane.ingest.indexing import Report
    from twolane.library import Library

log = logging.getLogger("twolane.http")

# A look at a large folder may be under way when the server ends; it stops between two batches.
_END_SECONDS = 10


@contextmanager
def watching(library: Library, *, wanted: bool) -> Iterator[None]:
    """Index the folders of the library as they change, if that is wanted, until the block ends."""
    if not wanted:
        yield
        return
    folders = [Path(one.root) for one in library.collections() if one.root is not None]
    if not folders:
        raise BadInput("there is no folder to watch; index one first with: twolane index FOLDER")
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(library, folders, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_END_SECONDS)


def _watch(library: Library, folders: list[Path], stop: threading.Event) -> None:
    there = [folder for folder in folders if folder.is_dir()]
    for folder in set(folders).difference(there):
        log.warning("%s is not there, and is not watched until the server starts again", folder)
    try:
        if there:
            library.watch(there, stop=stop, changed=_tell)
    except (TwolaneError, OSError) as error:
        # Whoever only searches is served all the same.
        log.error("folders are no longer watched: %s", error)  # noqa: TRY400 - it says enough


def _tell(report: Report) -> None:
    log.info(
        "%s: %d indexed, %d deleted, %d failed",
        report.collection,
        report.indexed,
        report.deleted,
        report.failed,
    )
    if report.withheld:
        log.warning(
            "notes gone from %s: %d; nothing was deleted (twolane index --prune does it)",
            report.collection,
            report.withheld,
        )
