"""Everything that can go wrong for a caller, one name for each, told as RFC 9457 says.

The class of an error decides which problem it is, never its message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from twolane.interfaces.failures import discreet
from twolane.interfaces.wire import server as wire
from twolane.interfaces.wire.shape import shape
from twolane.model.errors import (
    AmbiguousDocument,
    BadGoldenSet,
    BadInput,
    Conflict,
    EmbedderError,
    KeyReused,
    NoSuchDocument,
    NotPermitted,
    StageError,
    StoreError,
    TooSlow,
    TwolaneError,
)
from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of failure: its name, status and title, and what the caller can do about it."""

    name: str
    status: int
    title: str
    advice: str

    @property
    def type(self) -> str:
        """The address that names the problem, and where it is described."""
        return f"/problems/{self.name}"


BAD_REQUEST = Problem(
    "bad-request",
    400,
    "The request is not valid",
    "Read the detail: it names the parameter or the part of the body and what is allowed there.",
)
UNAUTHENTICATED = Problem(
    "unauthenticated",
    401,
    "A token is needed",
    "Send `Authorization: Bearer TOKEN`; `twolane token add NAME` makes a token.",
)
NOT_PERMITTED = Problem(
    "not-permitted",
    403,
    "The token does not allow this",
    "Use a token with the capability that the detail names.",
)
FOREIGN_HOST = Problem(
    "foreign-host",
    421,
    "This server is not known by that name",
    "Use the address that the server was started with, or add the name to the setting "
    "`server.hosts`.",
)
FOREIGN_ORIGIN = Problem(
    "foreign-origin",
    403,
    "Another site's page may not ask this server",
    "Open the server's own page, or add the site to the setting `server.origins`.",
)
NOT_FOUND = Problem(
    "not-found",
    404,
    "There is nothing there",
    "Check the address; a document is named by id, path, URL, title or alias, percent-encoded.",
)
WRONG_METHOD = Problem(
    "wrong-method",
    405,
    "The address does not take this method",
    "The header `Allow` lists the methods that it takes.",
)
TOO_SLOW_REQUEST = Problem(
    "slow-request",
    408,
    "The request took too long to come",
    "Send the head at once, and the body, too.",
)
AMBIGUOUS = Problem(
    "ambiguous",
    409,
    "The name stands for several documents",
    "Use one of the ids in `candidates`.",
)
CONFLICT = Problem(
    "conflict",
    409,
    "The document is not what the request takes it for",
    "Read it again and repeat the change, or choose another id.",
)
CHANGED = Problem(
    "changed",
    412,
    "The document has changed since it was read",
    "Read it again, and repeat the change with the new ETag.",
)
BAD_GOLDEN_SET = Problem(
    "bad-golden-set",
    409,
    "The golden set on the server cannot be used",
    "Repair the file that the detail names.",
)
TOO_LARGE = Problem(
    "too-large",
    413,
    "The request is too large",
    "Send less at once; the setting `server.max_body_bytes` is the limit.",
)
WRONG_TYPE = Problem(
    "wrong-type",
    415,
    "The body is not JSON",
    "Send JSON in UTF-8 with `Content-Type: application/json`.",
)
KEY_REUSED = Problem(
    "key-reused",
    422,
    "The key was sent before with another request",
    "Give each request an `Idempotency-Key` of its own; repeat it only with the same body.",
)
LARGE_HEAD = Problem(
    "large-head",
    431,
    "The address and the headers are too large",
    "Send fewer and shorter ones; 32 kB are the limit.",
)
TOO_MANY = Problem(
    "too-many-requests",
    429,
    "Too many requests",
    "Wait as many seconds as the header `Retry-After` says.",
)
INTERNAL = Problem(
    "internal",
    500,
    "Something went wrong that should not have",
    "Look for the request id in the server's log, and report it.",
)
OVERLOADED = Problem(
    "overloaded",
    503,
    "The server has more to do than it can",
    "Wait as many seconds as the header `Retry-After` says.",
)
TOO_SLOW = Problem(
    "too-slow",
    503,
    "The answer took too long",
    "Ask for less, or try again later; the settings `search.query_seconds` and "
    "`server.request_seconds` are the limits.",
)
UNAVAILABLE = Problem(
    "unavailable",
    503,
    "The index or the model cannot be used now",
    "Read the detail, and try again after as many seconds as the header `Retry-After` says.",
)

PROBLEMS: Mapping[str, Problem] = {
    one.name: one for one in [*globals().values()] if isinstance(one, Problem)
}

_BY_CLASS: Mapping[type[BaseException], Problem] = {
    TwolaneError: BAD_REQUEST,
    BadInput: BAD_REQUEST,
    NoSuchDocument: NOT_FOUND,
    AmbiguousDocument: AMBIGUOUS,
    BadGoldenSet: BAD_GOLDEN_SET,
    KeyReused: KEY_REUSED,
    Conflict: CONFLICT,
    NotPermitted: NOT_PERMITTED,
    StoreError: UNAVAILABLE,
    TooSlow: TOO_SLOW,
    EmbedderError: UNAVAILABLE,
    StageError: UNAVAILABLE,
}


@dataclass(slots=True)
class HttpProblem(Exception):
    """A request that is not answered as asked; carries all that the caller is told."""

    problem: Problem
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    candidates: Sequence[str] | None = None

    def shape(self, request_id: str) -> wire.Problem:
        """What the caller reads."""
        said = shape(wire.Problem, self.problem, detail=self.detail, request_id=request_id)
        if self.candidates is not None:
            said.candidates = [*self.candidates]
        return said


def problem_of(error: TwolaneError) -> HttpProblem:
    """What the caller is told of an error that the library raised on purpose."""
    problem = next(_BY_CLASS[kind] for kind in type(error).__mro__ if kind in _BY_CLASS)
    headers = {"Retry-After": "1"} if problem.status == 503 else {}
    # Who asks over a network need not know where things lie on the disk; the log does.
    told = discreet(error) if problem.status >= 500 else str(error)
    candidates = error.candidates if isinstance(error, AmbiguousDocument) else None
    return HttpProblem(problem, told, headers, candidates)
