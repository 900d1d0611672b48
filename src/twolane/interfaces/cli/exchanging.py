"""`twolane save`, `import`, `export` and `fetch`: documents from elsewhere and to elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.embed import embed_now, embedded_in_all
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import Call, open_library, require_utf8, typed
from twolane.interfaces.cli.output import rows_bar, steps_bar
from twolane.interfaces.wire.documents import Exported, imported, pages_fetched, saved_documents
from twolane.model.document import Kind, digest
from twolane.model.draft import SAVED, Draft
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.ingest.exchange.rows import ImportReport
    from twolane.library import Library
    from twolane.library.embedding import Embedded
    from twolane.library.fetching import FetchReport
    from twolane.settings import Settings

    Show = Callable[[ImportReport], None]

# How long a model of this machine may take to load, also where the machine is busy.
_LOADING_SECONDS = 15.0

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def save(
    call: Call,
    source: Annotated[
        str,
        typer.Argument(metavar="URL|FILE|-", help="A URL, a text file, or - for standard input."),
    ],
    title: Annotated[str, typer.Option(metavar="TEXT", help="Its title.")] = "",
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is about.")] = "",
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag to give it.")] = None,
    kind: Annotated[
        Kind | None, typer.Option(metavar="KIND", help="note or prompt, for a text.")
    ] = None,
    collection: Annotated[
        str, typer.Option(metavar="NAME", help="Default: bookmarks for a URL, otherwise saved.")
    ] = "",
    id: Annotated[str, typer.Option(metavar="ID", help="The id to save it under.")] = "",
) -> None:
    """Save a bookmark, or a text as a note or a prompt."""
    draft = _draft(typed(source), kind, typed(collection), typed(id))
    with open_library(_patient(call.load().settings), create=True) as library:
        draft = _added_to(_held(library, draft), draft)
        draft = replace(
            draft,
            title=typed(title) or draft.title,
            description=typed(description) or draft.description,
            tags=(*draft.tags, *map(typed, tag or ())),
        )
        saved = library.save(draft)
        fetched = None
        if library.settings.fetch.pages and draft.url and not draft.body:
            fetched = fetch_with_bar(library, scope=Scope(documents=(saved.id,)), quiet=call.quiet)
        # All passages are counted for this, so only where it is shown.
        shown = (
            saved.changed
            and not (call.as_json or call.quiet)
            and library.settings.embedding.embedder != "none"
        )
        waiting = library.status().progress.pending if shown else 0
    if call.as_json:
        output.say_json(saved_documents([saved]))
    elif not call.quiet:
        what = "saved" if saved.created else "changed" if saved.changed else "unchanged"
        output.say((saved.id, output.PLACE), f"  {what}")
        if fetched:
            tell_fetched(fetched, quiet=call.quiet)
        if waiting:
            passages = counted(waiting, "passage")
            output.note(f"{passages} can be found by words only so far; run: twolane embed")


def _patient(settings: Settings) -> Settings:
    """The settings with time to load a model of this machine; it then embeds in milliseconds."""
    set_to = settings.embedding.save_seconds
    if settings.embedding.embedder == "openai" or not set_to:
        return settings
    return settings.changed(embedding={"save_seconds": max(set_to, _LOADING_SECONDS)})


def _draft(source: str, kind: Kind | None, collection: str, id: str) -> Draft:
    """What the words of the command say; ids are those that an import would give."""
    from twolane.ingest.exchange.rows import id_in, normalised

    if _ADDRESS.match(source):
        if kind not in (None, Kind.BOOKMARK):
            raise BadInput(f"an address is saved as a bookmark, not as a {kind}")
        place = collection or "bookmarks"
        named = id or id_in(place, normalised(source))
        return Draft(named, kind=Kind.BOOKMARK, url=source, collection=place)
    if kind == Kind.BOOKMARK:
        raise BadInput(f"{source!r} is no address; write it with https://")
    body, name = _text(source)
    place = collection or SAVED
    return Draft(id or id_in(place, name), kind=kind or Kind.NOTE, body=body, collection=place)


def _text(source: str) -> tuple[str, str]:
    """A text and what it is called; one without a name is called after its content."""
    from twolane.ingest.exchange.files import opened

    if source == "-":
        body = sys.stdin.buffer.read().decode("utf-8", "replace")
        if not body.strip():
            raise BadInput("there is no text on standard input; nothing was saved")
        return body, digest(body)
    path = Path(source).expanduser()
    require_utf8(path)
    if not path.exists():
        raise BadInput(
            f"there is no file {source!r}; write an address with https://, "
            "and give a text on standard input: echo TEXT | twolane save -"
        )
    with opened(path) as file:
        return file.read().decode("utf-8", "replace"), path.name


def _held(library: Library, draft: Draft) -> Draft | None:
    """The document that would be replaced, if the user can see it."""
    try:
        held = library.document(draft.id, scope=Scope(archived=True))
    except NoSuchDocument:
        return None
    return Draft.of(held) if held.id == draft.id else None


def _added_to(held: Draft | None, draft: Draft) -> Draft:
    """The draft with what is held beside it: a second look at a page does not lose its tags."""
    if held is None:
        return draft
    return replace(held, body=draft.body or held.body, url=draft.url or held.url, updated=None)


File = Annotated[Path, typer.Argument(metavar="FILE", help="The file; - reads standard input.")]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Do not embed now; `twolane embed` does it later.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if any row had a problem.")]
Collection = typer.Option(metavar="NAME", help="The collection to put them into.")


def bookmarks(
    call: Call,
    file: File,
    collection: Annotated[str, Collection] = "bookmarks",
    folders: Annotated[
        str, typer.Option(metavar="HOW", help="What folders become: tags, path or none.")
    ] = "tags",
    no_wait: NoWait = False,
    strict: Strict = False,
) -> int:
    """Import the bookmarks that a browser exported as HTML."""
    return _Run(file, no_wait, strict, call, fetches=True)(
        lambda library, show: library.import_bookmarks(
            file, collection=typed(collection), folders=folders, progress=show
        )
    )


def jsonl(
    call: Call,
    file: File,
    collection: Annotated[
        str, typer.Option(metavar="NAME", help="The collection of rows that name none.")
    ] = "imported",
    kind: Annotated[
        Kind, typer.Option(metavar="KIND", help="The kind of rows that name none.")
    ] = Kind.NOTE,
    no_wait: NoWait = False,
    strict: Strict = False,
) -> int:
    """Import documents as JSON: one object a line, or an array."""
    return _Run(file, no_wait, strict, call)(
        lambda library, show: library.import_jsonl(
            file, collection=typed(collection), kind=kind, progress=show
        )
    )


def prompts(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A Markdown file or a folder.")],
    collection: Annotated[str, Collection] = "prompts",
    no_wait: NoWait = False,
    strict: Strict = False,
) -> int:
    """Import prompts from Markdown with front matter."""
    return _Run(path, no_wait, strict, call)(
        lambda library, show: library.import_prompts(
            path, collection=typed(collection), progress=show
        )
    )


def notes(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or a file.")],
    collection: Annotated[str, Collection] = "notes",
    no_wait: NoWait = False,
    strict: Strict = False,
) -> int:
    """Import notes: Markdown, plain text, or a Joplin export."""
    return _Run(path, no_wait, strict, call)(
        lambda library, show: library.import_notes(
            path, collection=typed(collection), progress=show
        )
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What every import does: open, take in, embed, tell."""

    source: Path
    no_wait: bool
    strict: bool
    call: Call
    fetches: bool = False

    def __call__(self, take: Callable[[Library, Show], ImportReport]) -> int:
        require_utf8(self.source)
        settings = self.call.load().settings
        if str(self.source) != "-":
            # A file that is not there must not leave an empty database behind.
            self.source.expanduser().stat()
        embedded = None
        try:
            with open_library(settings, create=True) as library:
                with rows_bar(self.source.name, quiet=self.call.quiet) as show:
                    report = take(library, show)
                fetched = None
                if self.fetches and settings.fetch.pages:
                    fetched = fetch_with_bar(library, quiet=self.call.quiet)
                if not self.no_wait and settings.embedding.embedder != "none":
                    embedded, _ = embed_now(library, self.call)
        except KeyboardInterrupt:
            output.error("interrupted; what was imported is kept; run the same command to go on")
            return failures.INTERRUPTED
        if self.call.as_json:
            output.say_json(imported(report, embedded, fetched))
        else:
            self._tell(report, embedded)
            if fetched:
                tell_fetched(fetched, quiet=self.call.quiet)
        troubled = report.problems or (embedded and (embedded.failed or embedded.stopped))
        # A few bad rows are told; a file of nothing else is none that can be imported.
        nothing = report.problems and not report.taken
        return failures.PROBLEMS if nothing or (self.strict and troubled) else failures.OK

    def _tell(self, report: ImportReport, embedded: Embedded | None) -> None:
        if not self.call.quiet:
            output.say((report.name, output.TITLE))
            output.say(_counts(report), indent=2)
        lines = [output.problem_line(problem) for problem in report.problems]
        output.say_first(lines, ": run it with --json to see them")
        if embedded and embedded.stopped is not None:
            output.say("The text is searchable; `twolane embed` adds meaning later.")
        elif embedded and not self.call.quiet:
            output.say(embedded_in_all(embedded, self.call))


def _counts(report: ImportReport) -> str:
    said = f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged"
    for number, word in (
        (report.merged, "merged"),
        (report.skipped, "skipped"),
        (report.failed, "failed"),
    ):
        said += f", {number:,} {word}" if number else ""
    if report.collections:
        said += f", {counted(report.collections, 'collection')} described"
    return f"{said} in {report.seconds:.1f} s"


def fetch(
    call: Call,
    again: Annotated[
        bool, typer.Option("--again", help="Also those that could not be fetched before.")
    ] = False,
) -> int:
    """Fetch the texts of bookmarked pages that have none yet."""
    with call.library() as library:
        fetched = fetch_with_bar(library, again=again, quiet=call.quiet)
    if call.as_json:
        output.say_json(pages_fetched(fetched))
    else:
        tell_fetched(fetched, quiet=call.quiet)
    return failures.PROBLEMS if fetched.problems and not fetched.fetched else failures.OK


def fetch_with_bar(
    library: Library, *, scope: Scope | None = None, again: bool = False, quiet: bool
) -> FetchReport:
    """Fetch pages, with a bar for whoever is watching."""
    with steps_bar(quiet=quiet) as steps:
        steps.step("fetching pages")
        return library.fetch_pages(scope=scope or Scope(), again=again, progress=steps.show)


def tell_fetched(fetched: FetchReport, *, quiet: bool) -> None:
    """Say how many pages were fetched, and which were not."""
    if not quiet:
        pages = counted(fetched.fetched, "page")
        output.say(f"{pages} fetched in {fetched.seconds:.1f} s")
    output.say_first(
        [((one.path, output.PLACE), f"  {one.reason}") for one in fetched.problems],
        ": twolane search has:fetch_problem",
    )


importing = group(
    "import",
    "Import bookmarks, prompts, notes, or documents as JSON.",
    {"bookmarks": bookmarks, "jsonl": jsonl, "prompts": prompts, "notes": notes},
)


class Format(StrEnum):
    """What can be written."""

    JSONL = "jsonl"


def export(
    call: Call,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")
    ],
    form: Annotated[
        Format, typer.Option("--format", metavar="FORMAT", help="jsonl: one object a line.")
    ] = Format.JSONL,
    collection: Annotated[
        list[str] | None, typer.Option("--collection", metavar="NAME", help="This collection only.")
    ] = None,
) -> None:
    """Write documents as JSON lines, for `twolane import jsonl`."""
    del form  # There is one.
    require_utf8(file)
    wanted = [typed(one) for one in collection or ()]
    with call.library() as library, steps_bar(quiet=call.quiet) as steps:
        scope = library.scope({"collection": wanted, "archived": "any"})
        steps.step(f"exporting to {file.name}")
        count = library.export(file, scope=scope, progress=steps.show)
    if str(file) == "-":
        return
    if call.as_json:
        output.say_json(Exported(exported=str(file), documents=count))
    elif not call.quiet:
        output.say(f"{counted(count, 'document')} written to {file}")
