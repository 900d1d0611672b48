"""`/api/search`, `/api/similar` and `/api/why`: the questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from twolane.answers import Mode, Order, Sort
from twolane.interfaces import http_wire
from twolane.interfaces.http import schemas
from twolane.interfaces.http.endpoints import Call, Endpoint, Measured, Parameter, Reply, Type
from twolane.interfaces.http.filtering import FILTERS, filtered
from twolane.interfaces.http.problems import AMBIGUOUS, NOT_FOUND
from twolane.interfaces.similar_wire import similar_json
from twolane.interfaces.why_wire import diagnosis_json
from twolane.scopes import Capability

_QUERY = Parameter(
    "q",
    "What to look for, in the query language.",
    required=True,
    example="pruning tomatoes",
)
_NUMBER = Parameter("n", "How many results.", Type.WHOLE, least=1, most=1000, example=10)
_MODE = Parameter(
    "mode",
    "Which lanes are asked: words, meaning, or both.",
    choices=tuple(Mode),
    default=Mode.HYBRID.value,
)
_ORDER = (
    Parameter(
        "sort",
        "In what order: by relevance with a query, by update without one, unless this says else.",
        choices=tuple(Sort),
    ),
    Parameter("reverse", "Whether to sort the other way round.", Type.TRUTH, default=False),
    Parameter("cursor", "The `next` of the page before, to go on after it."),
)
_DOCUMENT = Parameter(
    "doc",
    "A document by id, path, URL, unique title or alias.",
    required=True,
    example="notes/a.md",
)


def search(call: Call) -> Reply:
    """The best documents, as `twolane search --json` has them, and how they are spread."""
    scope = filtered(call)
    sort = call.given["sort"]
    answer = call.library.search(
        call.given["q"],
        scope=scope,
        mode=call.given["mode"],
        limit=call.given["n"],
        order=Order(Sort(sort) if sort else None, call.given["reverse"], call.given["cursor"]),
    )
    facets = None
    if call.given["facets"]:
        facets = call.library.facets(scope=scope, documents=answer.found)
    measured = Measured(
        {one.lane.value: one.ms for one in answer.lanes},
        tuple(one.lane.value for one in answer.degraded),
    )
    links = call.library.links(answer.results, roots=call.may(Capability.ADMIN))
    said = http_wire.search_json(answer, facets, links)
    return Reply(said, keep=not answer.degraded, measured=measured)


def similar(call: Call) -> Reply:
    """The documents that are most similar to one."""
    answer = call.library.similar(
        call.given["doc"],
        scope=filtered(call),
        limit=call.given["n"],
        exclude_linked=call.given["exclude_linked"],
    )
    return Reply(similar_json(answer), keep=not answer.degraded)


def why(call: Call) -> Reply:
    """Why a document is, or is not, among the results of a query."""
    diagnosis = call.library.why(
        call.given["q"],
        call.given["doc"],
        scope=filtered(call),
        mode=call.given["mode"],
        limit=call.given["n"],
    )
    return Reply(diagnosis_json(diagnosis), keep=not diagnosis.degraded)


def state(call: Call) -> str:
    """What an answer depends on beside its request: the index, and the day for relative dates."""
    return f"{call.library.revision()} {datetime.now(UTC).date()}"


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/search",
        "search",
        "Find documents by words, by meaning, or by both",
        search,
        parameters=(
            replace(_QUERY, required=False, default=""),
            _NUMBER,
            _MODE,
            *_ORDER,
            *FILTERS,
            Parameter("facets", "Whether to count facets.", Type.TRUTH, default=True),
        ),
        gives={200: schemas.SEARCH},
        state=state,
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/similar",
        "similar",
        "Find the documents that are most similar to one",
        similar,
        parameters=(
            _DOCUMENT,
            _NUMBER,
            *FILTERS,
            Parameter(
                "exclude_linked",
                "Whether to leave out what it links to, or is linked by.",
                Type.TRUTH,
                default=False,
            ),
        ),
        gives={200: schemas.SIMILAR},
        problems=(NOT_FOUND, AMBIGUOUS),
        state=state,
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/why",
        "why",
        "Say why a document is, or is not, among the results of a query",
        why,
        parameters=(_QUERY, _DOCUMENT, _NUMBER, _MODE, *FILTERS),
        gives={200: schemas.WHY},
        problems=(NOT_FOUND, AMBIGUOUS),
        state=state,
        heavy=True,
    ),
)
