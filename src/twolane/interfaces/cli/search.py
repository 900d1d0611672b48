"""`twolane search`: ask, and see what is likely to be relevant."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.filters import Chosen, filtered
from twolane.interfaces.cli.opening import Call, Modes, Number, for_mode, open_library, typed
from twolane.interfaces.cli.results import show_lanes, show_results
from twolane.interfaces.wire import search as wire
from twolane.model.answer import Answer, Mode, Order, Result, Sort
from twolane.model.errors import BadInput
from twolane.model.values import dataclass
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.library import Library

# Without a number of their own, people see this many results: they fit on a screen.
_SHOWN = 8
# Where nothing is likely to be relevant, this many of the nearest are shown.
_NEAREST = 3


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    PATHS = "paths"
    JSON = "json"


@filtered
def search(
    call: Call,
    *,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="What to look for.")
    ] = None,
    number: Number = None,
    every: Annotated[bool, typer.Option("--all", help="Show the weaker results, too.")] = False,
    min_relevance: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="Only results at least this relevant, 0 to 1.", show_default=False
        ),
    ] = None,
    mode: Modes = Mode.HYBRID,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why each result is there.")
    ] = False,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", metavar="FORMAT", help="table, paths or json.", show_default=False
        ),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", help="Print only the paths of files: --format paths.")
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Queries to answer, one a line; needs --json."),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option(metavar="BY", help="relevance, updated, created, used or title."),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Reverse the order.")] = False,
    cursor: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Continue after the page that gave this cursor."),
    ] = None,
    opened: Annotated[
        bool, typer.Option("--open", help="Open the first result: in the editor or browser.")
    ] = False,
    nth: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="With --open: which result.", show_default=False),
    ] = 1,
    filters: Chosen,
) -> int:
    """Find documents by words, by meaning, or by both."""
    format = _format(form, files=files, as_json=call.as_json)
    if words is not None and batch is not None:
        raise BadInput("give either a QUERY or --batch FILE")
    if words is None and batch is None and sort is None and not any(filters.values()):
        raise BadInput("give a QUERY or --batch FILE; filters or --sort alone list documents")
    if batch is not None and cursor is not None:
        raise BadInput("--cursor goes on with one query; give it as QUERY instead of --batch")
    if opened and (batch is not None or format != Format.TABLE):
        raise BadInput("--open opens one result; leave out --batch, --files, --format and --json")
    if batch is not None and format != Format.JSON:
        raise BadInput("--batch prints one JSON object a line; add --json")
    loaded = call.load()
    is_default = loaded.origins["search.limit"] == "default"
    code = failures.OK
    with open_library(for_mode(loaded.settings, mode)) as library:
        scope = library.scope(filters)
        order = Order(sort, reverse, cursor)
        shown = _Shown(
            library,
            most=_SHOWN if is_default else loaded.settings.search.limit,
            number=number,
            every=every,
            by_threshold=min_relevance is None,
            is_list=sort not in (None, Sort.RELEVANCE) or cursor is not None or not words,
            explain=explain,
            quiet=call.quiet,
        )
        for query in _lines(batch) if batch is not None else [typed(" ".join(words or ()))]:
            limit = max(number or 1, nth) if opened else shown.limit(format)
            answer = library.search(
                query, scope=scope, mode=mode, limit=limit, order=order, min_relevance=min_relevance
            )
            if opened:
                _open(library, answer, nth, quiet=call.quiet)
            elif format == Format.JSON:
                links = library.links(answer.results)
                output.say_json(wire.search_answer(answer, links, library.file))
            elif format == Format.PATHS:
                shown.paths(answer)
            else:
                shown.table(answer)
            if mode == Mode.SEMANTIC and answer.degraded:
                # Meaning was all that was asked for: an empty answer must not look like a good one.
                code = failures.NO_EMBEDDER
    return code


def _format(form: Format | None, *, files: bool, as_json: bool) -> Format:
    """How results are printed; two different answers to that are none."""
    chosen = {form} if form else set()
    chosen |= {Format.PATHS} if files else set()
    chosen |= {Format.JSON} if as_json else set()
    if len(chosen) > 1:
        raise BadInput("choose one of --json, --files and --format")
    return chosen.pop() if chosen else Format.TABLE


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


def _open(library: Library, answer: Answer, nth: int, *, quiet: bool) -> None:
    """Open one of the results where it is read or edited."""
    from twolane.interfaces.cli.editor import open_result

    if len(answer.results) < nth:
        found = counted(len(answer.results), "result")
        raise BadInput(f"there is no result {nth} to open; the search found {found}")
    chosen = answer.results[nth - 1]
    place = open_result(library, chosen)
    library.note_opened(answer.query, chosen.id)
    if not quiet:
        output.note(f"opened {place}")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What people see of an answer: a screenful, without what is hardly relevant.

    Who names a number gets as many, and programs, which ask for JSON, get all.
    """

    library: Library
    most: int
    number: int | None
    every: bool
    by_threshold: bool
    is_list: bool
    explain: bool
    quiet: bool

    def limit(self, format: Format) -> int | None:
        """How many results to ask for; the rest of a list is on its next page."""
        if self.is_list and format != Format.JSON and not self.every:
            return self.number or self.most
        return self.number

    def paths(self, answer: Answer) -> None:
        """Print the absolute path of each result that is a file."""
        results = () if self._is_nothing(answer) else self._likely(answer)
        files = [file for file in map(self.library.file, results) if file is not None]
        for file in files:
            output.say_text(str(file))
        if self.quiet:
            return
        if len(files) < len(results):
            output.note(f"{counted(len(results) - len(files), 'result')} without a file")
        self._tell_rest(answer, results)

    def table(self, answer: Answer) -> None:
        """Print the results as text."""
        if not self.quiet:
            _tell_remarks(answer)
        results = self._likely(answer)
        if self._is_nothing(answer):
            results = results or answer.results[:_NEAREST]
            output.say(("nothing relevant; nearest:", output.BAD))
            output.say()
        show_results(
            results,
            self._links(results),
            mixed=len({result.collection for result in results}) > 1,
            explain=self.explain,
        )
        if self.explain:
            if results:
                output.say()
            show_lanes(answer)
        if not self.quiet:
            self._tell_rest(answer, results)

    def _is_nothing(self, answer: Answer) -> bool:
        return answer.answerable is False and bool(answer.results)

    def _likely(self, answer: Answer) -> tuple[Result, ...]:
        """The results that are shown: of the best those that are likely to be relevant."""
        if self.every or self.number or self.is_list:
            return answer.results
        best = answer.results[: self.most]
        # Where the answer does not know whether it is one, nor does anybody else.
        certain = self.by_threshold and answer.answerable is not None
        return tuple(one for one in best if not (certain and self._is_weak(one)))

    def _is_weak(self, result: Result) -> bool:
        return result.relevance is not None and result.relevance < self.library.likely_relevance

    def _tell_rest(self, answer: Answer, shown: Sequence[Result]) -> None:
        """Say what is not shown, and how to see it."""
        if not answer.results:
            output.note("no results")
        elif self.is_list and answer.next:
            output.note(f"there is more: --cursor {answer.next}")
        elif len(answer.found) > len(answer.results) and not (self.every or self.number):
            # There are more than `--all` would show.
            output.note(f"{len(answer.found) - len(shown)} more: -n {len(answer.found)}")
        elif rest := [result for result in answer.results if result not in shown]:
            weaker = sum(map(self._is_weak, rest)) if self.by_threshold else 0
            counts = ((len(rest) - weaker, "more"), (weaker, "weaker"))
            said = ", ".join(f"{count} {word}" for count, word in counts if count)
            nothing = "" if shown else "nothing relevant; "
            output.note(f"{nothing}{said}: --all")

    def _links(self, results: Sequence[Result]) -> dict[str, str]:
        """Where a terminal's titles lead to: a program, the file, or the address."""
        if not sys.stdout.isatty():
            return {}
        addresses = {result.id: result.url for result in results if result.url}
        return {**addresses, **self.library.links(results, plain=True)}


def _tell_remarks(answer: Answer) -> None:
    """What was asked for otherwise than it was typed, and what is not there at all."""
    for repair in answer.repairs:
        meant = repair.written or ", ".join(repair.terms)
        output.note(f"no note holds {repair.typed!r}; taken for {meant} ({repair.kind})")
    for misread in answer.misread:
        output.note(f"{misread.typed} was searched as words: {misread.reason}")
    for missing in answer.missing_tags:
        output.note(str(missing))
