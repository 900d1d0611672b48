"""`twolane search`: ask, and see why each result is there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.answers import Mode
from twolane.errors import BadInput
from twolane.interfaces import failures, wire
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, typed
from twolane.model import Kind
from twolane.scopes import Scope

if TYPE_CHECKING:
    from twolane.answers import Answer, Contribution, Result
    from twolane.library import Library
    from twolane.query.filters import Filters


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="What to look for; `--` before one with a dash."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("-n", metavar="N", min=1, help="How many results.", show_default=False),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="By words, by meaning, or both.")] = Mode.HYBRID,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each lane gave each result.")
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Queries to answer, one a line; needs --json."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="note, bookmark or prompt.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="With this tag.")] = None,
    not_tag: Annotated[
        list[str] | None, typer.Option("--not-tag", metavar="TAG", help="Without this tag.")
    ] = None,
    path: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Under this path: garden/*")
    ] = None,
    collection: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="In this collection.")
    ] = None,
    lang: Annotated[
        list[str] | None, typer.Option(metavar="LANG", help="In this language: en, ru, ...")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="DATE", help="Changed since: 2024, 2024-05-01, 30d.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Changed before that date.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones, too.")] = False,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Find documents by words, by meaning, or by both."""
    if (words is None) == (batch is None):
        raise BadInput("give either a QUERY or --batch FILE")
    if batch is not None and not as_json:
        raise BadInput("--batch prints one JSON object a line; add --json")
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    if mode == Mode.LEXICAL:
        # Words alone need no model, so it is not even looked for.
        settings = replace(settings, embedder="none")
    given = _given(
        kind=kind, tags=tag, path=path, collection=collection, lang=lang, after=after, before=before
    )
    scope = _scope(given, unwanted=_given(tags=not_tag), archived=archived)
    code = failures.OK
    with open_library(settings) as library:
        _require_collections(library, scope)
        for query in _lines(batch) if batch is not None else [typed(" ".join(words or ()))]:
            answer = library.search(query, scope=scope, mode=mode, limit=number)
            if as_json:
                output.say_json(wire.answer_json(answer))
            else:
                _show(answer, explain=explain, quiet=quiet)
            if mode == Mode.SEMANTIC and answer.degraded:
                # Meaning was all that was asked for: an empty answer must not look like a good one.
                code = failures.NO_EMBEDDER
    return code


# ---------------------------------------------------------------------------------- the question


def _given(**options: Sequence[str] | str | None) -> list[Filters]:
    """The filters that the options spell, read as the query language reads them."""
    from twolane.language.function_words import FUNCTION_WORDS
    from twolane.query.filters import read_filter

    now = datetime.now(UTC)
    found = []
    for name, values in options.items():
        for value in [values] if isinstance(values, str) else values or ():
            one = read_filter(name, typed(value), FUNCTION_WORDS, now)
            if one is None:
                raise BadInput(f"{value!r} is not {_WANTED[name]}")
            found.append(one)
    return found


_WANTED = {
    "kind": f"a kind; the kinds are {', '.join(Kind)}",
    "tags": "a tag; a tag has letters, digits, `_`, `-` and `/`",
    "path": "a path pattern; write for example 'garden/*'",
    "collection": "the name of a collection",
    "lang": "a language that is known here; write for example en or ru",
    "after": "a date; write 2024, 2024-05, 2024-05-01, or 30d for thirty days ago (d, w, m, y)",
    "before": "a date; write 2024, 2024-05, 2024-05-01, or 30d for thirty days ago (d, w, m, y)",
}


def _scope(given: Sequence[Filters], unwanted: Sequence[Filters], *, archived: bool) -> Scope:
    from twolane.query.filters import merged

    filters = merged(given, unwanted)
    return Scope(
        collections=filters.collections,
        kinds=filters.kinds,
        tags=filters.tags,
        without_tags=filters.without_tags,
        paths=filters.paths,
        languages=filters.languages,
        updated_from=filters.updated_from,
        updated_before=filters.updated_before,
        archived=archived,
    )


def _require_collections(library: Library, scope: Scope) -> None:
    if not scope.collections:
        return
    known = [one.name for one in library.collections()]
    for name in scope.collections:
        if name not in known:
            raise BadInput(f"there is no collection {name!r}; there are: {', '.join(known)}")


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


def _show(answer: Answer, *, explain: bool, quiet: bool) -> None:
    for repair in answer.repairs:
        meant = repair.written or ", ".join(repair.terms)
        if not quiet:
            output.note(f"no note holds {repair.typed!r}; taken for {meant} ({repair.kind})")
    for number, result in enumerate(answer.results, start=1):
        if number > 1:
            output.say()
        _show_result(number, result, explain=explain)
    if not answer.results and not quiet:
        output.note("no results")
    if explain:
        if answer.results:
            output.say()
        _show_lanes(answer)


def _show_result(number: int, result: Result, *, explain: bool) -> None:
    label = f"{number}. "
    output.say((label, output.DIM), *output.marked(result.title_html, output.TITLE))
    where = result.path or result.url or result.id
    lines = f":{_range(result.lines)}" if result.lines and result.path else ""
    breadcrumb = f"  {' > '.join(result.heading)}" if result.heading else ""
    indent = len(label)
    output.say((f"{where}{lines}", output.PLACE), (breadcrumb, output.DIM), indent=indent)
    if result.snippet:
        output.say(*output.marked(result.snippet), indent=indent)
    if result.tags:
        output.say((" ".join(f"#{tag}" for tag in result.tags), output.DIM), indent=indent)
    if explain:
        output.say((f"score {result.score:.5f}", output.DIM), indent=indent)
        for contribution in result.contributions:
            output.say((_explained(contribution), output.DIM), indent=indent + 2)


def _range(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"{first}-{last}" if last > first else f"{first}"


def _explained(contribution: Contribution) -> str:
    parts = [f"{contribution.lane.value:<8}"]
    if contribution.abstained:
        parts.append("abstained: it cannot judge this language, and votes with the dense rank")
    else:
        parts.append(f"rank {contribution.rank}")
        if contribution.score is not None:
            parts.append(f"score {contribution.score:.4g}")
    parts.append(f"weight {contribution.weight:g}")
    parts.append(f"vote {contribution.vote:.3g}")
    parts.append(f"value {contribution.value:.5f}")
    if contribution.matched:
        parts.append(f"matched {', '.join(contribution.matched)}")
    return "  ".join(parts)


def _show_lanes(answer: Answer) -> None:
    for lane in answer.lanes:
        said = f"{lane.lane.value:<8}  hits {lane.hits}  weight {lane.weight:g}  {lane.ms:.1f} ms"
        output.say((said, output.DIM))
    for degradation in answer.degraded:
        output.say((f"{degradation.lane.value:<8}  did not run: {degradation.reason}", output.BAD))
    vectors = f"  generation {answer.generation}" if answer.generation is not None else ""
    output.say((f"total     {answer.took_ms:.1f} ms{vectors}", output.DIM))
