"""The documents in a scope in order, from the memory store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from twolane.answers import Place, Sort, Traits
from twolane.language import fold
from twolane.model import Document, Prepared
from twolane.scopes import Scope
from twolane.stores.memory.filtering import moment
from twolane.stores.memory.scoping import in_scope
from twolane.stores.memory.state import State


class MemoryLists:
    """The `Lists` port over a shared state."""

    _state: State

    def listed(
        self, scope: Scope, sort: Sort, *, reverse: bool, after: Place | None, limit: int
    ) -> list[Place]:
        """The next documents in scope in this order."""
        downwards = (sort != Sort.TITLE) != reverse

        def compared(one: Place, other: Place) -> int:
            return _compared(one, other, downwards)

        places = [_place(each.document, sort) for each in self._in(scope)]
        if after is not None:
            places = [place for place in places if compared(place, after) > 0]
        return sorted(places, key=cmp_to_key(compared))[:limit]

    def traits(self, ids: Sequence[str]) -> Mapping[str, Traits]:
        """What signals look at, by id."""
        with self._state.lock:
            held = [self._state.documents[id].document for id in ids if id in self._state.documents]
        return {
            one.id: Traits(one.kind, one.tags, one.updated, one.used, one.uses)
            for one in held
            if not one.hidden
        }

    def _in(self, scope: Scope) -> list[Prepared]:
        with self._state.lock:
            return [each for each in self._state.visible() if in_scope(each, scope)]


def _place(document: Document, sort: Sort) -> Place:
    if sort == Sort.TITLE:
        return Place(fold(document.title), document.id)
    at = getattr(document, sort.value)
    return Place(None if at is None else moment(at).timestamp(), document.id)


def _compared(one: Place, other: Place, downwards: bool) -> int:
    """Below 0 if `one` comes first: by key, what has none last, and then by id."""
    if one.key != other.key:
        if one.key is None or other.key is None:
            return 1 if one.key is None else -1
        mine: Any = one.key
        less = bool(mine < other.key)
        return -1 if less != downwards else 1
    return (one.id > other.id) - (one.id < other.id)
