"""Writing through the library: saving, deleting, tagging, one transaction each.

What is checked is checked before the store is touched: the capability, the owner, the drafts.
Reading and writing are two steps, so every change names the version that it was worked out for;
if somebody else was quicker, it is worked out again, unless the caller asked for that version.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from twolane.drafting import drafted, tags_of
from twolane.drafts import Draft, Saved
from twolane.errors import (
    BadInput,
    Conflict,
    HeldInFile,
    IdTaken,
    NoSuchDocument,
    NotPermitted,
    TwolaneError,
)
from twolane.indexing import MOST_UNSETTLED
from twolane.language import fold
from twolane.model import (
    EMPTY,
    Amendment,
    Batch,
    Collection,
    Document,
    Prepared,
)
from twolane.ownership import may_see, owned, refusal
from twolane.permissions import require
from twolane.ports import Store, Stored
from twolane.preparing import prepare, recipe, reworded
from twolane.preparing.tasks import unprepared
from twolane.scopes import Capability, Scope
from twolane.settings import Settings

log = logging.getLogger("twolane")

# Two writers that keep overtaking each other would be a fault; this many times is bad luck.
_TRIES = 20

_T = TypeVar("_T")


class Saver:
    """Writes documents that are handed in; those that come from files belong to the indexer."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._settings = settings
        self._now = now

    def save(
        self, drafts: Sequence[Draft], scope: Scope, expected: Mapping[str, int] = EMPTY
    ) -> list[Saved]:
        """Add the documents or replace those with their ids, all or none.

        Of several drafts with one id the last counts.
        A document that is held just so already stays as it is.
        """
        require(scope, Capability.WRITE)
        most = self._settings.max_file_bytes
        given = [drafted(one, most_bytes=most).document for one in drafts]
        latest = {one.id: one for one in given}
        told = {one.id: one for one in self.put(list(latest.values()), scope, expected)}
        return [told[one.id] for one in given]

    def put(
        self,
        documents: Sequence[Document],
        scope: Scope,
        expected: Mapping[str, int] = EMPTY,
        *,
        refused: dict[str, TwolaneError] | None = None,
        ready: Mapping[str, Prepared] = EMPTY,
        now: bool = True,
    ) -> list[Saved]:
        """Add or replace documents that came from drafts, each id once.

        With `refused`, those that may not or cannot be saved are left out and put there, by id.
        `ready` are those that were prepared beforehand, by id.
        Without `now`, times that nobody gave stay unknown.
        """
        require(scope, Capability.WRITE)
        theirs = []
        for one in documents:
            try:
                theirs.append(owned(one, scope))
            except NotPermitted as error:
                if refused is None:
                    raise
                refused[one.id] = error
        return self._repeated(
            lambda: self._put(theirs, scope, expected, refused, ready, now), anew=not expected
        )

    def delete(self, ids: Sequence[str], scope: Scope, expected: int | None) -> list[Saved]:
        """Take the documents out of everything; `restore` brings them back."""

        def change(held: Document) -> Amendment | None:
            return None if held.deleted else Amendment(held.id, held.version, deleted=True)

        return self._amend(ids, scope, change, expected, deleted=True)

    def restore(self, ids: Sequence[str], scope: Scope, expected: int | None) -> list[Saved]:
        """Bring deleted documents back as they were."""

        def change(held: Document) -> Amendment | None:
            return Amendment(held.id, held.version, deleted=False) if held.deleted else None

        return self._amend(ids, scope, change, expected, deleted=True)

    def archive(
        self, ids: Sequence[str], scope: Scope, expected: int | None, *, archived: bool
    ) -> list[Saved]:
        """Put the documents aside, or take them back."""

        def change(held: Document) -> Amendment | None:
            if held.archived == archived:
                return None
            return Amendment(held.id, held.version, archived=archived)

        return self._amend(ids, scope, change, expected)

    def touch(self, ids: Sequence[str], scope: Scope, at: datetime | None) -> list[Saved]:
        """Count a use of the documents, and note when it was; this makes no new version."""
        moment = datetime.fromtimestamp((at or self._now()).timestamp(), UTC)

        def change(held: Document) -> Amendment | None:
            # The same report again is no second use; one that comes late is a use like any other.
            return None if held.used == moment else Amendment(held.id, held.version, used=moment)

        return self._amend(ids, scope, change, None, files=True)

    def retag(
        self,
        ids: Sequence[str],
        scope: Scope,
        expected: int | None,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
    ) -> list[Saved]:
        """Add tags to the documents, and take tags from them."""
        added, gone = tags_of(add), {fold(tag) for tag in tags_of(remove)}

        def change(held: Document) -> Amendment | None:
            if held.encrypted:
                return None
            kept = [tag for tag in held.tags if fold(tag) not in gone]
            tags = tags_of((*kept, *added))
            return None if tags == held.tags else Amendment(held.id, held.version, tags=tags)

        return self._amend(ids, scope, change, expected)

    def rename_tag(self, old: str, new: str, scope: Scope) -> list[Saved]:
        """Give a tag another name in all documents, and with it the tags below it."""
        require(scope, Capability.WRITE)
        before, after = _one_tag(old), _one_tag(new)
        folded = fold(before)

        def renamed(tag: str) -> str:
            if fold(tag) == folded:
                return after
            below = "/".join(tag.split("/")[before.count("/") + 1 :])
            return f"{after}/{below}" if fold(tag).startswith(f"{folded}/") else tag

        def change(held: Document) -> Amendment | None:
            tags = tags_of(map(renamed, held.tags))
            return None if tags == held.tags else Amendment(held.id, held.version, tags=tags)

        where = Scope(
            owner=scope.owner, collections=scope.collections, tags=(before,), archived=True
        )
        rooted = self._rooted()
        ids = [
            id for deleted in (False, True) for id in self._store.inventory(where, deleted=deleted)
        ]
        ours = [
            id
            for id, one in self._store.stored(ids).items()
            if one.document.collection not in rooted
        ]
        return self._amend(ours, scope, change, None, deleted=True)

    def purge(self, ids: Sequence[str], scope: Scope) -> list[Saved]:
        """Delete the documents for good, with every vector that served them alone."""

        def purged() -> list[Saved]:
            held = self._demanded(ids, scope, deleted=True)
            self._store.apply(
                *(
                    Batch(
                        collection,
                        purges=[one.id for one in documents],
                        expected={one.id: one.version for one in documents},
                    )
                    for collection, documents in _by_collection(held).items()
                )
            )
            return [Saved(one.id, one.version, changed=True) for one in held]

        require(scope, Capability.WRITE)
        return self._repeated(purged, anew=True)

    def _put(
        self,
        documents: Sequence[Document],
        scope: Scope,
        expected: Mapping[str, int],
        refused: dict[str, TwolaneError] | None,
        ready: Mapping[str, Prepared],
        now: bool,
    ) -> list[Saved]:
        held = self._store.stored([one.id for one in documents])
        rooted = self._rooted()
        reasons = {
            one.id: reason
            for one in documents
            if (reason := refusal(one, held.get(one.id), scope, rooted)) is not None
        }
        if reasons and refused is None:
            raise next(iter(reasons.values()))
        if refused is not None:
            refused.update(reasons)
            documents = [one for one in documents if one.id not in reasons]
        for id, version in expected.items():
            there = held[id].document.version if id in held else 0
            if version != there:
                raise Conflict(id, version, there)
        moment = datetime.fromtimestamp(self._now().timestamp(), UTC) if now else None
        forms = self._store.forms().keys if self._settings.forms else frozenset()
        saved, changed = [], []
        for document in documents:
            before = held.get(document.id)
            after = _merged(document, before.document if before else None, moment)
            same = before is not None and self._is_same(before, document, after)
            if before is not None and same:
                saved.append(Saved(document.id, before.document.version, changed=False))
                continue
            try:
                changed.append(self._prepared(after, ready.get(document.id), forms))
            except Exception as error:
                if refused is None or isinstance(error, TwolaneError | MemoryError):
                    raise
                log.warning("a document could not be analysed", exc_info=error)
                refused[document.id] = unprepared(document.id, error)
                continue
            saved.append(Saved(document.id, after.version, changed=True, created=before is None))
        self._apply(changed, held)
        return saved

    def _apply(self, changed: Sequence[Prepared], held: Mapping[str, Stored]) -> None:
        if not changed:
            return
        grouped: dict[str, list[Prepared]] = {}
        for one in changed:
            grouped.setdefault(one.document.collection, []).append(one)
        known = {one.name for one in self._store.collections()}
        for name, upserts in grouped.items():
            if name not in known:
                self._store.add_collection(Collection(name, kind=upserts[0].document.kind))
        versions = {id: one.document.version for id, one in held.items()}
        self._store.apply(
            *(
                Batch(
                    name,
                    upserts=upserts,
                    expected={(id := one.document.id): versions.get(id, 0) for one in upserts},
                )
                for name, upserts in grouped.items()
            )
        )
        self._store.settle(beyond=MOST_UNSETTLED)

    def _prepared(
        self, document: Document, ready: Prepared | None, forms: frozenset[int]
    ) -> Prepared:
        made = ready or prepare(document, self._settings)
        chunks = reworded(document, made.chunks, self._settings, forms) if forms else made.chunks
        return replace(made, document=document, chunks=chunks)

    def _is_same(self, before: Stored, given: Document, after: Document) -> bool:
        if before.recipe != recipe(self._settings):
            return False
        old = before.document
        updated = old.updated if given.updated is None else after.updated
        return replace(after, version=old.version, updated=updated) == old

    def _amend(
        self,
        ids: Sequence[str],
        scope: Scope,
        change: Callable[[Document], Amendment | None],
        expected: int | None,
        *,
        deleted: bool = False,
        files: bool = False,
    ) -> list[Saved]:
        require(scope, Capability.WRITE)

        def amended() -> list[Saved]:
            held = self._demanded(ids, scope, deleted=deleted, files=files)
            for one in held:
                if expected is not None and one.version != expected:
                    raise Conflict(one.id, expected, one.version)
            changes = {one.id: change(one) for one in held}
            self._store.amend([one for one in changes.values() if one is not None])
            self._store.settle(beyond=MOST_UNSETTLED)
            return [_told(one, changes[one.id]) for one in held]

        return self._repeated(amended, anew=expected is None)

    def _demanded(
        self, ids: Sequence[str], scope: Scope, *, deleted: bool = False, files: bool = False
    ) -> list[Document]:
        """The documents with these ids that the scope may change; one that is not there raises."""
        held = self._store.stored(ids)
        rooted = frozenset() if files else self._rooted()
        found = []
        for id in dict.fromkeys(ids):
            document = held[id].document if id in held else None
            if (
                document is None
                or not may_see(document, scope)
                or (document.deleted and not deleted)
            ):
                raise NoSuchDocument(id)
            if document.collection in rooted:
                raise HeldInFile(id, document.collection)
            found.append(document)
        return found

    def _rooted(self) -> frozenset[str]:
        return frozenset(one.name for one in self._store.collections() if one.root is not None)

    def _repeated(self, work: Callable[[], _T], *, anew: bool) -> _T:
        """The work; done `anew` if somebody else was quicker."""
        for _ in range(_TRIES - 1 if anew else 0):
            try:
                return work()
            except IdTaken:
                raise
            except Conflict:
                continue
        return work()


def _merged(document: Document, before: Document | None, now: datetime | None) -> Document:
    """The document with what stays as it was where nothing else is said."""
    if before is None and now is None:
        return document
    return replace(
        document,
        owner=document.owner if document.owner is not None or before is None else before.owner,
        created=document.created or (before.created if before else now),
        updated=document.updated or now or (before.updated if before else None),
        used=document.used or (before.used if before else None),
        uses=document.uses or (before.uses if before else 0),
        version=before.version + 1 if before else 1,
    )


def _told(held: Document, change: Amendment | None) -> Saved:
    if change is None:
        return Saved(held.id, held.version, changed=False)
    return Saved(held.id, held.version + change.counts, changed=True)


def _by_collection(documents: Iterable[Document]) -> dict[str, list[Document]]:
    grouped: dict[str, list[Document]] = {}
    for document in documents:
        grouped.setdefault(document.collection, []).append(document)
    return grouped


def _one_tag(text: str) -> str:
    tags = tags_of([text])
    if not tags:
        raise BadInput(f"{text!r} is not a tag; a tag has at least one character beside # and /")
    return tags[0]
