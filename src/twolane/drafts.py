"""What is handed in to be saved, and what is handed back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from twolane.model import EMPTY, Document, Kind

# Where documents go that name no collection.
SAVED = "saved"

# A collection is described in one sentence, since answers show it beside their results.
LONGEST_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class Draft:
    """A document as its author hands it in; what is derived from it is none of their business.

    `id` is the author's own name for it: saving under the same id again replaces the document.
    A bookmark has a `url`, and the text of its page as `body`; a prompt has `arguments`.
    Times that are not given: `created` and `used` stay as they were, `updated` is now.
    `uses` says how often it was used; 0 leaves that as it was, too.
    An encrypted document keeps none of its texts, whatever is given here.
    """

    id: str
    kind: Kind = Kind.NOTE
    title: str = ""
    body: str = ""
    url: str | None = None
    description: str = ""
    summary: str = ""
    arguments: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    collection: str = SAVED
    path: str | None = None
    owner: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    used: datetime | None = None
    uses: int = 0
    searchable: bool = True
    archived: bool = False
    encrypted: bool = False

    @classmethod
    def of(cls, document: Document) -> Self:
        """The draft that a document could have come from."""
        return cls(**{one.name: getattr(document, one.name) for one in fields(cls)})


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of one document: its version now, and whether anything changed.

    `created` tells that it was not there before.
    """

    id: str
    version: int
    changed: bool
    created: bool = False
