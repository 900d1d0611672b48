"""Changes that are more than one step: many at once, a part of a document, and once for a key.

Each is one transaction, so whoever is told that it was refused finds everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from twolane.ingest.saving import Saver
from twolane.model.draft import Changes, Draft, Once, Receipt, Saved
from twolane.model.errors import BadInput, KeyReused, TwolaneError
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import DocumentStore, KeepReceipt

# Who tries again tries soon; after this long the same key is a new request.
REMEMBERED = timedelta(days=1)

LONGEST_KEY = 200

# What a document does not say itself.
_ABOUT = ("archived", "searchable", "tags", "used", "uses", "updated")


class Changer:
    """Puts the steps of a saver together."""

    def __init__(
        self,
        documents: DocumentStore,
        saver: Saver,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._documents = documents
        self._saver = saver
        self._now = now

    def all(self, changes: Changes, scope: Scope, saver: Saver | None = None) -> list[Saved]:
        """Make all the changes, or none; by a saver, if they are part of something larger."""
        require(scope, Capability.WRITE)

        def made(saver: Saver, _: object) -> list[Saved]:
            return [
                *(saver.save(changes.save, scope) if changes.save else ()),
                *saver.delete(changes.delete, scope, None),
                *saver.restore(changes.restore, scope, None),
                *saver.archive(changes.archive, scope, None, archived=True),
                *saver.archive(changes.unarchive, scope, None, archived=False),
                *saver.touch(changes.touch, scope, None),
            ]

        return (saver or self._saver).together(made)

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

        def revised(saver: Saver, _: object) -> Saved:
            (held,) = saver.demanded([id], scope, deleted=deleted)
            before = Draft.of(held)
            # What is changed was changed now, unless the edit says when.
            draft = edit(replace(before, updated=None))
            if draft.updated is None and _says_the_same(draft, before):
                # Putting it aside, hiding it or tagging it is no new text.
                draft = replace(draft, updated=held.updated)
            version = held.version if expected is None else expected
            return saver.save([draft], scope, {id: version})[0]

        require(scope, Capability.WRITE)
        return self._saver.together(revised)

    def once(
        self, once: Once | None, scope: Scope, work: Callable[[Saver], list[Saved]]
    ) -> list[Saved]:
        """What the work comes to; for a key that was sent before, what it came to then."""
        require(scope, Capability.WRITE)
        if once is None:
            return work(self._saver)
        if not (once.key.isascii() and once.key.isprintable() and 0 < len(once.key) <= LONGEST_KEY):
            raise BadInput(f"a key is 1 to {LONGEST_KEY} letters, digits and signs of ASCII")
        since = self._now() - REMEMBERED
        if (before := self._before(once, scope, since)) is not None:
            return before

        def receipt(saved: list[Saved]) -> KeepReceipt:
            owner = scope.owner or ""
            return KeepReceipt(Receipt(owner, once, tuple(saved), self._now()), since)

        try:
            return self._saver.together(lambda saver, _: work(saver), receipt)
        except TwolaneError:
            # The same request may have come twice at once, and the other one was quicker.
            if (before := self._before(once, scope, since)) is not None:
                return before
            raise

    def _before(self, once: Once, scope: Scope, since: datetime) -> list[Saved] | None:
        held = self._documents.receipt(scope.owner or "", once.key)
        if held is None or held.at < since:
            return None
        if held.once.asked != once.asked:
            raise KeyReused(once.key)
        return list(held.saved)


def _says_the_same(draft: Draft, before: Draft) -> bool:
    """Whether only what is kept about a document differs, and nothing that it says."""
    about = {name: getattr(before, name) for name in _ABOUT}
    return replace(draft, **about) == before
