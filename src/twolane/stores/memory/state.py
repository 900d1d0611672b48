"""What the memory store remembers, shared by its ports under one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from twolane.errors import Conflict, StoreError
from twolane.model import Collection, Failure, FileRecord, Forms, Generation, Prepared

if TYPE_CHECKING:
    from twolane.ports import Vector


class Row(NamedTuple):
    """A stored vector, the passage it belongs to, and the codes of that passage's sentences."""

    text_hash: str
    vector: Vector
    sentences: bytes = b""


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
    means: dict[str, Vector] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)

    def sentences(self, content_hash: str) -> bytes:
        """The codes of a passage's sentences, if there are any."""
        row = self.rows.get(content_hash)
        return row.sentences if row else b""

    def donors(self) -> dict[str, str]:
        """For each passage, the content hash whose vector it lends: the lowest."""
        lent: dict[str, str] = {}
        for content_hash in sorted(self.rows):
            lent.setdefault(self.rows[content_hash].text_hash, content_hash)
        return lent


@dataclass(slots=True)
class State:
    """Everything in the store; hold `lock` while reading or changing it."""

    clock: Callable[[], float]
    lock: threading.RLock = field(default_factory=threading.RLock)
    collections: dict[str, Collection] = field(default_factory=dict)
    documents: dict[str, Prepared] = field(default_factory=dict)
    ledger: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    shelves: dict[int, Shelf] = field(default_factory=dict)
    forms: Forms = field(default_factory=Forms)
    newest: int = 0
    changes: int = 0

    def visible(self) -> list[Prepared]:
        """Every document that is not hidden, by id."""
        held = sorted(self.documents.items())
        return [prepared for _, prepared in held if not prepared.document.hidden]

    def demand_versions(self, expected: Mapping[str, int]) -> None:
        """Raise Conflict unless each document has its version; 0 is one that is not there."""
        for id, version in expected.items():
            prepared = self.documents.get(id)
            held = prepared.document.version if prepared else 0
            if held != version:
                raise Conflict(id, version, held)

    def forget_forms(self) -> None:
        """Drop the keys of lines that no passage holds any more."""
        held = {
            key for one in self.documents.values() for chunk in one.chunks for key in chunk.forms
        }
        self.forms = replace(self.forms, keys=self.forms.keys & held)

    def forget_vectors(self) -> None:
        """Drop every vector whose passage no document holds any more."""
        held = {chunk.text_hash for one in self.documents.values() for chunk in one.chunks}
        for shelf in self.shelves.values():
            shelf.rows = {key: row for key, row in shelf.rows.items() if row.text_hash in held}

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
