"""`/api/judgments`: searches become golden queries, and the search is measured by them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twolane.answers import Mode
from twolane.errors import BadInput
from twolane.interfaces import judging_wire
from twolane.interfaces.http import body_schemas, schemas
from twolane.interfaces.http.endpoints import Call, Endpoint, Parameter, Reply
from twolane.interfaces.http.places import judgments_path
from twolane.interfaces.http.problems import AMBIGUOUS, BAD_GOLDEN_SET, NOT_FOUND, Refused
from twolane.scopes import Capability

if TYPE_CHECKING:
    from twolane.evaluation.golden import GoldenSet

# Two judgments at once would write the file one over the other.
_WRITING = threading.Lock()


def listed(call: Call) -> Reply:
    """Every judged query."""
    return Reply(judging_wire.judgments_json(_held(call)))


def judge(call: Call) -> Reply:
    """Keep a judged query; one that is there already is judged anew."""
    from twolane.evaluation.golden import save_golden
    from twolane.evaluation.golden_adding import with_query

    judged = judging_wire.judged_of(
        call.body,
        relevant=_named(call, call.body.get("relevant", ())),
        partial=_named(call, call.body.get("partial", ())),
    )
    with _WRITING:
        held = _held(call)
        others = tuple(one for one in held.queries if one.query != judged.query)
        longer = with_query(replace(held, queries=others), judged)
        save_golden(longer, judgments_path(call.library.settings))
    return Reply(judging_wire.query_json(longer.queries[-1]), 201)


def forget(call: Call) -> Reply:
    """Drop a judged query."""
    from twolane.evaluation.golden import save_golden

    with _WRITING:
        held = _held(call)
        kept = tuple(one for one in held.queries if one.id != call.given["judgment"])
        if len(kept) == len(held.queries):
            raise Refused(NOT_FOUND, f"there is no judgment {call.given['judgment'][:100]!r}")
        save_golden(replace(held, queries=kept), judgments_path(call.library.settings))
    return Reply(judging_wire.judgments_json(replace(held, queries=kept)))


def measured(call: Call) -> Reply:
    """Ask every judged query, and tell how good the answers are."""
    from twolane.evaluation.running import run_golden
    from twolane.evaluation.summaries import summarise

    held = _held(call)
    if not held.queries:
        return Reply(judging_wire.no_measures_json(held, call.given["mode"]))
    run = run_golden(held, call.library, mode=call.given["mode"])
    return Reply(judging_wire.measures_json(summarise(run)))


def _held(call: Call) -> GoldenSet:
    from twolane.evaluation.golden_adding import open_set
    from twolane.evaluation.naming import vault_of

    file = judgments_path(call.library.settings)
    return open_set(file, vault_of(call.library, file))


def _named(call: Call, references: Sequence[str]) -> tuple[str, ...]:
    """The names that golden sets have for documents that the caller can see."""
    from twolane.evaluation.naming import Names

    if not references:
        return ()
    names = Names(call.library)
    found = [call.library.document(one, scope=call.named) for one in references]
    if len({one.id for one in found}) < len(found):
        raise BadInput("a document is named twice")
    return tuple(names.of(one) for one in found)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/judgments",
        "judgments",
        "List the judged queries",
        listed,
        capability=Capability.ADMIN,
        gives={200: schemas.JUDGMENTS},
        problems=(BAD_GOLDEN_SET,),
    ),
    Endpoint(
        "POST",
        "/api/judgments",
        "judge",
        "Keep a judged query, or judge it anew",
        judge,
        capability=Capability.ADMIN,
        takes=body_schemas.JUDGMENT,
        gives={201: schemas.JUDGMENT},
        problems=(NOT_FOUND, AMBIGUOUS, BAD_GOLDEN_SET),
    ),
    Endpoint(
        "DELETE",
        "/api/judgments/{judgment}",
        "forgetJudgment",
        "Drop a judged query",
        forget,
        capability=Capability.ADMIN,
        parameters=(
            Parameter("judgment", "The id of a judged query.", required=True, in_path=True),
        ),
        gives={200: schemas.JUDGMENTS},
        problems=(NOT_FOUND, BAD_GOLDEN_SET),
    ),
    Endpoint(
        "GET",
        "/api/measures",
        "measures",
        "Measure the search by the judged queries",
        measured,
        capability=Capability.ADMIN,
        parameters=(
            Parameter(
                "mode",
                "Which lanes are asked: words, meaning, or both.",
                choices=tuple(Mode),
                default=Mode.HYBRID.value,
            ),
        ),
        gives={200: schemas.MEASURES},
        problems=(BAD_GOLDEN_SET,),
    ),
)
