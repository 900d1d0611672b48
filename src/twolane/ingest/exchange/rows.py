"""What readers of formats give: drafts with the place they come from, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit

from twolane.ingest.drafting import LONGEST_ID
from twolane.model.document import Collection, digest
from twolane.model.draft import Draft
from twolane.model.problem import Problem, ProblemCode
from twolane.model.values import dataclass

# A report of a million bad rows helps nobody; the number of all of them is kept.
MOST_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A draft, where it was found, and what had to be mended in it."""

    place: str
    draft: Draft
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """What a collection is, where that was found, and what had to be left out of it."""

    place: str
    collection: Collection
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRow:
    """Something that gives no draft, and why."""

    place: str
    reason: str
    code: ProblemCode = ProblemCode.BAD_ROW


class Text(Protocol):
    """A text that is read piece by piece."""

    def read(self, size: int, /) -> str:
        """At most `size` characters; none at the end."""


Rows = Iterator[Row | CollectionRow | BadRow]


@dataclass(slots=True)
class ImportReport:
    """What an import did; `read` of `size` bytes tells how far it is, where that is known.

    `collections` were made or described anew; all else counts documents, or rows without any.
    """

    name: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    merged: int = 0
    skipped: int = 0
    failed: int = 0
    mended: int = 0
    collections: int = 0
    seconds: float = 0.0
    read: int = 0
    size: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        done = self.added + self.changed + self.unchanged
        return done + self.merged + self.skipped + self.failed

    @property
    def taken(self) -> int:
        """How many rows were understood, whatever became of them."""
        return self.rows - self.failed + self.collections

    def tell(self, place: str, code: ProblemCode, reason: str) -> None:
        """Keep a problem, unless there are too many already."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(place, code, reason))


_PORTS = {"http": 80, "https": 443, "ftp": 21}

# Who followed which advertisement says nothing about the page.
_TRACKING = ("utm_", "fbclid=", "gclid=", "mc_cid=", "mc_eid=", "igshid=", "yclid=")


def normalised(url: str) -> str:
    """The URL under which its spellings are one: case, port, last slash, trackers, place in it.

    Only for comparing: it need not lead anywhere.
    """
    try:
        split = urlsplit(url.strip())
        port = split.port
    except ValueError:
        return url.strip()
    if not split.hostname:
        return url.strip()
    host = split.hostname.rstrip(".")
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS.get(split.scheme):
        netloc = f"{netloc}:{port}"
    query = "&".join(
        part for part in split.query.split("&") if part and not part.startswith(_TRACKING)
    )
    # A page of some applications is named behind the `#`; elsewhere that is a place in a page.
    fragment = split.fragment if split.fragment.startswith(("!", "/")) else ""
    path = split.path.rstrip("/")
    return urlunsplit(SplitResult(split.scheme, netloc, path, query, fragment))


def id_in(collection: str, name: str) -> str:
    """The id of something that is called `name` in a collection."""
    id = f"{collection}/{name}"
    plain = len(id) <= LONGEST_ID and id == id.strip() and id.isprintable()
    return id if plain else f"{collection}/{digest(name)}"


def path_of(names: Iterable[str]) -> str:
    """A path of these names, with what no part of a path may hold taken out."""
    safe = [re.sub(r"[/\\\x00-\x1f\x7f-\x9f]", "-", name).strip() for name in names]
    return "/".join(name if name.strip(".") else "-" for name in safe)
