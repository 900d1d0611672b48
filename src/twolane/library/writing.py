"""Writing through the library: what is saved here is searchable when the call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from twolane.library.held import LOCAL, Held
from twolane.model.document import EMPTY, Document
from twolane.model.draft import Changes, Draft, Once, Saved
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import Among

if TYPE_CHECKING:
    # These are slow to import, and a search does not need them.
    from twolane.ingest.changing import Changer
    from twolane.ingest.saving import Saver


class Writing(Held):
    """The changes; each is one transaction, asked for in a scope whose owner it belongs to.

    `expected_version` makes a change conditional: if the document has another version by now,
    nothing happens and `Conflict` is raised.
    `once` names a request: for a day, the same one again is answered as it was the first time,
    and not done again.
    """

    def save(
        self,
        draft: Draft | Document,
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
        once: Once | None = None,
    ) -> Saved:
        """Add a document, or replace the one with its id.

        `expected_version=0` saves it only if it is new.
        """
        expected = EMPTY if expected_version is None else {draft.id: expected_version}
        return self.save_all([draft], scope=scope, expected_versions=expected, once=once)[0]

    def save_all(
        self,
        drafts: Iterable[Draft | Document],
        *,
        scope: Scope = LOCAL,
        expected_versions: Mapping[str, int] = EMPTY,
        once: Once | None = None,
    ) -> list[Saved]:
        """Add or replace many documents, all or none."""
        given = [Draft.of(one) if isinstance(one, Document) else one for one in drafts]

        def save(saver: Saver) -> list[Saved]:
            return saver.save(given, scope, expected_versions)

        return self._done(self._changer.once(once, scope, save))

    def change_all(
        self, changes: Changes, *, scope: Scope = LOCAL, once: Once | None = None
    ) -> list[Saved]:
        """Make many changes of several kinds, all or none."""
        return self._done(
            self._changer.once(once, scope, lambda saver: self._changer.all(changes, scope, saver))
        )

    def revise(
        self,
        id: str,
        edit: Callable[[Draft], Draft],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
        deleted: bool = False,
    ) -> Saved:
        """Save the document with this id as `edit` makes it of what is there.

        With `deleted`, one that was deleted is brought back by that.
        `edit` may be called again if somebody else was quicker.
        """
        saved = self._changer.revise(id, edit, scope, expected_version, deleted=deleted)
        return self._done([saved])[0]

    def delete(
        self, ids: str | Sequence[str], *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Take documents out of every lane, list and count; `restore` brings them back."""
        return self._saver.delete(_listed(ids), scope, expected_version)

    def restore(
        self, ids: str | Sequence[str], *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Bring deleted documents back as they were."""
        return self._done(self._saver.restore(_listed(ids), scope, expected_version))

    def deleted(self, *, scope: Scope = LOCAL) -> list[Document]:
        """The deleted documents that can be restored, by id.

        Notes that are out of sight because their files are gone come back with their files.
        """
        require(scope, Capability.WRITE)
        documents = self._stores.documents
        rooted = {one.name for one in documents.collections() if one.root is not None}
        ids = [one.id for one in documents.list(scope, among=Among.DELETED)]
        held = documents.get(ids)
        found = [held[id].document for id in ids if id in held]
        return [one for one in found if one.collection not in rooted]

    def purge(self, ids: str | Sequence[str], *, scope: Scope = LOCAL) -> list[Saved]:
        """Delete documents for good, with their texts and vectors."""
        return self._saver.purge(_listed(ids), scope)

    def archive(
        self, ids: str | Sequence[str], *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Put documents aside: a search finds them only if its scope asks."""
        return self._saver.archive(_listed(ids), scope, expected_version, archived=True)

    def unarchive(
        self, ids: str | Sequence[str], *, scope: Scope = LOCAL, expected_version: int | None = None
    ) -> list[Saved]:
        """Take documents back from the archive."""
        return self._saver.archive(_listed(ids), scope, expected_version, archived=False)

    def touch(
        self, ids: str | Sequence[str], *, scope: Scope = LOCAL, at: datetime | None = None
    ) -> list[Saved]:
        """Count a use of documents, now or `at` that time; their versions stay."""
        return self._saver.touch(_listed(ids), scope, at)

    def add_tags(
        self,
        ids: str | Sequence[str],
        tags: Iterable[str],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
    ) -> list[Saved]:
        """Give documents these tags beside those that they have."""
        return self._saver.retag(_listed(ids), scope, expected_version, add=tags)

    def remove_tags(
        self,
        ids: str | Sequence[str],
        tags: Iterable[str],
        *,
        scope: Scope = LOCAL,
        expected_version: int | None = None,
    ) -> list[Saved]:
        """Take these tags from documents."""
        return self._saver.retag(_listed(ids), scope, expected_version, remove=tags)

    def rename_tag(self, old: str, new: str, *, scope: Scope = LOCAL) -> list[Saved]:
        """Give a tag another name wherever it stands, and with it the tags below it.

        Documents that come from files keep theirs: their tags are written in the files.
        """
        return self._saver.rename_tag(old, new, scope)

    def _done(self, saved: list[Saved]) -> list[Saved]:
        """What was saved; its passages get their vectors now if that is quick, else later."""
        self._embed_soon([one.id for one in saved if one.changed])
        return saved

    @cached_property
    def _saver(self) -> Saver:
        from twolane.ingest.saving import Saver

        return Saver(self._stores.documents, self.settings)

    @cached_property
    def _changer(self) -> Changer:
        from twolane.ingest.changing import Changer

        return Changer(self._stores.documents, self._saver)


def _listed(ids: str | Sequence[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)
