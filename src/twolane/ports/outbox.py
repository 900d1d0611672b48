"""The port of changes that another engine has yet to hear of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol


class Turn(NamedTuple):
    """Some changes that wait, and a number for whoever makes them.

    `entries` are the changes, `ids` the documents that they name, each once.
    What is read after the number was drawn holds all that every smaller number has read.
    """

    number: int
    entries: tuple[int, ...]
    ids: tuple[str, ...]


class Lag(NamedTuple):
    """About how many changes wait, and for how many seconds the oldest of them has."""

    changes: int = 0
    seconds: float = 0.0


class Streams(NamedTuple):
    """The languages of a document, and its streams of stems in the order of `FIELDS`."""

    languages: tuple[str, ...]
    fields: tuple[str, ...]


class Follower(Protocol):
    """Keeps an engine that searches beside the database in step with it."""

    def rebuild(self, on_batch: Callable[[int, int], None]) -> int:
        """Make all that the engine holds anew, while it serves; how many documents there are.

        `on_batch` is told how many documents of how many were brought there.
        """

    def roll_back(self) -> None:
        """Let what was there before the last build answer again."""


class Outbox(Protocol):
    """Names each document that changed, or whose vectors did, in the transaction that changed it.

    It costs nothing before it is switched on.
    """

    def is_on(self) -> bool:
        """Whether changes are recorded."""

    def identity(self) -> str:
        """A name that no other database has, by which the other engine knows this one.

        It is empty while changes are not recorded; a copy of the file has it, too.
        """

    def switch(self, *, on: bool) -> None:
        """Begin to record changes, or stop and forget those that wait."""

    def take(self, worker: str, *, limit: int, lease: float) -> Turn | None:
        """The oldest changes; None if there are none, or another worker is at work.

        The changes stay until they are `done`; after `lease` seconds without a word from this
        worker another one may take them.
        """

    def number(self) -> int:
        """A number as in a turn, for whoever writes documents that did not change."""

    def done(self, turn: Turn) -> None:
        """Forget the changes of a turn."""

    def release(self, worker: str) -> None:
        """Let others take turns at once."""

    def again(self, ids: Sequence[str]) -> None:
        """Record these documents as changed."""

    def lag(self) -> Lag:
        """How far behind the other engine is."""

    def streams(self, ids: Sequence[str]) -> Mapping[str, Streams]:
        """The words of these documents, by id; hidden ones are left out."""
