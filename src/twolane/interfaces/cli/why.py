"""`twolane why`: why a document is among the results of a query, or why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.filters import Chosen, filtered
from twolane.interfaces.cli.naming import Reference, reference_to, suggesting
from twolane.interfaces.cli.opening import Call, for_mode, open_library
from twolane.interfaces.cli.options import Modes, Number, typed
from twolane.interfaces.cli.results import explained, line_range, percent
from twolane.interfaces.wire.explain import why_answer
from twolane.model.answer import Mode

if TYPE_CHECKING:
    from twolane.explain.diagnosis import Diagnosis, Opinion, Passage, WordFound


@filtered
def why(
    call: Call,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query, as one argument.")],
    reference: Reference,
    number: Number = None,
    mode: Modes = Mode.HYBRID,
    filters: Chosen,
) -> None:
    """Say why a document is found or not, and what would change it."""
    with open_library(for_mode(call.load().settings, mode)) as library, suggesting(library):
        scope = library.scope(filters)
        named = reference_to(library, reference)
        found = library.why(typed(query), named, scope=scope, mode=mode, limit=number)
    if call.as_json:
        output.say_json(why_answer(found))
    else:
        _show(found, quiet=call.quiet)


def _show(found: Diagnosis, *, quiet: bool) -> None:
    from twolane.explain.diagnosis import suggested

    output.say((found.verdict, output.TITLE))
    if quiet:
        return
    where = found.path or found.url or found.id or ""
    output.say((where, output.PLACE), f"  {found.title}" if found.title else "")
    if found.opinions:
        output.say()
        _show_lanes(found)
    rows = [
        ("words", _words(found.words, found.coverage)),
        ("repaired", "; ".join(f"{one.typed} → {' '.join(one.terms)}" for one in found.repairs)),
        ("passage", _passage(found.passage)),
        *(("obstacle", f"{one.reason}  ({one.origin.value})") for one in found.obstacles),
        *(("degraded", f"{one.lane.value} did not run: {one.reason}") for one in found.degraded),
        ("try", suggested(found.suggestion)),
    ]
    shown = [(name, value) for name, value in rows if value]
    if shown:
        output.say()
    for name, value in shown:
        output.say((f"{name:<8}", output.DIM), f"  {value}")


def _show_lanes(found: Diagnosis) -> None:
    output.say((f"{'lane':<8}  {'rank':>9}  {'share':>6}", output.DIM))
    for one in found.opinions:
        output.say(_lane(one))
    for contribution in found.contributions:
        output.say((explained(contribution), output.DIM), indent=2)
    if found.relevance is not None:
        output.say((f"relevance {percent(found.relevance)}", output.DIM))


def _lane(one: Opinion) -> str:
    rank = f"{one.rank} of {one.hits}" if one.rank else "–"
    cells = [
        f"{one.lane.value:<8}",
        f"{rank:>9}",
        f"{one.share:>6.2f}",
        one.reason,
    ]
    return "  ".join(cells).rstrip()


def _words(words: tuple[WordFound, ...], coverage: float | None) -> str:
    held = [f"{one.word} ({', '.join(one.fields)})" for one in words if one.held]
    lacking = [one.word for one in words if not one.held]
    parts = [
        ", ".join(held),
        f"missing: {', '.join(lacking)}" if lacking else "",
        f"coverage {coverage:.2f}" if coverage is not None else "",
    ]
    return "; ".join(part for part in parts if part)


def _passage(passage: Passage | None) -> str:
    if passage is None:
        return ""
    first, last = passage.lines
    lines = f"{'lines' if last > first else 'line'} {line_range(passage.lines)}"
    heading = " > ".join(passage.heading)
    near = f"similarity {passage.similarity:.3f}" if passage.similarity is not None else ""
    return "  ".join(part for part in (lines, heading, near) if part)
