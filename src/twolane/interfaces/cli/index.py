"""`twolane index` and `twolane watch`: bring the library in step with folders, and keep it so."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.embed import embed_now, embedded_in_all, tell_failed
from twolane.interfaces.cli.opening import AllSpaces, Call, open_library, require_utf8
from twolane.interfaces.cli.output import files_bar
from twolane.interfaces.wire import indexing as wire
from twolane.model.answer import Degradation, Lane
from twolane.model.errors import BadInput, MissingFolder, NoDatabase
from twolane.model.problem import FileState
from twolane.model.values import dataclass

if TYPE_CHECKING:
    from twolane.ingest.indexing import Report
    from twolane.library import Library
    from twolane.library.embedding import Embedded
    from twolane.settings import Settings


def index(
    call: Call,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Folders of notes; without any, all known ones."),
    ] = None,
    no_wait: Annotated[
        bool,
        typer.Option("--no-wait", help="Do not embed now; `twolane embed` does it later."),
    ] = False,
    all_spaces: AllSpaces = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything went wrong with a file.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete the notes of a folder that lost most or all.")
    ] = False,
) -> int:
    """Index folders of notes, or what changed in them."""
    settings = call.load().settings
    run = _Run(call, all_spaces=all_spaces)
    try:
        with _library(settings, paths or ()) as library:
            for path in paths or _roots(library):
                run.read(library, path, prune=prune)
            if run.reports and not no_wait:
                run.embed(library)
    except KeyboardInterrupt:
        output.error("interrupted; what was indexed is kept; run the same command to go on")
        return failures.INTERRUPTED
    if call.as_json:
        output.say_json(wire.index_report(run.reports, run.embedded, run.degraded, call.seconds))
    if run.refused:
        return failures.BAD_USAGE
    return failures.PROBLEMS if strict and run.has_problems() else failures.OK


def _roots(library: Library) -> list[Path]:
    """The folders of all collections."""
    roots = [
        Path(collection.root) for collection in library.collections() if collection.root is not None
    ]
    if not roots:
        raise BadInput("no folder is known yet; name one: twolane index FOLDER")
    return roots


def _library(settings: Settings, paths: Sequence[Path]) -> Library:
    """The library, created if there is anything to put into it."""
    if not paths:
        return open_library(settings)
    try:
        return open_library(settings, create=any(path.expanduser().is_dir() for path in paths))
    except NoDatabase:
        named = ", ".join(str(path) for path in paths)
        raise MissingFolder(f"{named}: no such folder; nothing was indexed") from None


@dataclass(slots=True)
class _Run:
    """What happens to the folders of one command, told as it happens."""

    call: Call
    all_spaces: bool
    reports: list[Report] = field(default_factory=list)
    refused: bool = False
    embedded: Embedded | None = None
    degraded: tuple[Degradation, ...] = ()

    def read(self, library: Library, path: Path, *, prune: bool) -> None:
        try:
            require_utf8(path.expanduser().resolve())
            with files_bar(path.resolve().name, quiet=self.call.quiet) as show:
                report = library.index(path, prune=prune, progress=show)
        except BadInput as error:
            # The other folders are none the worse for one that is wrong.
            output.error(failures.message(error))
            self.refused = True
            return
        self.reports.append(report)
        if not self.call.as_json:
            _tell(library, path, report, quiet=self.call.quiet)

    def embed(self, library: Library) -> None:
        if library.settings.embedding.embedder == "none":
            # This is what the user chose, so it is no problem.
            if not (self.call.as_json or self.call.quiet):
                output.say("Indexed for search by words only (embedding.embedder = none).")
            return
        self.embedded, stopped = embed_now(library, self.call, all_spaces=self.all_spaces)
        if stopped is not None:
            self.degraded = (Degradation(Lane.DENSE, stopped),)
        if not self.call.as_json:
            self._tell_embedding(stopped)

    def _tell_embedding(self, stopped: str | None) -> None:
        if self.embedded:
            tell_failed(self.embedded)
        if stopped is not None:
            output.say(
                (
                    "The text is indexed, but not all of it can be found by meaning yet. ",
                    output.BAD,
                ),
                "`twolane embed` completes it later.",
            )
        elif self.embedded and not self.call.quiet:
            output.say(embedded_in_all(self.embedded, self.call))

    def has_problems(self) -> bool:
        return bool(
            self.degraded
            or (self.embedded and self.embedded.failed)
            or any(report.problems or report.failed or report.withheld for report in self.reports)
        )


def _tell(library: Library, path: Path, report: Report, *, quiet: bool) -> None:
    seen = report.indexed + report.unchanged + report.skipped + report.failed
    if not quiet:
        output.say((report.collection, output.TITLE), ("  ", ""), (str(path), output.DIM))
        if seen or report.deleted or report.withheld:
            output.say(_counts(report), indent=2)
        else:
            own = library.collection(report.collection).include
            patterns = ", ".join(own or library.settings.index.include)
            output.say(f"no notes found (looked for {patterns})", indent=2)
    listed = [output.problem_line(problem) for problem in report.problems]
    if not quiet:
        listed += _skipped(library, report)
    output.say_first(listed, ": twolane status --files")
    _tell_withheld(report, "the same command with --prune")


def _counts(report: Report) -> str:
    moved = f" ({report.moved:,} moved)" if report.moved else ""
    return (
        f"{report.indexed:,} indexed{moved}, {report.unchanged:,} unchanged, "
        f"{report.skipped:,} skipped, {report.failed:,} failed, {report.deleted:,} deleted "
        f"in {report.seconds:.1f} s"
    )


def _skipped(library: Library, report: Report) -> Iterable[list[output.Piece]]:
    if not report.skipped:
        return []
    return [
        [(file.record.path, output.PLACE), "  ", ("skipped: ", output.DIM), file.record.reason]
        for file in library.files()
        if file.collection == report.collection and file.record.state == FileState.SKIPPED
    ]


def watch(
    call: Call,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Folders of notes; all that were indexed before."),
    ] = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Poll for changes instead of listening for events.")
    ] = False,
) -> int:
    """Index folders and follow their changes until Ctrl-C."""
    settings = call.load().settings
    roots = paths or []
    with open_library(
        settings, create=any(path.expanduser().is_dir() for path in roots)
    ) as library:
        if not call.quiet:
            output.note("watching; Ctrl-C ends")

        def tell(report: Report) -> None:
            if call.as_json:
                output.say_json(wire.index_report([report], None, (), report.seconds))
            elif not call.quiet:
                _tell_change(report)

        try:
            library.watch(roots, stop=threading.Event(), polling=poll, changed=tell)
        except KeyboardInterrupt:
            return failures.OK
    return failures.OK


def _tell_change(report: Report) -> None:
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
        output.say(*output.problem_line(problem), indent=2)
    _tell_withheld(report, "`twolane index --prune` on it")


def _tell_withheld(report: Report, remedy: str) -> None:
    if report.withheld:
        output.say(
            (f"{output.gone_from_folder(report.withheld)} ", output.BAD),
            "Nothing was deleted: so many at once may be a mistake. ",
            f"To delete what is gone, run {remedy}.",
            indent=2,
        )
