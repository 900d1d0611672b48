"""`twolane why` and `twolane similar`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.filters import Chosen, filtered
from twolane.interfaces.cli.opening import (
    Call,
    Modes,
    Number,
    Reference,
    for_mode,
    open_library,
    reference_to,
    suggesting,
    typed,
)
from twolane.interfaces.cli.results import explained, line_range, percent
from twolane.interfaces.wire.explain import similar_answer, why_answer
from twolane.model.answer import Mode

if TYPE_CHECKING:
    from twolane.explain.diagnosis import Diagnosis, Opinion, Passage, WordFound
    from twolane.explain.similar import Place, Similar, SimilarAnswer


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
        (
            "repaired",
            "; ".join(f"{repair.typed} → {' '.join(repair.terms)}" for repair in found.repairs),
        ),
        ("passage", _passage(found.passage)),
        *(
            ("obstacle", f"{obstacle.reason}  ({obstacle.origin.value})")
            for obstacle in found.obstacles
        ),
        *(
            ("degraded", f"{degradation.lane.value} did not run: {degradation.reason}")
            for degradation in found.degraded
        ),
        ("try", suggested(found.suggestion)),
    ]
    shown = [(name, value) for name, value in rows if value]
    if shown:
        output.say()
    for name, value in shown:
        output.say((f"{name:<8}", output.DIM), f"  {value}")


def _show_lanes(found: Diagnosis) -> None:
    output.say((f"{'lane':<8}  {'rank':>9}  {'share':>6}", output.DIM))
    for opinion in found.opinions:
        output.say(_lane(opinion))
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
    held = [f"{word.word} ({', '.join(word.fields)})" for word in words if word.held]
    lacking = [word.word for word in words if not word.held]
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


@filtered
def similar(
    call: Call,
    *,
    reference: Reference,
    number: Number = None,
    exclude_linked: Annotated[
        bool, typer.Option("--exclude-linked", help="Leave out what it links to, or is linked by.")
    ] = False,
    filters: Chosen,
) -> None:
    """Find the documents that are most similar to one."""
    with call.library() as library, suggesting(library):
        scope = library.scope(filters)
        answer = library.similar(
            reference_to(library, reference),
            scope=scope,
            limit=number,
            exclude_linked=exclude_linked,
        )
        if call.as_json:
            output.say_json(similar_answer(answer, library.file))
        else:
            _show_all(answer, quiet=call.quiet)


def _show_all(answer: SimilarAnswer, *, quiet: bool) -> None:
    for lane in answer.degraded:
        output.note(f"{lane.lane.value} lane: {lane.reason}; the words decide")
    for number, result in enumerate(answer.results, start=1):
        if number > 1:
            output.say()
        _show_similar(number, result)
    if not answer.results and not quiet:
        output.note("no results")


def _show_similar(number: int, one: Similar) -> None:
    label = f"{number}. "
    indent = len(label)
    # The score orders them; a score by words says nothing by itself.
    near = f"  score {one.score:.2f}" if one.similarity is not None else ""
    output.say((label, output.DIM), (one.title, output.TITLE), (near, output.DIM))
    joined = "  linked" if one.linked else ""
    where = one.path or one.url or one.id
    output.say((where, output.PLACE), (joined, output.DIM), indent=indent)
    if one.pair is not None:
        own, other = _place(one.pair.own), _place(one.pair.other)
        output.say(f"{own}  ~  {other}  ({one.pair.similarity:.2f})", indent=indent)
    if one.shared:
        output.say(("both: ", output.DIM), ", ".join(one.shared), indent=indent)


def _place(place: Place) -> str:
    return f"{' > '.join(place.heading)} :{line_range(place.lines)}".lstrip()
