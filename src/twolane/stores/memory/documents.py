"""The memory store's documents, their chunks and the ledger of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import Any

from twolane.model.answer import Place, Sort
from twolane.model.document import Boilerplate, Collection, Document, Prepared
from twolane.model.draft import Receipt
from twolane.model.scope import EVERYBODY, Scope
from twolane.ports.documents import WHOLE, Among, Change, Facets, Known, Part, Stats, Stored
from twolane.stores.memory.changing import forget_boilerplate, make
from twolane.stores.memory.matching import in_scope, is_owned, moment
from twolane.stores.memory.state import State
from twolane.text.names import path_ends_in
from twolane.text.property_values import facts
from twolane.text.tokens import fold


class MemoryDocuments:
    """The `DocumentStore` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collections(self, scope: Scope = EVERYBODY) -> Sequence[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs."""
        with self._state.lock:
            held = [collection for _, collection in sorted(self._state.collections.items())]
            documents = [prepared.document for prepared in self._state.documents.values()]
        theirs = {one.collection for one in documents if is_owned(one, scope) and not one.deleted}
        return [one for one in held if scope.owner is None or one.name in theirs]

    def known(self, collection: str) -> dict[str, Known]:
        """Every path the collection holds, with hidden documents but without deleted ones.

        A file that is there again must be read again, so a deleted document is not known.
        """
        with self._state.lock:
            records = self._state.ledger.get(collection, {})
            held = {path: Known(None, row.stamp, None, record=row) for path, row in records.items()}
            for id, prepared in sorted(self._state.documents.items()):
                document = prepared.document
                if document.collection != collection or document.deleted or document.path is None:
                    continue
                held[document.path] = Known(
                    id,
                    prepared.stamp,
                    document.content_hash,
                    prepared.analyzer_version,
                    document.owner,
                    document.hidden,
                    records.get(document.path),
                )
            return held

    def apply(self, *changes: Change) -> None:
        """Make all changes in their order, or none: they are made to a copy first."""
        with self._state.lock:
            after = self._state.copied()
            secret = [make(after, change) for change in changes]
            if any(secret):
                forget_boilerplate(after)
            after.changes += bool(changes)
            self._state.become(after)
            self._state.forget_vectors()

    def get(
        self,
        ids: Sequence[str],
        scope: Scope | None = None,
        parts: frozenset[Part] = WHOLE,
    ) -> dict[str, Stored]:
        """The documents with these ids that are in scope, with these parts of them."""
        with self._state.lock:
            held = [self._state.documents[id] for id in ids if id in self._state.documents]
        return {
            one.document.id: Stored(
                one.document if Part.TEXT in parts else _without_text(one.document),
                one.analyzer_version,
                one.chunks if Part.CHUNKS in parts else (),
                one.sketch if Part.SKETCH in parts and not one.document.encrypted else b"",
            )
            for one in held
            if scope is None or in_scope(one, scope)
        }

    def list(
        self,
        scope: Scope,
        sort: Sort | None = None,
        *,
        reverse: bool = False,
        after: Place | None = None,
        limit: int | None = None,
        among: Among = Among.VISIBLE,
    ) -> Sequence[Place]:
        """The next documents in scope in this order."""
        downwards = (sort != Sort.TITLE) != reverse

        def compared(one: Place, other: Place) -> int:
            return _compared(one, other, downwards)

        with self._state.lock:
            held = list(self._state.documents.values())
        places = [_place(one.document, sort) for one in held if _is_among(one, scope, among)]
        if after is not None:
            places = [place for place in places if compared(place, after) > 0]
        return sorted(places, key=cmp_to_key(compared))[:limit]

    def facets(self, scope: Scope) -> Facets:
        """How the documents in scope are spread over kinds, collections, tags and languages."""
        found = self._state.within(scope)
        spellings: dict[str, set[str]] = {}
        tagged: Counter[str] = Counter()
        for each in found:
            for tag in each.document.tags:
                spellings.setdefault(fold(tag), set()).add(tag)
            tagged.update({fold(tag) for tag in each.document.tags})
        return Facets(
            kinds=_sorted(Counter(each.document.kind.value for each in found)),
            collections=_sorted(Counter(each.document.collection for each in found)),
            tags=_sorted({min(spellings[key]): count for key, count in tagged.items()}),
            languages=_sorted(Counter(one for each in found for one in each.languages)),
        )

    def resolve(self, names: Sequence[str], scope: Scope) -> Sequence[str]:
        """Ids of the documents in scope that go by the first of the names that any goes by."""
        found = [prepared.document for prepared in self._state.within(scope)]
        for name in names:
            for field in ("id", "path", "url"):
                named = [each.id for each in found if getattr(each, field) == name]
                if named:
                    return named
            titled = [each.id for each in found if fold(each.title) == fold(name)]
            if titled:
                return titled
        ending = [name for name in names if name and "\n" not in name]
        filed = [one.id for one in found if one.path and path_ends_in(one.path, ending)]
        if filed:
            return filed
        return [one.id for one in found if names and fold(names[0]) in map(fold, one.aliases)]

    def revision(self) -> str:
        """A name for all documents: another one whenever any of them changes."""
        return str(self._state.changes)

    def stats(self, scope: Scope, *, detail: bool = False) -> Stats:
        """Counts and names over the documents in scope; `bytes` is the size of their bodies."""
        found = self._state.within(scope)
        with self._state.lock:
            bodies = [one.document.body for one in self._state.documents.values() if detail]
        return Stats(
            documents=len(found),
            languages=_sorted(Counter(one for each in found for one in each.languages)),
            kinds=frozenset(each.document.kind for each in found),
            properties=frozenset(
                fact.name for each in found for fact in facts(each.document.properties)
            ),
            bytes=sum(len(body.encode("utf-8", "replace")) for body in bodies),
            chunks=sum(len(each.chunks) for each in found) if detail else 0,
        )

    def receipt(self, owner: str, key: str) -> Receipt | None:
        """What became of the owner's request with this key, if that is still known."""
        with self._state.lock:
            return self._state.receipts.get((owner, key))

    def boilerplate(self) -> Boilerplate:
        """The boilerplate as it was last detected."""
        with self._state.lock:
            return self._state.boilerplate


def _without_text(document: Document) -> Document:
    return replace(
        document,
        body="",
        aliases=(),
        tags=(),
        headings=(),
        links=(),
        arguments=(),
        properties={},
        description="",
        summary="",
    )


def _is_among(prepared: Prepared, scope: Scope, among: Among) -> bool:
    if among == Among.VISIBLE:
        return in_scope(prepared, scope)
    document = prepared.document
    shown = replace(document, searchable=True, deleted=False, encrypted=False)
    return document.deleted == (among == Among.DELETED) and in_scope(
        replace(prepared, document=shown), scope
    )


def _place(document: Document, sort: Sort | None) -> Place:
    if sort is None:
        return Place(None, document.id)
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


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
