"""What the memory store remembers, shared by its ports under one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, NamedTuple

from twolane.model.document import Boilerplate, Chunk, Collection, Document, Prepared
from twolane.model.draft import Receipt
from twolane.model.errors import StoreError
from twolane.model.problem import FileRecord, Problem
from twolane.model.scope import Scope
from twolane.model.space import Failure, Generation
from twolane.model.tokens import Token
from twolane.model.values import dataclass
from twolane.ports.vectors import Mean
from twolane.stores.memory.matching import in_scope

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector


class Row(NamedTuple):
    """A stored vector, the codes of the sentences of its passage, and when it was embedded."""

    vector: Vector
    sentences: bytes = b""
    at: float = 0.0


class Lease(NamedTuple):
    """Who is embedding a passage, and until when nobody else may."""

    worker: str
    until: float


@dataclass(slots=True)
class Shelf:
    """One generation with its vectors and its unfinished work, keyed by content hash."""

    generation: Generation
    rows: dict[str, Row] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    means: dict[str, Mean] = field(default_factory=dict)
    rate: float | None = None


@dataclass(slots=True)
class State:
    """Everything in the store; hold `lock` while reading or changing it.

    A change of documents works on a copy and puts its parts here at the end: dictionaries of
    documents, collections, ledger and receipts are replaced, never changed.
    """

    clock: Callable[[], float]
    lock: threading.RLock = field(default_factory=threading.RLock)
    collections: dict[str, Collection] = field(default_factory=dict)
    documents: dict[str, Prepared] = field(default_factory=dict)
    ledger: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    receipts: dict[tuple[str, str], Receipt] = field(default_factory=dict)
    boilerplate: Boilerplate = field(default_factory=Boilerplate)
    tokens: dict[str, Token | None] = field(default_factory=dict)
    shelves: dict[int, Shelf] = field(default_factory=dict)
    newest: int = 0
    changes: int = 0

    def copied(self) -> State:
        """The same, for changes that may yet fail."""
        return replace(self)

    def become(self, other: State) -> None:
        """Be what the copy became."""
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))

    def visible(self) -> list[Prepared]:
        """Every document that is not hidden, by id."""
        held = sorted(self.documents.items())
        return [prepared for _, prepared in held if not prepared.document.hidden]

    def within(self, scope: Scope) -> list[Prepared]:
        """Every document in scope, by id."""
        with self.lock:
            return [each for each in self.visible() if in_scope(each, scope)]

    def passages(self) -> Iterator[tuple[Document, Chunk]]:
        """Every chunk that can be found, by document id and position."""
        for prepared in self.visible():
            for chunk in prepared.chunks:
                yield prepared.document, chunk

    def forget_vectors(self) -> None:
        """Drop every vector whose passage no document holds any more."""
        held = {chunk.content_hash for one in self.documents.values() for chunk in one.chunks}
        for shelf in self.shelves.values():
            shelf.rows = {key: row for key, row in shelf.rows.items() if key in held}

    def shelf(self, generation: int) -> Shelf:
        """The generation's shelf; an unknown number is an error, never an empty answer."""
        try:
            return self.shelves[generation]
        except KeyError:
            held = ", ".join(map(str, self.shelves)) or "none"
            raise StoreError(
                f"there is no generation {generation} (there is: {held}); "
                "it was dropped or never opened, so open one for the space first"
            ) from None


class MemoryMaintenance:
    """The `Maintenance` port: there is nothing that could be damaged."""

    location = ":memory:"

    def degraded(self) -> str | None:
        """Nothing: it needs nothing that could be missing."""
        return None

    def check(self) -> list[Problem]:
        """Nothing: there is no file that could be damaged."""
        return []

    def repair(self) -> list[Problem]:
        """Nothing: there is nothing to mend."""
        return []

    def settle(self) -> None:
        """Nothing: nothing was left for later."""

    def backup(self, target: str) -> None:
        """Refuse, because there is no file to copy."""
        raise StoreError(
            f"the memory store has no file to copy to {target}; "
            "keep the documents in a SQLite database to back them up"
        )

    def close(self) -> None:
        """Nothing to release; calling it twice is harmless."""
