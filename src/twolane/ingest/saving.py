"""Writing through the library: saving, deleting, tagging, each call one transaction.

What is checked is checked before the store is touched: the capability, the owner, the drafts.
Reading and writing are two steps, so every change names the version that it was worked out for;
if somebody else was quicker, it is worked out again: who asked for that version is then refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from twolane.ingest.analysis import (
    analyzer_version,
    boilerplate_keys,
    prepare,
    unprepared,
    without_boilerplate,
)
from twolane.ingest.drafting import drafted, merged, one_tag, outlined, tags_of
from twolane.model.document import (
    EMPTY,
    Amendment,
    Batch,
    Collection,
    Document,
    Prepared,
    amended,
)
from twolane.model.draft import Changes, Draft, Once, Receipt, Saved
from twolane.model.errors import (
    BadDraft,
    BadInput,
    Conflict,
    HeldInFile,
    KeyReused,
    NoSuchDocument,
    NotPermitted,
    NotYours,
    TwolaneError,
)
from twolane.model.scope import ANYWHERE, Capability, Scope, require
from twolane.ports.documents import (
    Among,
    Change,
    DocumentStore,
    KeepReceipt,
    PutCollection,
    Stored,
)
from twolane.settings import Settings
from twolane.text.tokens import fold

log = logging.getLogger("twolane")

# Two writers that keep overtaking each other would be a fault; this many times is bad luck.
_TRIES = 20

# Who tries again tries soon; after this long the same key is a new request.
REMEMBERED = timedelta(days=1)

LONGEST_KEY = 200

# What is kept about a document and is no part of what it says.
_ABOUT = ("archived", "searchable", "tags", "used", "uses", "updated")

_T = TypeVar("_T")


class Staged:
    """Documents as they will be once the changes are made; until `commit` nobody else sees any."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._changes: list[Change] = []
        # None: deleted for good.
        self._after: dict[str, Stored | None] = {}
        self._added: set[str] = set()

    def get(self, ids: Sequence[str]) -> dict[str, Stored]:
        """The documents with these ids, hidden or not."""
        found = self._documents.get([id for id in ids if id not in self._after])
        staged = {id: self._after[id] for id in ids if id in self._after}
        return found | {id: one for id, one in staged.items() if one is not None}

    def collections(self) -> set[str]:
        """The names of all collections."""
        return {collection.name for collection in self._documents.collections()} | self._added

    def add(self, *changes: Change) -> None:
        """Change documents or add collections, after all changes before."""
        for change in changes:
            if isinstance(change, Batch):
                self._after |= dict.fromkeys((*change.deletes, *change.purges))
                for upsert in change.upserts:
                    self._after[upsert.document.id] = Stored(
                        upsert.document, upsert.analyzer_version
                    )
            elif isinstance(change, Amendment):
                stored = self.get([change.id])[change.id]
                self._after[change.id] = Stored(
                    amended(stored.document, change), stored.analyzer_version
                )
            elif isinstance(change, PutCollection):
                self._added.add(change.collection.name)
        self._changes += changes

    def commit(self, *others: Change) -> None:
        """Make all changes and the others, or none; Conflict if somebody else was quicker."""
        self._documents.apply(*self._changes, *others)


class Saver:
    """Writes documents that are handed in; those that come from files belong to the indexer."""

    def __init__(
        self,
        documents: DocumentStore,
        settings: Settings,
        staged: Staged | None = None,
        snapshot: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`staged` collects the changes, if they are part of something larger.

        What has to be known before they are made is read within one `snapshot`.
        """
        self._documents = documents
        self._settings = settings
        self._staged = staged
        self._snapshot = snapshot

    def in_one_transaction(
        self,
        work: Callable[[Saver, Staged], _T],
        receipt: Callable[[_T], Change] | None = None,
    ) -> _T:
        """What the work comes to, with all of its changes and the receipt made at once, or none.

        It is done again if somebody else was quicker.
        """
        if self._staged is not None:
            return work(self, self._staged)
        left = _TRIES
        while True:
            staged = Staged(self._documents)
            with self._snapshot():
                done = work(Saver(self._documents, self._settings, staged), staged)
            left -= 1
            try:
                staged.commit(*((receipt(done),) if receipt else ()))
            except Conflict:
                if not left:
                    raise
            else:
                return done

    def save(
        self, drafts: Sequence[Draft], scope: Scope, expected: Mapping[str, int] = EMPTY
    ) -> list[Saved]:
        """Add the documents or replace those with their ids, all or none.

        Of several drafts with one id the last counts.
        A document that is stored just so already stays as it is.
        """
        require(scope, Capability.WRITE)
        most = self._settings.index.max_file_bytes
        given = [drafted(draft, most_bytes=most).document for draft in drafts]
        latest = {one.id: one for one in given}
        saved = {one.id: one for one in self.put(list(latest.values()), scope, expected)}
        return [saved[one.id] for one in given]

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
        for document in documents:
            try:
                theirs.append(owned(document, scope))
            except NotPermitted as error:
                if refused is None:
                    raise
                refused[document.id] = error
        return self.in_one_transaction(
            lambda saver, staged: saver._put(  # noqa: SLF001 - it is one of us
                staged, theirs, scope, expected, refused, ready, now
            )
        )

    def delete(self, ids: Sequence[str], scope: Scope, expected: int | None) -> list[Saved]:
        """Take the documents out of everything; `restore` brings them back."""
        return self._amend(
            ids, scope, lambda one: _other(one, deleted=True), expected, deleted=True
        )

    def restore(self, ids: Sequence[str], scope: Scope, expected: int | None) -> list[Saved]:
        """Bring deleted documents back as they were."""
        return self._amend(
            ids, scope, lambda one: _other(one, deleted=False), expected, deleted=True
        )

    def archive(
        self, ids: Sequence[str], scope: Scope, expected: int | None, *, archived: bool
    ) -> list[Saved]:
        """Put the documents aside, or take them back."""
        return self._amend(ids, scope, lambda one: _other(one, archived=archived), expected)

    def touch(self, ids: Sequence[str], scope: Scope, at: datetime | None) -> list[Saved]:
        """Count a use of the documents, and note when it was; this makes no new version."""
        moment = datetime.fromtimestamp((at or datetime.now(UTC)).timestamp(), UTC)
        # The same report again is no second use; one that comes late is a use like any other.
        return self._amend(ids, scope, lambda one: _other(one, used=moment), None, files=True)

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

        def change(document: Document) -> Amendment | None:
            if document.encrypted:
                return None
            kept = [tag for tag in document.tags if fold(tag) not in gone]
            return _other(document, tags=tags_of((*kept, *added)))

        return self._amend(ids, scope, change, expected)

    def rename_tag(self, old: str, new: str, scope: Scope) -> list[Saved]:
        """Give a tag another name in all documents, and with it the tags below it."""
        require(scope, Capability.WRITE)
        before, after = one_tag(old), one_tag(new)
        folded = fold(before)

        def renamed(tag: str) -> str:
            if fold(tag) == folded:
                return after
            below = "/".join(tag.split("/")[before.count("/") + 1 :])
            return f"{after}/{below}" if fold(tag).startswith(f"{folded}/") else tag

        def change(document: Document) -> Amendment | None:
            return _other(document, tags=tags_of(map(renamed, document.tags)))

        where = Scope(
            owner=scope.owner, collections=scope.collections, tags=(before,), archived=True
        )
        rooted = self._rooted()
        ids = [
            one.id
            for among in (Among.KEPT, Among.DELETED)
            for one in self._documents.list(where, among=among)
        ]
        document = self._documents.get(ids, parts=frozenset())
        ours = [id for id, one in document.items() if one.document.collection not in rooted]
        return self._amend(ours, scope, change, None, deleted=True)

    def purge(self, ids: Sequence[str], scope: Scope) -> list[Saved]:
        """Delete the documents for good, with every vector that served them alone."""

        def purged(saver: Saver, staged: Staged) -> list[Saved]:
            documents = saver.changeable(ids, scope, deleted=True)
            staged.add(
                *(
                    Batch(
                        collection,
                        purges=[document.id for document in own],
                        expected={document.id: document.version for document in own},
                    )
                    for collection, own in _by_collection(documents).items()
                )
            )
            return [_outcome(document, changed=True) for document in documents]

        require(scope, Capability.WRITE)
        return self.in_one_transaction(purged)

    def all(self, changes: Changes, scope: Scope) -> list[Saved]:
        """Make all the changes, or none."""
        require(scope, Capability.WRITE)

        def made(saver: Saver, _: Staged) -> list[Saved]:
            return [
                *(saver.save(changes.save, scope) if changes.save else ()),
                *saver.delete(changes.delete, scope, None),
                *saver.restore(changes.restore, scope, None),
                *saver.archive(changes.archive, scope, None, archived=True),
                *saver.archive(changes.unarchive, scope, None, archived=False),
                *saver.touch(changes.touch, scope, None),
            ]

        return self.in_one_transaction(made)

    def revise(
        self,
        id: str,
        edit: Callable[[Draft], Draft],
        scope: Scope,
        expected: int | None,
        *,
        deleted: bool,
    ) -> Saved:
        """Save a document as `edit` makes it of the one that is there.

        With `deleted`, one that was deleted is brought back by that.
        """

        def revised(saver: Saver, _: Staged) -> Saved:
            (document,) = saver.changeable([id], scope, deleted=deleted)
            before = Draft.of(document)
            # What is changed was changed now, unless the edit says when.
            draft = edit(replace(before, updated=None))
            about = {name: getattr(before, name) for name in _ABOUT}
            if draft.updated is None and replace(draft, **about) == before:
                # Putting it aside, hiding it or tagging it is no new text.
                draft = replace(draft, updated=document.updated)
            version = document.version if expected is None else expected
            return saver.save([draft], scope, {id: version})[0]

        require(scope, Capability.WRITE)
        return self.in_one_transaction(revised)

    def once(
        self, once: Once | None, scope: Scope, work: Callable[[Saver], list[Saved]]
    ) -> list[Saved]:
        """What the work comes to; for a key that was sent before, what it came to then."""
        require(scope, Capability.WRITE)
        if once is None:
            return work(self)
        if not (once.key.isascii() and once.key.isprintable() and 0 < len(once.key) <= LONGEST_KEY):
            raise BadInput(f"a key is 1 to {LONGEST_KEY} letters, digits and signs of ASCII")
        since = datetime.now(UTC) - REMEMBERED
        if (before := self._before(once, scope, since)) is not None:
            return before

        def receipt(saved: list[Saved]) -> KeepReceipt:
            done = Receipt(scope.owner or "", once, tuple(saved), datetime.now(UTC))
            return KeepReceipt(done, since)

        try:
            return self.in_one_transaction(lambda saver, _: work(saver), receipt)
        except TwolaneError:
            # The same request may have come twice at once, and the other one was quicker.
            if (before := self._before(once, scope, since)) is not None:
                return before
            raise

    def _before(self, once: Once, scope: Scope, since: datetime) -> list[Saved] | None:
        """What came of the same request since then, if it was made."""
        receipt = self._documents.receipt(scope.owner or "", once.key)
        if receipt is None or receipt.at < since:
            return None
        if receipt.once.asked != once.asked:
            raise KeyReused(once.key)
        return list(receipt.saved)

    def _put(
        self,
        staged: Staged,
        documents: Sequence[Document],
        scope: Scope,
        expected: Mapping[str, int],
        refused: dict[str, TwolaneError] | None,
        ready: Mapping[str, Prepared],
        now: bool,
    ) -> list[Saved]:
        stored = staged.get([one.id for one in documents])
        for id, version in expected.items():
            # What somebody may not see is as good as not there.
            seen = id in stored and may_see(stored[id].document, scope)
            there = stored[id].document.version if seen else 0
            if version != there:
                raise Conflict(id, version, there)
        rooted = self._rooted()
        reasons = {
            one.id: reason
            for one in documents
            if (reason := refusal(one, stored.get(one.id), scope, rooted)) is not None
        }
        if reasons and refused is None:
            raise next(iter(reasons.values()))
        if refused is not None:
            refused.update(reasons)
            documents = [one for one in documents if one.id not in reasons]
        moment = datetime.fromtimestamp(datetime.now(UTC).timestamp(), UTC) if now else None
        keys = boilerplate_keys(self._documents, self._settings)
        saved, changed = [], []
        for document in documents:
            before = stored.get(document.id)
            after = merged(document, before.document if before else None, moment)
            if before is not None and self._is_same(before, document, after):
                saved.append(_outcome(before.document, changed=False))
                continue
            try:
                made = ready.get(document.id) or prepare(after, self._settings)
                made = replace(made, document=after)
                changed.append(without_boilerplate(made, self._settings, keys))
            except Exception as error:
                if refused is None or isinstance(error, TwolaneError | MemoryError):
                    raise
                log.warning("a document could not be analysed", exc_info=error)
                refused[document.id] = unprepared(document.id, error)
                continue
            saved.append(_outcome(after, changed=True, created=before is None))
        _stage(staged, changed, stored)
        return saved

    def _is_same(self, before: Stored, given: Document, after: Document) -> bool:
        if before.analyzer_version != analyzer_version(self._settings):
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

        def amend(saver: Saver, staged: Staged) -> list[Saved]:
            documents = saver.changeable(ids, scope, deleted=deleted, files=files)
            for document in documents:
                if expected is not None and document.version != expected:
                    raise Conflict(document.id, expected, document.version)
            changes = {document.id: change(document) for document in documents}
            staged.add(*(one for one in changes.values() if one is not None))
            return [_amended(document, changes[document.id]) for document in documents]

        return self.in_one_transaction(amend)

    def changeable(
        self, ids: Sequence[str], scope: Scope, *, deleted: bool = False, files: bool = False
    ) -> list[Document]:
        """The documents with these ids that the scope may change; one that is not there raises."""
        stored = self._staged.get(ids) if self._staged else self._documents.get(ids)
        rooted = frozenset() if files else self._rooted()
        found = []
        for id in dict.fromkeys(ids):
            document = stored[id].document if id in stored else None
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
        return frozenset(
            collection.name
            for collection in self._documents.collections()
            if collection.root is not None
        )


def _stage(staged: Staged, changed: Sequence[Prepared], stored: Mapping[str, Stored]) -> None:
    """Save what changed, each in its collection, which is made if it is not there."""
    grouped: dict[str, list[Prepared]] = {}
    for one in changed:
        grouped.setdefault(one.document.collection, []).append(one)
    versions = {id: one.document.version for id, one in stored.items()}
    known = staged.collections() if grouped else set()
    for name, upserts in grouped.items():
        if name not in known:
            staged.add(PutCollection(Collection(name, kind=upserts[0].document.kind)))
        expected = {(id := upsert.document.id): versions.get(id, 0) for upsert in upserts}
        staged.add(Batch(name, upserts=upserts, expected=expected))


def _outcome(document: Document, *, changed: bool, created: bool = False) -> Saved:
    return Saved(document.id, document.version, changed, created, document.content_hash)


def _other(document: Document, **values: Any) -> Amendment | None:
    """The change that gives the document these values; None if it has them already."""
    if all(getattr(document, name) == value for name, value in values.items()):
        return None
    return Amendment(document.id, document.version, **values)


def _amended(document: Document, change: Amendment | None) -> Saved:
    if change is None:
        return _outcome(document, changed=False)
    return _outcome(replace(document, version=document.version + change.counts), changed=True)


def _by_collection(documents: Iterable[Document]) -> dict[str, list[Document]]:
    grouped: dict[str, list[Document]] = {}
    for document in documents:
        grouped.setdefault(document.collection, []).append(document)
    return grouped


# ------------------------------------------------------- whose a document is, and who may change it


def refusal(
    document: Document, before: Stored | None, scope: Scope, rooted: frozenset[str]
) -> TwolaneError | None:
    """Why the scope may not save the document, or None if it may.

    An owner hears the same of everything that they may not see.
    """
    if scope.owner is not None:
        theirs = before is not None and before.document.owner == scope.owner
        if not theirs and (before or document.id.partition("/")[0] in rooted):
            return NotYours("id", document.id)
        moves = before is None or before.document.collection != document.collection
        if moves and document.collection in rooted:
            return NotYours("collection", document.collection)
    if before is None and document.id.partition("/")[0] in rooted:
        return BadDraft(document.id, "id", "ids that begin so belong to files; use another")
    if before is None and document.collection in rooted:
        reason = f"{document.collection!r} holds the files of a folder; choose another"
        return BadDraft(document.id, "collection", reason)
    for name in {document.collection, (before.document if before else document).collection}:
        if name in rooted:
            return HeldInFile(document.id, name)
        if scope.collections and name not in scope.collections:
            return NotPermitted(f"{Capability.WRITE} in the collection {name}")
    return None


def owned(document: Document, scope: Scope) -> Document:
    """The document as that of the scope's owner; somebody else's is refused."""
    if scope.owner is None or document.owner == scope.owner:
        return document
    if document.owner is not None:
        raise NotPermitted(f"{Capability.WRITE} for {document.owner}")
    return replace(document, owner=scope.owner)


def may_see(document: Document, scope: Scope) -> bool:
    """Whether the document is there for the scope."""
    return (scope.owner is None or document.owner == scope.owner) and (
        not scope.collections or document.collection in scope.collections
    )


# ----------------------------------------------------------------------------------- after a repair


def renew(documents: DocumentStore, settings: Settings) -> None:
    """Give documents that were never analysed their words and passages, as a save does."""
    ids = [
        one.id
        for among in (Among.KEPT, Among.DELETED)
        for one in documents.list(ANYWHERE, among=among)
    ]
    for at in range(0, len(ids), settings.index.batch):
        for one in documents.get(ids[at : at + settings.index.batch]).values():
            if not one.analyzer_version:
                # Who saved it anew meanwhile has done what is to be done here.
                with suppress(Conflict):
                    rewrite(documents, settings, outlined(one.document))


def rewrite(documents: DocumentStore, settings: Settings, document: Document) -> None:
    """Analyse a document anew and keep it as this version; Conflict if there is a later one."""
    made = prepare(document, settings)
    own = without_boilerplate(made, settings, boilerplate_keys(documents, settings))
    # The stamp of its file stays, so that the file is read again when it changes.
    known = documents.known(document.collection).get(document.path or "")
    renewed = replace(own, stamp=known.stamp if known else None)
    expected = {document.id: document.version}
    documents.apply(Batch(document.collection, upserts=[renewed], expected=expected))
