"""`twolane similar`: the documents that are most similar to one, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.filters import Chosen, filtered
from twolane.interfaces.cli.naming import Reference, reference_to, suggesting
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.cli.options import Number
from twolane.interfaces.cli.results import line_range
from twolane.interfaces.wire.explain import similar_answer

if TYPE_CHECKING:
    from twolane.explain.similar import Place, Similar, SimilarAnswer


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
            _show(answer, quiet=call.quiet)


def _show(answer: SimilarAnswer, *, quiet: bool) -> None:
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
