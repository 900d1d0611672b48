"""What changes of documents, collections and memories have in common in both SQL stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from twolane.model.document import Amendment, Batch, Boilerplate, Collection
from twolane.model.draft import Receipt
from twolane.model.errors import Conflict, StoreError
from twolane.ports.documents import Change
from twolane.stores.sql.document_rows import dumped
from twolane.stores.sql.session import Session

# A look at a document changes nothing that vectors or versions depend on.
_TOUCH = """
UPDATE documents SET used = CASE WHEN used > :used THEN used ELSE :used END, uses = uses + 1
WHERE id = ANY(:ids)"""

_AMEND = """
UPDATE documents SET archived = coalesce(CAST(:archived AS boolean), archived),
    deleted = coalesce(CAST(:deleted AS boolean), deleted), version = version + 1,
    revision = {revision}
WHERE id = ANY(:ids)"""

# A file's document is named after its collection.
_RENAME_IDS = """
UPDATE documents SET id = :new || substr(id, length(:old) + 1), revision = {revision}
WHERE collection = :row AND path IS NOT NULL AND id = :old || '/' || path"""
_TAKEN = """
SELECT 1 FROM collections WHERE name = :new UNION ALL
SELECT 1 FROM documents WHERE id IN (SELECT :new || '/' || path FROM documents
    WHERE collection = :row AND path IS NOT NULL AND id = :old || '/' || path)"""

_PUT_COLLECTION = """
INSERT INTO collections({names}) VALUES ({places}) ON CONFLICT (name) DO UPDATE SET
    root = excluded.root, kind = excluded.kind, include = excluded.include,
    exclude = excluded.exclude, description = excluded.description"""

_PUT_RECORD = """
INSERT INTO ledger(collection, path, state, code, reason, modified_ns, size)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, path) DO UPDATE SET
    state = excluded.state, code = excluded.code, reason = excluded.reason,
    modified_ns = excluded.modified_ns, size = excluded.size"""

_PUT_RECEIPT = "INSERT INTO receipts(owner, key, asked, saved, at) VALUES (?, ?, ?, ?, ?)"


def steps(changes: Iterable[Change]) -> Iterator[Change | dict[str, Amendment]]:
    """The changes in their order; amendments that follow each other together, each document once.

    So a thousand of them take a few statements.
    """
    amendments: dict[str, Amendment] = {}
    for change in changes:
        if amendments and not (isinstance(change, Amendment) and change.id not in amendments):
            yield amendments
            amendments = {}
        if isinstance(change, Amendment):
            amendments[change.id] = change
        else:
            yield change
    if amendments:
        yield amendments


def demand_versions(session: Session, expected: Mapping[str, int]) -> None:
    """Raise Conflict unless each document has its version; 0 is one that is not there."""
    if not expected:
        return
    statement = "SELECT id, version FROM documents WHERE id = ANY(?)"
    held = dict(session.rows(statement, (list(expected),)))
    for id, version in expected.items():
        if held.get(id, 0) != version:
            raise Conflict(id, version, held.get(id, 0))


def amend(session: Session, amendments: Iterable[Amendment], revision: str) -> None:
    """Archive, delete, restore or touch documents; `revision` is the number of the change in SQL.

    Tags are the store's own to change.
    """
    for (archived, deleted, used, counts), ids in _alike(amendments).items():
        if counts:
            statement = _AMEND.format(revision=revision)
            session.run(statement, {"archived": archived, "deleted": deleted, "ids": ids})
        if used is not None:
            session.run(_TOUCH, {"used": used.timestamp(), "ids": ids})


_Alike = tuple[bool | None, bool | None, datetime | None, bool]


def _alike(amendments: Iterable[Amendment]) -> dict[_Alike, list[str]]:
    """The documents by what changes, so that a thousand take one statement."""
    alike: dict[_Alike, list[str]] = {}
    for one in amendments:
        alike.setdefault((one.archived, one.deleted, one.used, one.counts), []).append(one.id)
    return alike


def put_collection(
    session: Session,
    collection: Collection,
    texts: Callable[[Sequence[str]], object],
    row: int | None = None,
) -> None:
    """Create the collection, under this row if one is given, or replace what is said of it."""
    values = {
        "name": collection.name,
        "root": collection.root,
        "kind": str(collection.kind),
        "include": texts(collection.include),
        "exclude": texts(collection.exclude),
        "description": collection.description,
        **({} if row is None else {"row": row}),
    }
    places = ", ".join(f":{name}" for name in values)
    session.run(_PUT_COLLECTION.format(names=", ".join(values), places=places), values)


def collection_row(session: Session, name: str) -> int:
    """The row of a collection; StoreError if there is none."""
    found = session.rows("SELECT row FROM collections WHERE name = ?", (name,))
    if not found:
        raise StoreError(f"there is no collection {name!r}; add it first")
    return int(found[0][0])


def rename_collection(session: Session, name: str, new: str, revision: str) -> None:
    """Give a collection another name; the ids of its files' documents begin with the new one."""
    names = {"new": new, "old": name, "row": collection_row(session, name)}
    if session.rows(_TAKEN, names):
        raise StoreError(f"the name {new!r}, or an id under it, is taken; choose another")
    session.run(_RENAME_IDS.format(revision=revision), names)
    session.run("UPDATE collections SET name = ? WHERE row = ?", (new, names["row"]))


def refuse_strays(batch: Batch) -> None:
    """Raise StoreError if a document of a batch belongs to another collection."""
    for prepared in batch.upserts:
        if prepared.document.collection != batch.collection:
            raise StoreError(
                f"{prepared.document.id!r} belongs to {prepared.document.collection!r}, "
                f"but the batch is for {batch.collection!r}; apply one batch per collection"
            )


def keep_ledger(session: Session, batch: Batch, collection: int) -> None:
    """Note what became of the files of a batch."""
    replaced = [p.document.path for p in batch.upserts if p.document.path is not None]
    gone = [*replaced, *batch.forgotten]
    # Most files give a document without a remark, so that mostly there is nothing to delete.
    any_there = "SELECT 1 FROM ledger WHERE collection = ? LIMIT 1"
    if gone and session.rows(any_there, (collection,)):
        statement = "DELETE FROM ledger WHERE collection = ? AND path = ANY(?)"
        session.run(statement, (collection, gone))
    records: list[tuple[Any, ...]] = [
        (
            collection,
            record.path,
            str(record.state),
            str(record.code) if record.code else None,
            record.reason,
            record.stamp.modified_ns if record.stamp else None,
            record.stamp.size if record.stamp else None,
        )
        for record in batch.records
    ]
    session.run_all(_PUT_RECORD, records)


def keep_receipt(session: Session, receipt: Receipt, since: datetime) -> None:
    """Remember what became of a request, and forget what is older; StoreError for a used key."""
    once = receipt.once
    session.run("DELETE FROM receipts WHERE at < ?", (since.timestamp(),))
    used = "SELECT 1 FROM receipts WHERE owner = ? AND key = ?"
    if session.rows(used, (receipt.owner, once.key)):
        raise StoreError(f"the key {once.key!r} was used before")
    saved = dumped([astuple(each) for each in receipt.saved])
    at = receipt.at.timestamp()
    session.run(_PUT_RECEIPT, (receipt.owner, once.key, once.asked, saved, at))


def keep_boilerplate(session: Session, boilerplate: Boilerplate) -> None:
    """Replace the keys of the boilerplate."""
    session.run("DELETE FROM forms")
    keys = [(key,) for key in sorted(boilerplate.keys)]
    session.run_all("INSERT INTO forms(key) VALUES (?)", keys)
    session.run("UPDATE learned SET documents = ?, times = times + 1", (boilerplate.documents,))
