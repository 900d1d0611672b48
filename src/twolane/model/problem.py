"""What went wrong with one file or document, and what became of each file."""

from __future__ import annotations

from enum import StrEnum

from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a source remembers of a file to tell whether it changed without reading it."""

    modified_ns: int
    size: int


class ProblemCode(StrEnum):
    """Why one file or lane did not go as planned."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too-large"
    BINARY = "binary"
    NOT_UTF8 = "not-utf8"
    FRONT_MATTER = "front-matter"
    OUTSIDE_ROOT = "outside-root"
    EXCLUDED = "excluded"
    CLASH = "clash"
    BAD_ROW = "bad-row"
    DUPLICATE = "duplicate"
    MENDED = "mended"
    INTERNAL = "internal"
    DAMAGED = "damaged"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong with one document, reported and never raised through a run."""

    path: str
    code: ProblemCode
    reason: str


class FileState(StrEnum):
    """What became of one file of a collection."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The ledger's row for a file: what became of it, and why."""

    path: str
    state: FileState
    stamp: Stamp | None = None
    reason: str = ""
    code: ProblemCode | None = None
