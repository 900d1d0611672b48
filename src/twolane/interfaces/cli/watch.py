"""`twolane watch`: keep the library in step with folders as they change."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.interfaces.wire import indexing as wire

if TYPE_CHECKING:
    from twolane.ingest.indexing import Report


def watch(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Folders of notes; all that were indexed before."),
    ] = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look again and again instead of waiting for notices.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Index folders and follow their changes until Ctrl-C."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    roots = paths or []
    with open_library(
        settings, create=any(path.expanduser().is_dir() for path in roots)
    ) as library:
        if not quiet:
            output.note("watching; Ctrl-C ends")

        def tell(report: Report) -> None:
            if as_json:
                output.say_json(wire.index_report([report], None, ()))
            elif not quiet:
                _tell(report)

        try:
            library.watch(roots, stop=threading.Event(), polling=poll, changed=tell)
        except KeyboardInterrupt:
            return failures.OK
    return failures.OK


def _tell(report: Report) -> None:
    """One line for what changed, and one for each file that went wrong."""
    counts = [
        f"{count:,} {word}"
        for count, word in (
            (report.indexed, "indexed"),
            (report.moved, "of them moved"),
            (report.deleted, "deleted"),
            (report.failed, "failed"),
        )
        if count
    ]
    time = datetime.now().astimezone().strftime("%H:%M:%S")
    output.say(
        (f"{time}  ", output.DIM), (report.collection, output.TITLE), f"  {', '.join(counts)}"
    )
    for problem in report.problems:
        output.say(
            (problem.path, output.PLACE), f"  {problem.code.value}: {problem.reason}", indent=2
        )
    if report.withheld:
        output.say(
            (f"{output.gone_from_folder(report.withheld)} ", output.BAD),
            "Nothing was deleted: so many at once may be a mistake. ",
            "To delete what is gone, run `twolane index --prune` on it.",
            indent=2,
        )
