"""`twolane search`: ask, and see why each result is there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.explaining import explained
from twolane.interfaces.cli.filters import Chosen, filtered
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, typed
from twolane.interfaces.wire import search as wire
from twolane.model.answer import Mode, Order, Sort
from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.answer import Answer, Result


@filtered
def search(
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="What to look for; `--` before one with a dash."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("-n", metavar="N", min=1, help="How many results.", show_default=False),
    ] = None,
    mode: Annotated[
        Mode, typer.Option(help="By words, by meaning, by both, or by letters.")
    ] = Mode.HYBRID,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each feature gave each result.")
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Queries to answer, one a line; needs --json."),
    ] = None,
    sort: Annotated[
        Sort | None, typer.Option(help="In what order; without a query, by update.")
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Go on where the page with it ended.")
    ] = None,
    opened: Annotated[
        bool,
        typer.Option("--open", help="Open the first result: its file in the editor, or its URL."),
    ] = False,
    nth: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="With --open: which result.", show_default=False),
    ] = 1,
    filters: Chosen,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Find documents by words, by meaning, or by both."""
    if words is not None and batch is not None:
        raise BadInput("give either a QUERY or --batch FILE")
    if words is None and batch is None and sort is None and not any(filters.values()):
        raise BadInput("give a QUERY or --batch FILE; filters or --sort alone list documents")
    if batch is not None and cursor is not None:
        raise BadInput("--cursor goes on with one query; give it as QUERY instead of --batch")
    if opened and (batch is not None or as_json):
        raise BadInput("--open opens one result; leave --batch and --json out")
    if batch is not None and not as_json:
        raise BadInput("--batch prints one JSON object a line; add --json")
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    if mode in (Mode.LEXICAL, Mode.EXACT):
        # Words and letters need no model, so it is not even looked for.
        settings = settings.changed(embedding={"embedder": "none"})
    code = failures.OK
    with open_library(settings) as library:
        scope = library.scope(filters)
        order = Order(sort, reverse, cursor)
        for query in _lines(batch) if batch is not None else [typed(" ".join(words or ()))]:
            limit = max(number or 1, nth) if opened else number
            answer = library.search(query, scope=scope, mode=mode, limit=limit, order=order)
            if opened:
                _open(library, answer, nth, quiet=quiet)
            elif as_json:
                output.say_json(wire.search_answer(answer, library.links(answer.results)))
            else:
                _show(answer, _links(library, answer), explain=explain, quiet=quiet)
                if answer.next and (sort or cursor) and not quiet:
                    output.note(f"there is more: --cursor {answer.next}")
            if mode == Mode.SEMANTIC and answer.degraded:
                # Meaning was all that was asked for: an empty answer must not look like a good one.
                code = failures.NO_EMBEDDER
    return code


# ---------------------------------------------------------------------------------- the question


def _lines(batch: str) -> Iterator[str]:
    """The queries of a file or of standard input, as they come in; only LF ends a line."""
    if batch == "-":
        yield from _queries(sys.stdin.buffer)
        return
    with Path(batch).open("rb") as file:
        yield from _queries(file)


def _queries(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        query = line.decode("utf-8-sig", "replace").rstrip("\r\n")
        if query.strip():
            yield query


# ------------------------------------------------------------------------------------ the answer


def _open(library: Library, answer: Answer, nth: int, *, quiet: bool) -> None:
    """Open one of the results where it is read or edited."""
    from twolane.interfaces.cli.editor import open_result

    if len(answer.results) < nth:
        found = output.counted(len(answer.results), "result")
        raise BadInput(f"there is no result {nth} to open; the search found {found}")
    place = open_result(library, answer.results[nth - 1])
    if not quiet:
        output.note(f"opened {place}")


def _links(library: Library, answer: Answer) -> dict[str, str]:
    """Where a terminal's titles lead to: a program, the file, or the address."""
    if not sys.stdout.isatty():
        return {}
    addresses = {one.id: one.url for one in answer.results if one.url}
    return {**addresses, **library.links(answer.results, plain=True)}


def _show(answer: Answer, links: Mapping[str, str], *, explain: bool, quiet: bool) -> None:
    if not quiet:
        _show_remarks(answer)
    if answer.answerable is False and answer.results:
        output.say(("nothing relevant; nearest:", output.BAD))
        output.say()
    # Two collections may have files of the same path.
    mixed = len({one.collection for one in answer.results}) > 1
    for number, result in enumerate(answer.results, start=1):
        if number > 1:
            output.say()
        _show_result(number, result, links.get(result.id), mixed=mixed, explain=explain)
    if not answer.results and not quiet:
        output.note("no results")
    if explain:
        if answer.results:
            output.say()
        _show_lanes(answer)


def _show_remarks(answer: Answer) -> None:
    """What was asked for otherwise than it was typed, and what is not there at all."""
    for repair in answer.repairs:
        meant = repair.written or ", ".join(repair.terms)
        output.note(f"no note holds {repair.typed!r}; taken for {meant} ({repair.kind})")
    for misread in answer.misread:
        output.note(f"{misread.typed} was searched as words: {misread.reason}")
    for missing in answer.missing_tags:
        output.note(str(missing))


def _show_result(
    number: int, result: Result, link: str | None, *, mixed: bool, explain: bool
) -> None:
    label = f"{number}. "
    title = [
        (text, output.linked(style, link))
        for text, style in output.marked(result.title_html, output.TITLE)
    ]
    output.say((label, output.DIM), *title)
    where = result.path or result.url or result.id
    lines = f":{_range(result.lines)}" if result.lines and result.path else ""
    breadcrumb = f"  {' > '.join(result.heading)}" if result.heading else ""
    breadcrumb += f"  (in {result.collection})" if mixed else ""
    indent = len(label)
    tags = " ".join(f"#{tag}" for tag in result.tags)
    # A document without text may have nothing to show that is not shown anyway.
    passage = "".join(text for text, _ in output.marked(result.snippet))
    is_place = passage == where
    place = [*output.marked(result.snippet, output.PLACE)] if is_place else [(where, output.PLACE)]
    output.say(*place, (lines, output.PLACE), (breadcrumb, output.DIM), indent=indent)
    if passage and passage not in (where, result.title):
        output.say(*output.marked(result.snippet), indent=indent)
    if tags and tags != passage:
        output.say((tags, output.DIM), indent=indent)
    if result.copies:
        more = "1 copy" if len(result.copies) == 1 else f"{len(result.copies)} copies"
        output.say((f"{more}: {', '.join(result.copies)}", output.DIM), indent=indent)
    if explain:
        output.say((_scored(result), output.DIM), indent=indent)
        if result.copy_of:
            said = f"a copy of {result.copy_of}, so it comes after other documents"
            output.say((said, output.DIM), indent=indent + 2)
        for contribution in result.contributions:
            output.say((explained(contribution), output.DIM), indent=indent + 2)


def _scored(result: Result) -> str:
    """The score, the ranks in the lanes, and the words that were found."""
    said = [f"score {result.score:.2f}"]
    if result.relevance is not None:
        said.append(f"relevance {result.relevance:.2f}")
    said += [f"{lane.value} rank {rank}" for lane, rank in result.ranks.items()]
    if result.foreign:
        said.append("in another language than the query")
    if result.matched:
        said.append(f"holds {', '.join(result.matched)}")
    return "  ".join(said)


def _range(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"{first}-{last}" if last > first else f"{first}"


def _show_lanes(answer: Answer) -> None:
    for lane in answer.lanes:
        said = f"{lane.lane.value:<8}  hits {lane.hits}  weight {lane.weight:g}  {lane.ms:.1f} ms"
        output.say((said, output.DIM))
    for degradation in answer.degraded:
        output.say((f"{degradation.lane.value:<8}  did not run: {degradation.reason}", output.BAD))
    vectors = f"  generation {answer.generation}" if answer.generation is not None else ""
    output.say((f"total     {answer.took_ms:.1f} ms{vectors}", output.DIM))
