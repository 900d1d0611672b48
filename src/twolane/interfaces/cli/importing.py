"""`twolane import`: bookmarks, JSON, prompts and notes from elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.guard import guarded
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, require_utf8, typed
from twolane.interfaces.cli.progress import passages_bar, rows_bar
from twolane.interfaces.wire.documents import imported
from twolane.model.document import Kind
from twolane.model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from twolane.ingest.exchange.rows import ImportReport
    from twolane.library import Library
    from twolane.library.embedding import Embedded

    Show = Callable[[ImportReport], None]

log = logging.getLogger("twolane")

# More problems than this, and the screen shows nothing else.
_MOST_PROBLEMS = 20

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file; - reads standard input.")]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Take the text only; `twolane embed` adds meaning later.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if any row had a problem.")]
Collection = typer.Option(metavar="NAME", help="The collection to put them into.")


def bookmarks(
    file: File,
    collection: Annotated[str, Collection] = "bookmarks",
    folders: Annotated[
        str, typer.Option(metavar="HOW", help="What folders become: tags, path or none.")
    ] = "tags",
    no_wait: NoWait = False,
    strict: Strict = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Import the bookmarks that a browser exported as HTML."""
    run = _Run(file, db, no_wait, strict, as_json, quiet, verbose)
    return run(
        lambda library, show: library.import_bookmarks(
            file, collection=typed(collection), folders=folders, progress=show
        )
    )


def jsonl(
    file: File,
    collection: Annotated[
        str, typer.Option(metavar="NAME", help="The collection of rows that name none.")
    ] = "imported",
    kind: Annotated[
        Kind, typer.Option(metavar="KIND", help="The kind of rows that name none.")
    ] = Kind.NOTE,
    no_wait: NoWait = False,
    strict: Strict = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Import documents of any kind: one JSON object a line, or one array."""
    run = _Run(file, db, no_wait, strict, as_json, quiet, verbose)
    return run(
        lambda library, show: library.import_jsonl(
            file, collection=typed(collection), kind=kind, progress=show
        )
    )


def prompts(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A Markdown file or a folder.")],
    collection: Annotated[str, Collection] = "prompts",
    no_wait: NoWait = False,
    strict: Strict = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Import prompts from Markdown with front matter."""
    run = _Run(path, db, no_wait, strict, as_json, quiet, verbose)
    return run(
        lambda library, show: library.import_prompts(
            path, collection=typed(collection), progress=show
        )
    )


def notes(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or a file.")],
    collection: Annotated[str, Collection] = "notes",
    no_wait: NoWait = False,
    strict: Strict = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Import copies of notes: Markdown, plain text, or a Joplin export."""
    run = _Run(path, db, no_wait, strict, as_json, quiet, verbose)
    return run(
        lambda library, show: library.import_notes(
            path, collection=typed(collection), progress=show
        )
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What every import does: open, take in, embed, tell."""

    source: Path
    db: str | None
    no_wait: bool
    strict: bool
    as_json: bool
    quiet: bool
    verbose: bool

    def __call__(self, take: Callable[[Library, Show], ImportReport]) -> int:
        require_utf8(self.source)
        settings = load_settings(self.db, quiet=self.quiet, verbose=self.verbose).settings
        if str(self.source) != "-":
            # A file that is not there must not leave an empty database behind.
            self.source.expanduser().stat()
        embedded = None
        try:
            with open_library(settings, create=True) as library:
                with rows_bar(self.source.name, quiet=self.quiet) as show:
                    report = take(library, show)
                if not self.no_wait and settings.embedding.embedder != "none":
                    embedded = self._embed(library)
        except KeyboardInterrupt:
            output.error("interrupted; what was imported is kept; run the same command to go on")
            return failures.INTERRUPTED
        if self.as_json:
            output.say_json(imported(report, embedded))
        else:
            self._tell(report, embedded)
        troubled = report.problems or (embedded and (embedded.failed or embedded.stopped))
        return failures.PROBLEMS if self.strict and troubled else failures.OK

    def _embed(self, library: Library) -> Embedded | None:
        try:
            with passages_bar(quiet=self.quiet) as show:
                return library.embed(progress=show)
        except EmbedderUnavailable as error:
            log.warning("embedding did not start: %s", error)
            return None

    def _tell(self, report: ImportReport, embedded: Embedded | None) -> None:
        if not self.quiet:
            output.say((report.name, output.TITLE))
            output.say(_counts(report), indent=2)
        for one in report.problems[:_MOST_PROBLEMS]:
            code = (f"{one.code.value}: ", output.BAD)
            output.say((one.path, output.PLACE), "  ", code, one.reason, indent=2)
        more = len(report.problems) - _MOST_PROBLEMS
        if more > 0:
            output.say(f"and {more:,} more: run it with --json to see them", indent=2)
        if embedded and embedded.stopped is not None:
            output.say("The text is searchable; `twolane embed` adds meaning later.")
        elif embedded and not self.quiet:
            output.say(f"{output.counted(embedded.embedded, 'passage')} embedded")


def _counts(report: ImportReport) -> str:
    said = f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged"
    for number, word in (
        (report.merged, "merged"),
        (report.skipped, "skipped"),
        (report.failed, "failed"),
    ):
        said += f", {number:,} {word}" if number else ""
    if report.collections:
        said += f", {output.counted(report.collections, 'collection')} described"
    return f"{said} in {report.seconds:.1f} s"


importing = typer.Typer(
    name="import",
    help="Take in bookmarks, prompts, notes, or any documents as JSON.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (bookmarks, jsonl, prompts, notes):
    importing.command()(guarded(_command))
