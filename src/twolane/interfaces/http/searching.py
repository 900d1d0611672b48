"""`/api/v1/search`, `/api/v1/similar` and `/api/v1/why`: the questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from twolane.explain.diagnosis import Diagnosis
from twolane.explain.similar import SimilarAnswer
from twolane.interfaces.failures import for_strangers, without_places
from twolane.interfaces.http.endpoints import Call, Measured, Reply, endpoint
from twolane.interfaces.http.parameters import (
    Filters,
    SearchParameters,
    SimilarParameters,
    WhyParameters,
)
from twolane.interfaces.http.problems import AMBIGUOUS, NOT_FOUND
from twolane.interfaces.wire import explain
from twolane.interfaces.wire import search as wire
from twolane.model.answer import Answer, Order
from twolane.model.scope import Capability, Scope


def state(call: Call) -> str:
    """What an answer depends on beside its request: the index, and the day for relative dates."""
    return f"{call.library.revision()} {datetime.now(UTC).date()}"


@endpoint(
    "GET",
    "/api/v1/search",
    "search",
    tag="search",
    gives=wire.SearchAnswer,
    state=state,
    heavy=True,
)
def search(call: Call, given: SearchParameters) -> Reply:
    """Find documents by words, by meaning, or by both."""
    scope = _narrowed(call, given)
    answer = call.library.search(
        given.q,
        scope=scope,
        mode=given.mode,
        limit=given.n,
        order=Order(given.sort, given.reverse, given.cursor),
        min_relevance=given.min_relevance,
        typing=given.typing,
    )
    links = call.library.links(answer.results, roots=call.may(Capability.ADMIN))
    said = wire.search_answer(_discreet(call, answer), links)
    said.facets = None
    if given.facets:
        said.facets = wire.facets(call.library.facets(scope=scope, documents=answer.found))
    measured = Measured(
        {lane.lane.value: lane.ms for lane in answer.lanes},
        tuple(degradation.lane.value for degradation in answer.degraded),
    )
    return Reply(said, keep=not answer.degraded, measured=measured)


@endpoint(
    "GET",
    "/api/v1/similar",
    "similar",
    tag="search",
    gives=explain.SimilarAnswer,
    problems=(NOT_FOUND, AMBIGUOUS),
    state=state,
    heavy=True,
)
def similar(call: Call, given: SimilarParameters) -> Reply:
    """Find the documents that are most similar to one."""
    answer = call.library.similar(
        given.doc,
        scope=_narrowed(call, given),
        limit=given.n,
        exclude_linked=given.exclude_linked,
    )
    return Reply(explain.similar_answer(_discreet(call, answer)), keep=not answer.degraded)


@endpoint(
    "GET",
    "/api/v1/why",
    "why",
    tag="search",
    gives=explain.WhyAnswer,
    problems=(NOT_FOUND, AMBIGUOUS),
    state=state,
    heavy=True,
)
def why(call: Call, given: WhyParameters) -> Reply:
    """Say why a document is, or is not, among the results of a query."""
    diagnosis = call.library.why(
        given.q, given.doc, scope=_narrowed(call, given), mode=given.mode, limit=given.n
    )
    if not call.may(Capability.ADMIN):
        # A file that could not be read may tell where a link leads.
        told = [replace(one, reason=without_places(one.reason)) for one in diagnosis.obstacles]
        verdict = without_places(diagnosis.verdict)
        diagnosis = replace(diagnosis, verdict=verdict, obstacles=tuple(told))
    return Reply(explain.why_answer(_discreet(call, diagnosis)), keep=not diagnosis.degraded)


def _narrowed(call: Call, given: Filters) -> Scope:
    """The caller's scope, narrowed by the request's filters; BadInput if one makes no sense."""
    return call.library.scope(given.named(), within=call.scope)


A = TypeVar("A", Answer, SimilarAnswer, Diagnosis)


def _discreet(call: Call, answer: A) -> A:
    """The answer, without saying where on the server's disk a model is missing."""
    if call.may(Capability.ADMIN):
        return answer
    return replace(answer, degraded=for_strangers(answer.degraded))


ENDPOINTS = (search, similar, why)
