"""Changes to documents, collections and what is remembered, inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable

from twolane.model.document import Amendment, Batch
from twolane.ports.documents import (
    Change,
    KeepBoilerplate,
    KeepReceipt,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.stores.sql.changing import (
    amend,
    collection_row,
    demand_versions,
    keep_boilerplate,
    keep_ledger,
    keep_receipt,
    put_collection,
    refuse_strays,
    rename_collection,
    steps,
)
from twolane.stores.sql.document_rows import dumped_texts
from twolane.stores.sqlite.database import Session
from twolane.stores.sqlite.document_rows import packed
from twolane.stores.sqlite.seals import seal_rows
from twolane.stores.sqlite.versions import (
    forget_vectors,
    free_row,
    hold_text,
    next_revision,
    wipe,
)
from twolane.stores.sqlite.writing import write, write_tags

# A note that moved goes on as what it was.
_MOVE = """
UPDATE documents SET used = coalesce(documents.used, old.used), uses = documents.uses + old.uses,
    owner = coalesce(documents.owner, old.owner), archived = documents.archived OR old.archived
FROM documents AS old
WHERE documents.id = ? AND old.id = ? AND old.collection = documents.collection"""

_ROWS_OF = "SELECT row, id FROM documents WHERE id = ANY(?)"

# The row leaves the full-text index before its tags change and returns with all of them,
# so that each document is put into the index once, however many tags it has.
_LEAVE = "UPDATE texts SET listed = 0 WHERE row = ANY(?)"
_RETURN = """
UPDATE texts SET listed = (SELECT d.listed FROM documents AS d WHERE d.row = texts.row)
WHERE row = ANY(?)"""
_UNTAG = "DELETE FROM document_tags WHERE document = ANY(?)"

_REWORD = """
UPDATE chunks SET content_hash = ?, language = ?, forms = ?
WHERE document = (SELECT row FROM documents WHERE id = ?) AND position = ? AND content_hash = ?"""

# The languages of a document are those of its passages.
_REFRESH = """
UPDATE documents SET revision = ?, languages = coalesce(
    (SELECT group_concat(' ' || language || ' ', '' ORDER BY language) FROM
        (SELECT DISTINCT language FROM chunks
         WHERE document = documents.row AND language IS NOT NULL)), '')
WHERE id = ?"""


class Changing:
    """One transaction's changes, and what has to be tidied up at its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._revision: int | None = None
        # Passages that were replaced or deleted; the vectors of those that nobody holds go.
        self._replaced: set[str] = set()
        self._secret = False

    def make(self, changes: Iterable[Change]) -> bool:
        """Make the changes in their order; whether no trace may be left of what was there."""
        for step in steps(changes):
            self._make(step)
        if self._secret:
            wipe(self._session.connection)
        else:
            forget_vectors(self._session.connection, self._replaced)
        return self._secret

    def _make(self, step: Change | dict[str, Amendment]) -> None:
        match step:
            case dict():
                self._amend(step)
            case Batch():
                self._apply(step)
            case PutCollection(collection):
                row = free_row(self._session.connection, "collections")
                put_collection(self._session, collection, dumped_texts, row)
            case RenameCollection(name, new):
                # Vectors do not depend on the ids of their documents.
                rename_collection(self._session, name, new, "revision")
                self._note_change()
            case RemoveCollection(name):
                self._remove_collection(name)
            case KeepReceipt(receipt, since):
                keep_receipt(self._session, receipt, since)
            case KeepBoilerplate():
                self._keep_boilerplate(step)

    def _note_change(self) -> int:
        """Let readers know that something changed; the number of this transaction."""
        if self._revision is None:
            self._revision = next_revision(self._session.connection)
        return self._revision

    def _apply(self, batch: Batch) -> None:
        session = self._session
        demand_versions(session, batch.expected)
        collection = collection_row(session, batch.collection)
        refuse_strays(batch)
        secrets = [one.document.id for one in batch.upserts if one.document.encrypted]
        going = [*secrets, *batch.purges]
        self._secret = self._secret or hold_text(session.connection, going)
        for id in (*batch.deletes, *batch.purges):
            self._delete(id, collection)
        self._replaced |= write(session, batch.upserts, collection, self._note_change())
        for new, old in batch.moves.items():
            session.run(_MOVE, (new, old))
            self._delete(old, collection)
        if batch.moves:
            # Their owners are part of what is sealed.
            moved = session.rows(_ROWS_OF, (list(batch.moves),))
            seal_rows(session.connection, [row for row, _ in moved])
        keep_ledger(session, batch, collection)

    def _delete(self, id: str, collection: int) -> None:
        session = self._session
        statement = "SELECT row FROM documents WHERE id = ? AND collection = ?"
        for (row,) in session.rows(statement, (id, collection)):
            passages = "SELECT content_hash FROM chunks WHERE document = ?"
            self._replaced |= {content for (content,) in session.rows(passages, (row,))}
            session.run("DELETE FROM texts WHERE row = ?", (row,))
            session.run("DELETE FROM documents WHERE row = ?", (row,))
            session.run(
                "INSERT INTO tombstones(document, revision) VALUES (?,?)",
                (row, self._note_change()),
            )

    def _amend(self, amendments: dict[str, Amendment]) -> None:
        """Change documents, each once; text, stems and vectors stay as they are."""
        demand_versions(self._session, {one.id: one.version for one in amendments.values()})
        # A use makes no new version, but lists are sorted by it.
        amend(self._session, amendments.values(), str(self._note_change()))
        self._retag({id: one.tags for id, one in amendments.items() if one.tags is not None})

    def _retag(self, tags: dict[str, tuple[str, ...]]) -> None:
        if not tags:
            return
        found = self._session.rows(_ROWS_OF, (list(tags),))
        changed = [row for row, _ in found]
        self._session.run(_LEAVE, (changed,))
        self._session.run(_UNTAG, (changed,))
        write_tags(self._session, [(row, tags[id]) for row, id in found])
        self._session.run(_RETURN, (changed,))

    def _remove_collection(self, name: str) -> None:
        session = self._session
        row = collection_row(session, name)
        session.run(
            "INSERT INTO tombstones(document, revision)"
            " SELECT row, ? FROM documents WHERE collection = ?",
            (self._note_change(), row),
        )
        session.run(
            "DELETE FROM texts WHERE row IN (SELECT row FROM documents WHERE collection = ?)",
            (row,),
        )
        if session.run("DELETE FROM documents WHERE collection = ?", (row,)):
            self._secret = True
        session.run("DELETE FROM ledger WHERE collection = ?", (row,))
        session.run("DELETE FROM collections WHERE row = ?", (row,))

    def _keep_boilerplate(self, change: KeepBoilerplate) -> None:
        keep_boilerplate(self._session, change.boilerplate)
        changed = set()
        for one in change.rewordings:
            now = one.after
            values = now.content_hash, now.language, packed(now.boilerplate)
            if self._session.run(_REWORD, (*values, one.id, now.position, one.before)):
                changed.add(one.id)
                self._replaced.add(one.before)
        refreshed = [(self._note_change(), id) for id in sorted(changed)]
        self._session.run_all(_REFRESH, refreshed)
