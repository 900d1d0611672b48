"""Following folders: what changes on disk is found soon after."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.library.adapters import folder_changes
from twolane.library.embedding import Embedding
from twolane.library.folders import Folders
from twolane.library.held import LOCAL
from twolane.model.errors import BadInput, MissingFolder, StoreBusy
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope

if TYPE_CHECKING:
    # A search needs none of this.
    from twolane.ingest.indexing import Report

log = logging.getLogger("twolane")


class Watching(Folders, Embedding):
    """Folders that are looked after as long as somebody wants it."""

    def watch(
        self,
        roots: Iterable[str | os.PathLike[str]] = (),
        *,
        stop: threading.Event,
        scope: Scope = LOCAL,
        polling: bool = False,
        changed: Callable[[Report], None] = lambda report: None,
    ) -> None:
        """Keep the library in step with folders until `stop` is set; all that it has by default.

        Each folder is indexed at once, then whenever something below it changes.
        Passages are embedded beside that.
        `changed` hears of every look that found something new: a file that stays bad is told once.
        """
        require(scope, Capability.WRITE)
        folders = [Path(root).expanduser().resolve() for root in roots] or self._roots()
        if not folders:
            raise BadInput("there is no folder to watch; name one, or index one first")
        for folder in folders:
            if not folder.is_dir():
                raise MissingFolder(f"{folder} is not a folder; nothing is watched")
        if self._embedders.first is not None:
            self.start_worker()
        missing: set[Path] = set()
        told: dict[Path, Report] = {}
        waiting = frozenset(folders)
        changes = folder_changes(folders, stop, self.settings, polling=polling)
        waiting = self._looked(waiting, missing, told, scope, changed)
        for noticed in changes:
            waiting = self._looked(noticed | waiting, missing, told, scope, changed)

    def _roots(self) -> list[Path]:
        return [
            Path(one.root) for one in self._stores.documents.collections() if one.root is not None
        ]

    def _looked(
        self,
        folders: frozenset[Path],
        missing: set[Path],
        told: dict[Path, Report],
        scope: Scope,
        changed: Callable[[Report], None],
    ) -> frozenset[Path]:
        """Look at the folders; those that could not be looked at now are to be tried again."""
        again = set()
        for folder in sorted(folders):
            try:
                report = self.index(folder, scope=scope)
            except MissingFolder as error:
                if folder not in missing:
                    missing.add(folder)
                    log.warning("%s", error)
            except StoreBusy as error:
                log.warning("%s; %s is looked at again soon", error, folder)
                again.add(folder)
            else:
                missing.discard(folder)
                news = _news(report, told.get(folder))
                told[folder] = report
                if news.indexed or news.deleted or news.withheld or news.problems:
                    changed(news)
        return frozenset(again)


def _news(report: Report, before: Report | None) -> Report:
    """The report without what the look before said already."""
    if before is None:
        return report
    return replace(
        report,
        failed=max(0, report.failed - before.failed),
        withheld=0 if report.withheld == before.withheld else report.withheld,
        problems=[one for one in report.problems if one not in before.problems],
    )
