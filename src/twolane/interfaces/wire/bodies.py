"""What is sent in: documents, changes and judgments, checked as they are read.

A key that was left out is UNSET: nothing is said about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from twolane.model.document import Kind
from twolane.model.draft import Draft

Id = Annotated[str, Meta(min_length=1, max_length=1000)]
Short = Annotated[str, Meta(max_length=2000)]
Shorts = Annotated[tuple[Short, ...], Meta(max_length=1000)]
Ids = Annotated[tuple[Id, ...], Meta(max_length=10_000)]
When = Annotated[datetime, Meta(tz=True, description="A time with its zone, RFC 3339.")]
Number = Annotated[int, Meta(ge=0, le=1_000_000_000)]


class Body(Struct, forbid_unknown_fields=True):
    """An object that is sent in, with no other keys than these."""

    def given(self) -> dict[str, Any]:
        """What was said, by key."""
        pairs = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in pairs if value is not UNSET}


class Replacement(Body):
    """A document as it is to be; what is left out is empty."""

    kind: Kind | UnsetType = UNSET
    title: Short | UnsetType = UNSET
    text: Annotated[
        str | UnsetType,
        Meta(description="The Markdown source; of a bookmark, the text of its page."),
    ] = UNSET
    url: Short | UnsetType | None = UNSET
    description: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    arguments: Annotated[
        Shorts | UnsetType, Meta(description="What a prompt asks for when it is used.")
    ] = UNSET
    aliases: Shorts | UnsetType = UNSET
    tags: Shorts | UnsetType = UNSET
    properties: Annotated[
        dict[str, Any] | UnsetType, Meta(description="What front matter would say.")
    ] = UNSET
    collection: Annotated[
        Short | UnsetType,
        Meta(description="Where it belongs; `saved` unless something else is said."),
    ] = UNSET
    path: Short | UnsetType | None = UNSET
    created: When | UnsetType | None = UNSET
    updated: When | UnsetType | None = UNSET
    used: When | UnsetType | None = UNSET
    uses: Number | UnsetType = UNSET
    searchable: Annotated[bool | UnsetType, Meta(description="Whether it can be found at all.")] = (
        UNSET
    )
    archived: bool | UnsetType = UNSET
    encrypted: Annotated[
        bool | UnsetType, Meta(description="Whether its texts are not to be kept.")
    ] = UNSET


class NewDocument(Replacement):
    """A new document."""

    id: Annotated[
        Id | UnsetType, Meta(description="Your own name for it; one is made up if there is none.")
    ] = UNSET


class NamedDocument(Replacement, kw_only=True):
    """A document to be saved under an id."""

    id: Id


class DocumentChange(Replacement):
    """What is to be different; what is left out stays. It may not be empty."""

    add_tags: Annotated[
        Shorts | UnsetType, Meta(description="Tags to give it beside those that it has.")
    ] = UNSET
    remove_tags: Annotated[Shorts | UnsetType, Meta(description="Tags to take from it.")] = UNSET
    deleted: Annotated[
        bool | UnsetType, Meta(description="false restores it, true deletes it.")
    ] = UNSET

    def __post_init__(self) -> None:
        _not_empty(self)


class Bulk(Body):
    """Changes to many documents. It may not be empty."""

    save: Annotated[tuple[NamedDocument, ...], Meta(max_length=10_000)] | UnsetType = UNSET
    delete: Ids | UnsetType = UNSET
    restore: Ids | UnsetType = UNSET
    archive: Ids | UnsetType = UNSET
    unarchive: Ids | UnsetType = UNSET
    touch: Annotated[
        Ids | UnsetType,
        Meta(description="Documents that were used just now; files' documents, too."),
    ] = UNSET

    def __post_init__(self) -> None:
        _not_empty(self)


class TagName(Body):
    """A tag's new name."""

    name: Id


class NewJudgment(Body):
    """A query with the documents that answer it, each by id, path, URL, title or alias."""

    query: Annotated[str, Meta(min_length=1, max_length=2000)]
    relevant: Annotated[Shorts, Meta(description="Documents that answer it.")] = ()
    partial: Annotated[Shorts, Meta(description="Documents that answer a part of it.")] = ()
    unanswerable: Annotated[bool, Meta(description="Whether no document answers it.")] = False
    lang: Short | None = None
    direction: Short | None = None
    category: Short | None = None


class OpenedResult(Body):
    """A result that was opened for a query."""

    query: Annotated[Short, Meta(description="The query, as it was typed.")]
    id: Annotated[Short, Meta(description="The document's id.")]


# What OpenAPI shows of each, and what generated requests begin with.
EXAMPLES: Mapping[type[Body], dict[str, Any]] = {
    NewDocument: {
        "id": "tomatoes",
        "title": "Pruning tomatoes",
        "text": "Pinch out the side shoots every week.",
        "tags": ["garden"],
    },
    Replacement: {"title": "Pruning tomatoes", "text": "Once a week.", "tags": ["garden"]},
    DocumentChange: {"add_tags": ["summer"], "archived": False},
    Bulk: {"save": [{"id": "tea", "title": "Green tea"}], "delete": ["tomatoes"]},
    TagName: {"name": "gardening"},
    NewJudgment: {"query": "when to prune", "relevant": ["garden/Tomatoes.md"]},
    OpenedResult: {"query": "when to prune", "id": "garden/Tomatoes.md"},
}


def draft_of(id: str, body: Replacement) -> Draft:
    """The draft that a body describes."""
    return changed(Draft(id), body)


def changed(draft: Draft, body: Replacement) -> Draft:
    """The draft with what a body says differently; tags are taken and given last."""
    fields = body.given()
    for name in ("id", "deleted"):
        fields.pop(name, None)
    added, removed = fields.pop("add_tags", ()), fields.pop("remove_tags", ())
    if "text" in fields:
        fields["body"] = fields.pop("text")
    made = replace(draft, **fields)
    gone = {tag.casefold() for tag in removed}
    kept = [tag for tag in made.tags if tag.casefold() not in gone]
    return replace(made, tags=(*kept, *added))


def _not_empty(body: Body) -> None:
    if not body.given():
        raise ValueError(f"is empty; it may have: {', '.join(body.__struct_fields__)}")
