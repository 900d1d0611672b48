"""Documents as they are sent in: from JSON to drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from twolane.drafts import Draft
from twolane.model import Kind

# The words that JSON and drafts do not share: what is read as `text` is sent as `text`.
_OTHERWISE = {"text": "body"}
_LISTS = ("arguments", "aliases", "tags")
_TIMES = ("created", "updated", "used")
_CHANGES = ("add_tags", "remove_tags", "deleted")


def draft_of(id: str, body: Mapping[str, Any]) -> Draft:
    """The draft that a checked body describes."""
    return changed(Draft(id), body)


def changed(draft: Draft, body: Mapping[str, Any]) -> Draft:
    """The draft with what a checked body says differently; tags are taken and given last."""
    fields = {
        _OTHERWISE.get(name, name): _read(name, value)
        for name, value in body.items()
        if name not in ("id", *_CHANGES)
    }
    made = replace(draft, **fields)
    gone = {tag.casefold() for tag in body.get("remove_tags", ())}
    kept = [tag for tag in made.tags if tag.casefold() not in gone]
    return replace(made, tags=(*kept, *body.get("add_tags", ())))


def _read(name: str, value: Any) -> Any:
    if name == "kind":
        return Kind(value)
    if name in _LISTS:
        return tuple(value)
    if name in _TIMES and value is not None:
        return datetime.fromisoformat(value)
    return value
