"""What an address offers, said once: it reads requests and writes the OpenAPI description."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from twolane.interfaces.http.problems import BAD_REQUEST, Problem, Refused
from twolane.interfaces.wire import Json
from twolane.scopes import EVERYTHING, Capability, Scope

if TYPE_CHECKING:
    from twolane.interfaces.http.metrics import Metrics
    from twolane.library import Library


# A filter with more values than this was not chosen by a person.
MOST_VALUES = 64


class Type(StrEnum):
    """What a parameter's text is read as; the names are those of JSON Schema."""

    TEXT = "string"
    WHOLE = "integer"
    TRUTH = "boolean"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the address or of the query string: its type, limits and meaning."""

    name: str
    meaning: str
    type: Type = Type.TEXT
    required: bool = False
    many: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    longest: int = 2000
    example: Any = None
    in_path: bool = False

    def read(self, texts: Sequence[str]) -> Any:
        """The value that the texts of a request spell; Refused if they spell none."""
        if not texts:
            if self.required:
                raise Refused(BAD_REQUEST, f"the parameter {self.name!r} is missing")
            return () if self.many else self.default
        if self.many:
            if len(texts) > MOST_VALUES:
                raise self._wrong(f"is given more than {MOST_VALUES} times")
            return tuple(self._one(text) for text in texts)
        if len(texts) > 1:
            raise Refused(BAD_REQUEST, f"the parameter {self.name!r} is given {len(texts)} times")
        return self._one(texts[0])

    def _one(self, text: str) -> Any:
        if self.type == Type.TRUTH:
            return self._truth(text)
        if self.type == Type.WHOLE:
            return self._whole(text)
        if len(text) > self.longest:
            raise self._wrong(f"is longer than {self.longest} characters")
        if self.choices and text not in self.choices:
            raise self._wrong(f"{text!r} is not one of {', '.join(self.choices)}")
        return unicodedata.normalize("NFC", text)

    def _truth(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise self._wrong(f"{text[:40]!r} is neither true nor false")
        return text == "true"

    def _whole(self, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            raise self._wrong(f"{text[:40]!r} is not a whole number")
        number = int(text)
        if self.least is not None and number < self.least:
            raise self._wrong(f"must be at least {self.least}")
        if self.most is not None and number > self.most:
            raise self._wrong(f"must be at most {self.most}")
        return number

    def _wrong(self, what: str) -> Refused:
        return Refused(BAD_REQUEST, f"the parameter {self.name!r}: {what}")


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
    `metrics` are the server's own counters; a worker process has none.
    """

    library: Library
    caller: Caller
    given: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    if_match: str | None = None
    metrics: Metrics | None = None
    new: bool = False

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
class Reply:
    """What is answered: JSON, or text of another type.

    `etag` names exactly what is answered, where that has a name of its own.
    An answer that is not to be kept shows a passing state, such as a lane that could not run.
    """

    body: Json | str | None
    status: int = 200
    etag: str | None = None
    keep: bool = True
    media: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    measured: Measured | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What is counted of a search: milliseconds by lane, and the lanes that could not run."""

    lanes: Mapping[str, float]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one address: what it takes, what it gives, and who may use it.

    `capability` None means that anybody may: nothing of the index is told.
    `state` names what the answer depends on; a caller who has seen it is told so without work.
    `light` ones do no work that could queue, and answer when the server is overloaded, too.
    `heavy` ones are left to worker processes where there are any; they only read.
    `conditions` are the headers by which a change is made to depend on the present state.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: Callable[[Call], Reply]
    capability: Capability | None = Capability.SEARCH
    parameters: tuple[Parameter, ...] = ()
    takes: Json | None = None
    gives: Mapping[int, Json | None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    state: Callable[[Call], str] | None = None
    light: bool = False
    heavy: bool = False
    description: str = ""
    media: str = "application/json"
    conditions: tuple[str, ...] = ()

    def read(self, path: Mapping[str, str], query: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """The values of all parameters; Refused if one is wrong, missing or unknown."""
        texts: dict[str, list[str]] = {one.name: [] for one in self.parameters}
        for name, text in (*path.items(), *query):
            if name not in texts:
                known = ", ".join(texts) or "none"
                raise Refused(
                    BAD_REQUEST, f"there is no parameter {name[:80]!r} here; there are: {known}"
                )
            texts[name].append(text)
        return {one.name: one.read(texts[one.name]) for one in self.parameters}
