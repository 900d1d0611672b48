"""`/api/v1/judgments`: searches become golden queries, and the search is measured by them.

A caller with an owner has judgments of their own, and is measured by their own documents.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.interfaces.http.endpoints import Call, Reply, endpoint
from twolane.interfaces.http.parameters import JudgmentId, MeasureParameters
from twolane.interfaces.http.problems import AMBIGUOUS, BAD_GOLDEN_SET, NOT_FOUND, HttpProblem
from twolane.interfaces.wire import evaluation as wire
from twolane.interfaces.wire.bodies import NewJudgment, OpenedResult
from twolane.interfaces.wire.shape import shape
from twolane.model.document import digest
from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.settings import Settings, beside_database

if TYPE_CHECKING:
    from pathlib import Path

    from twolane.evaluation.golden import GoldenSet

# Two judgments at once would write the file one over the other.
_WRITING = threading.Lock()

_judges = partial(endpoint, tag="judgments", capability=Capability.ADMIN)


@_judges("GET", "/api/v1/judgments", "judgments", gives=wire.Judgments, problems=(BAD_GOLDEN_SET,))
def listed(call: Call) -> Reply:
    """List the judged queries."""
    return Reply(wire.judgments(_held(call)))


@_judges(
    "POST",
    "/api/v1/judgments",
    "judge",
    gives=wire.Judgment,
    statuses=(201,),
    problems=(NOT_FOUND, AMBIGUOUS, BAD_GOLDEN_SET),
)
def judge(call: Call, body: NewJudgment) -> Reply:
    """Keep a judged query, or judge it anew."""
    from twolane.evaluation.golden import GoldenQuery, with_query
    from twolane.evaluation.golden_formats import save_golden

    judged = GoldenQuery(
        id="",
        query=body.query,
        relevant=_named(call, body.relevant),
        partial=_named(call, body.partial),
        unanswerable=body.unanswerable,
        lang=body.lang,
        direction=body.direction,
        category=body.category,
    )
    with _WRITING:
        held = _held(call)
        others = tuple(query for query in held.queries if query.query != judged.query)
        longer = with_query(replace(held, queries=others), judged)
        save_golden(longer, _file(call))
    return Reply(shape(wire.Judgment, longer.queries[-1]), 201)


@_judges(
    "DELETE",
    "/api/v1/judgments/{judgment}",
    "forgetJudgment",
    gives=wire.Judgments,
    problems=(NOT_FOUND, BAD_GOLDEN_SET),
)
def forget(call: Call, given: JudgmentId) -> Reply:
    """Drop a judged query."""
    from twolane.evaluation.golden_formats import save_golden

    with _WRITING:
        held = _held(call)
        kept = tuple(query for query in held.queries if query.id != given.judgment)
        if len(kept) == len(held.queries):
            raise HttpProblem(NOT_FOUND, f"there is no judgment {given.judgment[:100]!r}")
        save_golden(replace(held, queries=kept), _file(call))
    return Reply(wire.judgments(replace(held, queries=kept)))


@_judges("GET", "/api/v1/measures", "measures", gives=wire.Measures, problems=(BAD_GOLDEN_SET,))
def measured(call: Call, given: MeasureParameters) -> Reply:
    """Measure the search by the judged queries."""
    from twolane.evaluation.runs import run_golden, summarise

    held = _held(call)
    if not held.queries:
        return Reply(wire.no_measures(held.name, given.mode))
    run = run_golden(held, call.library, mode=given.mode, scope=call.scope)
    return Reply(wire.measures(summarise(run)))


@endpoint(
    "POST",
    "/api/v1/opened",
    "noteOpened",
    tag="judgments",
    gives=wire.Noted,
    problems=(NOT_FOUND,),
)
def note_opened(call: Call, body: OpenedResult) -> Reply:
    """Note that a result was opened for a query.

    Nothing is noted unless the setting `feedback.enabled` is on. No ranking depends on it.
    """
    noted = call.library.note_opened(body.query, body.id, scope=call.scope)
    return Reply({"noted": noted})


@endpoint("DELETE", "/api/v1/opened", "forgetOpened", tag="judgments", gives=wire.Forgotten)
def forget_opened(call: Call) -> Reply:
    """Forget which results the caller opened."""
    return Reply({"forgotten": call.library.forget_opened(scope=call.scope)})


def _held(call: Call) -> GoldenSet:
    from twolane.evaluation.golden import vault_of
    from twolane.evaluation.golden_formats import open_set

    file = _file(call)
    return open_set(file, vault_of(call.library, file, scope=call.scope))


def _file(call: Call) -> Path:
    return judgments_path(call.library.settings, call.caller.owner)


def _named(call: Call, references: Sequence[str]) -> tuple[str, ...]:
    """The names that golden sets have for documents that the caller can see."""
    from twolane.evaluation.golden import Names

    if not references:
        return ()
    names = Names(call.library, scope=call.scope)
    found = [call.library.document(reference, scope=call.named) for reference in references]
    if len({one.id for one in found}) < len(found):
        raise BadInput("a document is named twice")
    return tuple(names.of(one) for one in found)


def judgments_path(settings: Settings, owner: str | None) -> Path:
    """The golden set that the server adds judgments to; each owner has one of their own."""
    path = settings.server.judgments
    if path is None:
        path = beside_database(settings, ".golden.json")
        # Where a server keeps the database, nobody has made the folder for its file.
        path.parent.mkdir(parents=True, exist_ok=True)
    if owner is None:
        return path
    # A name may hold what no file's may.
    return path.with_name(f"{path.stem}.{digest(owner)[:16]}{path.suffix}")


ENDPOINTS = (listed, judge, forget, measured, note_opened, forget_opened)
