"""Embedding spaces, generations of vectors, and the work that is left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from twolane.model.document import digest
from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Space:
    """The identity of an embedding space: whatever changes a vector changes the fingerprint."""

    embedder: str
    model: str
    revision: str
    dimensions: int
    chunker: str
    query_prompt: str = ""
    passage_prompt: str = ""
    pooling: str = "model"
    centring: str = "none"
    # The dimensions in which sentences are embedded beside their passages, as `0:512`.
    sentences: str = "none"

    @property
    def fingerprint(self) -> str:
        """A digest of every field, stored beside every vector."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return digest(json.dumps(fields, sort_keys=True))


class GenerationState(StrEnum):
    """What a generation is for.

    Filling: on its way to its first complete state.
    Serving: answers searches.
    Standby: kept complete, and answers while the serving one lacks passages.
    Held: was rolled back or refused by a gate; serves only when it is told to.
    Retired: was replaced; kept as it is for a return.
    """

    FILLING = "filling"
    SERVING = "serving"
    STANDBY = "standby"
    HELD = "held"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of vectors in one space.

    `reason` is why it is held back, where it is.
    `revision` is another number whenever a vector is added.
    `answered_by` is what the server called the model that made the vectors, if one said.
    """

    number: int
    space: Space
    state: GenerationState
    reason: str | None = None
    revision: int = field(default=0, compare=False)
    answered_by: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that has no vector yet, with what is needed to embed it.

    `document` and `position` are where it stands, or stands first.
    `tries` is how often it has failed so far; lines of `boilerplate` are not embedded.
    """

    content_hash: str
    document: str
    position: int
    title: str
    headings: tuple[str, ...]
    text: str
    language: str | None = None
    tries: int = 0
    boilerplate: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a generation is: distinct passages by state.

    Of the failed ones, `abandoned` are not tried again until the queue is told to.
    `languages` are everybody's passages of each language, whatever their state; of one owner's a
    store may leave them out.
    `rate` is how many passages a second the generation last got.
    Where they were asked for, `waiting` are the passages without a vector by document id, and
    `failures` those of the first passage that failed; `embedded` is when the last passage of a
    document got its vector, in seconds since 1970, for those that lack none.
    """

    ready: int
    pending: int
    failed: int
    abandoned: int = 0
    languages: Mapping[str, int] = field(default_factory=dict, compare=False)
    rate: float | None = field(default=None, compare=False)
    waiting: Mapping[str, int] = field(default_factory=dict, compare=False)
    failures: Mapping[str, Failure] = field(default_factory=dict, compare=False)
    embedded: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def missing(self) -> int:
        """How many passages have no vector."""
        return self.pending + self.failed


@dataclass(frozen=True, slots=True)
class Jobs:
    """What is under way in a generation, and what failed.

    `workers` are those who hold a lease, whether it has run out or not.
    `due` is the number of seconds until a lease ends or a failed passage is due, None if nobody
    waits for any; `abandoned` passages failed and are not tried again until the queue is told to.
    `rate` is how many passages a second the generation last got.
    """

    workers: tuple[str, ...] = ()
    due: float | None = None
    abandoned: int = 0
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a passage could not be embedded, how often it was tried, and when it is tried again.

    The time is in seconds since 1970; None: not until somebody asks for it.
    """

    reason: str
    tries: int
    next_try: float | None
