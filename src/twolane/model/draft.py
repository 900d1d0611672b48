"""What is handed in to be saved, and what is handed back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime
from typing import Any, Self

from twolane.model.document import EMPTY, Document, Kind
from twolane.model.values import dataclass

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

    `created` tells that it was not there before; `content_hash` names the text of that version.
    """

    id: str
    version: int
    changed: bool
    created: bool = False
    content_hash: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Changes:
    """Many changes that are made together: drafts to save, and ids of what else is to be done.

    They are made in this order, so that a document may be saved and then archived.
    """

    save: tuple[Draft, ...] = ()
    delete: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()
    archive: tuple[str, ...] = ()
    unarchive: tuple[str, ...] = ()
    touch: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Once:
    """The name of a request that may be sent again, but must be done once.

    `key` is the caller's own; `asked` is a digest of all that was asked for under it.
    """

    key: str
    asked: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a request that had a key: who asked what, when, and what was saved.

    `owner` is empty for whoever may change everybody's documents.
    """

    owner: str
    once: Once
    saved: tuple[Saved, ...]
    at: datetime
