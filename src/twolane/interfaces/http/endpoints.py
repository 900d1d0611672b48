"""What an address offers, said once: it reads requests and writes the OpenAPI description.

A handler is a plain function over a library. What it takes is said by its annotations: `given` is
the shape of the parameters, `body` that of the body.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from twolane.interfaces.http.parameters import Parameters
from twolane.interfaces.http.problems import Problem
from twolane.interfaces.wire.bodies import Body
from twolane.interfaces.wire.shape import Json, Shape
from twolane.model.scope import EVERYTHING, Capability, Scope
from twolane.model.values import dataclass

if TYPE_CHECKING:
    from twolane.interfaces.http.metrics import Metrics
    from twolane.library import Library

Tag = Literal["search", "documents", "judgments", "server"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking: a name for logs and limits, an owner, and what they may do."""

    name: str
    owner: str | None = None
    capabilities: frozenset[Capability] = EVERYTHING


# Who reaches a server that asks for no token is its user.
LOCAL = Caller("local")


@dataclass(frozen=True, slots=True)
class Call:
    """A request after it was read: nothing of HTTP is left but the state it wants to change.

    `if_match` is the ETag that the caller last saw of what is to be changed.
    `new` says that nothing may be there yet (`If-None-Match: *`).
    `key` is the caller's name for a request that must be done once (`Idempotency-Key`).
    `metrics` are the server's own counters; a worker process has none.
    """

    library: Library
    caller: Caller
    if_match: str | None = None
    metrics: Metrics | None = None
    new: bool = False
    key: str | None = None

    @property
    def scope(self) -> Scope:
        """Who is asking and what they may do, before any filter."""
        return Scope(owner=self.caller.owner, capabilities=self.caller.capabilities)

    @property
    def named(self) -> Scope:
        """The same for a document that is named: who names it means it, archived or not."""
        return replace(self.scope, archived=True)

    def may(self, capability: Capability) -> bool:
        """Whether the caller has the capability."""
        return capability in self.caller.capabilities


@dataclass(frozen=True, slots=True)
class Measured:
    """What is counted of a search: milliseconds by lane, and the lanes that could not run."""

    lanes: Mapping[str, float]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered: JSON, or text of another type.

    `etag` names exactly what is answered, where that has a name of its own.
    An answer that is not to be kept shows a passing state, such as a lane that could not run.
    """

    body: Shape | Json | str
    status: int = 200
    etag: str | None = None
    keep: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one address: what it takes, what it gives, and who may use it.

    `capability` None means that anybody may: nothing of the index is told.
    `state` names what the answer depends on; a caller who has seen it is told so without work.
    `light` ones do no work that could queue, and answer when the server is overloaded, too.
    `heavy` ones are left to worker processes where there are any; they only read.
    `conditions` are the headers by which a change is made to depend on what was before.
    """

    method: str
    path: str
    name: str
    tag: Tag
    summary: str
    description: str
    answer: Callable[..., Reply]
    parameters: type[Parameters]
    body: type[Body] | None
    gives: Any
    statuses: tuple[int, ...] = (200,)
    capability: Capability | None = Capability.SEARCH
    problems: tuple[Problem, ...] = ()
    state: Callable[[Call], str] | None = None
    light: bool = False
    heavy: bool = False
    media: str = "application/json"
    conditions: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether something may be changed by it: then what has begun must be answered."""
        return self.method != "GET"


def endpoint(
    method: str, path: str, name: str, *, tag: Tag, gives: Any, **more: Any
) -> Callable[[Callable[..., Reply]], Endpoint]:
    """Make a handler an endpoint; its docstring is the summary and, below it, the description."""

    def made(answer: Callable[..., Reply]) -> Endpoint:
        hints = get_type_hints(answer, localns={"Library": Any, "Metrics": Any})
        summary, _, description = (inspect.getdoc(answer) or "").partition("\n\n")
        return Endpoint(
            method=method,
            path=path,
            name=name,
            tag=tag,
            summary=summary.rstrip("."),
            description=" ".join(description.split()),
            answer=answer,
            parameters=hints.get("given", Parameters),
            body=hints.get("body"),
            gives=gives,
            **more,
        )

    return made
