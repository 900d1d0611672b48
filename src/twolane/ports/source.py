"""The port of sources: where documents come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from twolane.model.problem import FileRecord, Stamp
from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that a source offers, before it is read."""

    path: str
    stamp: Stamp


class Source(Protocol):
    """Where documents come from."""

    def entries(self) -> Iterator[Entry | FileRecord]:
        """Files that are offered, and ledger rows for those that are passed over."""

    def read(self, entry: Entry) -> bytes:
        """The file's bytes, read once; raises OSError if it cannot be read."""
