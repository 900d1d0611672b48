"""Changes to documents, collections and what is remembered, inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from twolane.model.document import FIELDS, Amendment, Batch, Stems
from twolane.ports.documents import (
    Change,
    KeepBoilerplate,
    KeepReceipt,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)
from twolane.stores.postgres.database import CHANNEL, Session
from twolane.stores.postgres.writing import COLUMNS, STREAMS, list_documents, write, write_tags
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
from twolane.stores.sql.document_rows import document_of
from twolane.text.tokens import stream

# The number of a change.
_REVISION = "nextval('revisions')"

# A row of counters that no other writer holds; any of them where all are held.
_FREE_STRIPE = """
SELECT stripe FROM counters ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED"""
_ANY_STRIPE = "SELECT stripe FROM counters ORDER BY random() LIMIT 1 FOR UPDATE"

# How long the fields of these documents are, of those that can be found.
_LENGTHS = (
    "SELECT count(*), "
    + ", ".join(f"coalesce(sum(x.lengths[{at}]), 0)" for at in range(1, len(FIELDS) + 1))
    + " FROM texts AS x JOIN documents AS d ON d.row = x.row"
    " WHERE d.listed AND x.row = ANY(?)"
)

# Add to the counters what this transaction changed.
_COUNT = (
    "UPDATE counters SET revision = revision + 1, documents = documents + ?, "
    + ", ".join(f"{name} = {name} + ?" for name in FIELDS)
    + " WHERE stripe = ?"
)

# The tags of a document as stems, and how many there are (the third of the fields).
_RETAG = "UPDATE texts SET tags = ?, lengths[3] = ? WHERE row = ?"

# A note that moved goes on as what it was.
_MOVE = """
UPDATE documents AS new SET used = coalesce(new.used, old.used), uses = new.uses + old.uses,
    owner = coalesce(new.owner, old.owner), archived = new.archived OR old.archived,
    revision = nextval('revisions')
FROM documents AS old
WHERE new.id = ? AND old.id = ? AND old.collection = ? AND new.collection = ?
RETURNING new.row, old.row"""

# Every row that tells of a document has the document's owner; vectors follow their passages.
_OWN = """
UPDATE {table} AS t SET owner = d.owner FROM documents AS d
WHERE d.row = t.{key} AND d.row = ANY(?) AND t.owner IS DISTINCT FROM d.owner"""
_OWNED_TABLES = {
    "texts": "row",
    "tags": "document",
    "property_values": "document",
    "sketches": "document",
    "chunks": "document",
}

_REWORD = """
UPDATE chunks SET content_hash = ?, language = ?, forms = ?::bigint[]
WHERE document = (SELECT row FROM documents WHERE id = ?) AND position = ? AND content_hash = ?
RETURNING document"""

# The languages of a document are those of its passages.
_REFRESH = """
UPDATE documents SET revision = nextval('revisions'), languages = ARRAY(
    SELECT DISTINCT c.language FROM chunks AS c
    WHERE c.document = documents.row AND c.language IS NOT NULL ORDER BY 1)
WHERE row = ANY(?)"""

# Passages that were written take along the vectors of equal passages, wherever those stand.
_ADOPT = """
INSERT INTO vectors(generation, document, position, owner, headings, content_hash, dimensions,
                    embedding, sentences, embedded_at)
SELECT DISTINCT ON (v.generation, c.document, c.position)
       v.generation, c.document, c.position, c.owner, c.headings, c.content_hash, v.dimensions,
       v.embedding, v.sentences, v.embedded_at
FROM chunks AS c JOIN vectors AS v ON v.content_hash = c.content_hash
WHERE c.document = ANY(:touched) AND NOT EXISTS (
    SELECT 1 FROM vectors AS o
    WHERE o.document = c.document AND o.generation = v.generation AND o.position = c.position
      AND o.content_hash = c.content_hash AND o.owner IS NOT DISTINCT FROM c.owner)
ORDER BY v.generation, c.document, c.position
ON CONFLICT (document, generation, position) DO UPDATE SET owner = excluded.owner,
    headings = excluded.headings, content_hash = excluded.content_hash,
    embedding = excluded.embedding, sentences = excluded.sentences,
    embedded_at = excluded.embedded_at"""

# A vector goes with its passage.
_FORGET = """
DELETE FROM vectors AS v WHERE v.document = ANY(:touched) AND NOT EXISTS (
    SELECT 1 FROM chunks AS c
    WHERE c.document = v.document AND c.position = v.position
      AND c.content_hash = v.content_hash)"""

_FORGET_FORMS = """
DELETE FROM forms WHERE key NOT IN (SELECT unnest(forms) FROM chunks WHERE forms <> '{}')"""


class Changing:
    """One transaction's changes, and what has to be tidied up at its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # First of all, so that whoever waits for it holds nothing that others wait for.
        free = session.rows(_FREE_STRIPE) or session.rows(_ANY_STRIPE)
        self._stripe = free[0][0]
        self._counts = [0] * (len(FIELDS) + 1)
        # Rows of documents whose text, passages or visibility changed.
        self._touched: set[int] = set()
        self._secret = False

    def make(self, changes: Iterable[Change]) -> None:
        """Make the changes in their order."""
        for step in steps(changes):
            self._make(step)
        self._finish()

    def _make(self, step: Change | dict[str, Amendment]) -> None:
        match step:
            case dict():
                self._amend(step)
            case Batch():
                self._apply(step)
            case PutCollection(collection):
                put_collection(self._session, collection, list)
            case RenameCollection(name, new):
                rename_collection(self._session, name, new, _REVISION)
            case RemoveCollection(name):
                self._remove_collection(name)
            case KeepReceipt(receipt, since):
                keep_receipt(self._session, receipt, since)
            case KeepBoilerplate():
                self._keep_boilerplate(step)

    def _touch(self, touched: Iterable[int]) -> None:
        """Note what these documents count before they change."""
        fresh = sorted(set(touched) - self._touched)
        if fresh:
            self._count(fresh, -1)
            self._touched.update(fresh)

    def _count(self, documents: Sequence[int], sign: int) -> None:
        (found,) = self._session.rows(_LENGTHS, (list(documents),))
        self._counts = [
            held + sign * int(one) for held, one in zip(self._counts, found, strict=True)
        ]

    def _finish(self) -> None:
        session, touched = self._session, {"touched": sorted(self._touched)}
        if self._touched:
            self._count(touched["touched"], 1)
            session.run(_ADOPT, touched)
            session.run(_FORGET, touched)
        if self._secret and session.run(_FORGET_FORMS):
            session.run("UPDATE learned SET times = times + 1")
        session.run(_COUNT, (*self._counts, self._stripe))
        if self._touched:
            # Whoever embeds hears of it when this is committed, and not before.
            session.run(f"NOTIFY {CHANNEL}")

    def _apply(self, batch: Batch) -> None:
        session = self._session
        demand_versions(session, batch.expected)
        collection = collection_row(session, batch.collection)
        refuse_strays(batch)
        gone = [*batch.deletes, *batch.purges]
        written = [one.document.id for one in batch.upserts]
        moved = [*batch.moves, *batch.moves.values()]
        if gone or written or moved:
            # Whoever came too late learns it here, before there is much to do again.
            known = "SELECT row FROM documents WHERE id = ANY(?) ORDER BY id FOR UPDATE"
            self._touch(row for (row,) in session.rows(known, ([*gone, *written, *moved],)))
        if gone:
            session.run(
                "DELETE FROM documents WHERE id = ANY(?) AND collection = ?",
                (gone, collection),
            )
        # New documents count nothing before.
        self._touched.update(write(session, batch.upserts, collection))
        self._move(batch.moves, collection)
        self._secret |= bool(batch.purges) or any(one.document.encrypted for one in batch.upserts)
        keep_ledger(session, batch, collection)

    def _move(self, moves: Mapping[str, str], collection: int) -> None:
        """Let documents go on as those that they were before their files moved."""
        session, followed = self._session, []
        for new, old in moves.items():
            for row, gone in session.rows(_MOVE, (new, old, collection, collection)):
                session.run("DELETE FROM documents WHERE row = ?", (gone,))
                followed.append(row)
        if followed:
            for table, key in _OWNED_TABLES.items():
                session.run(_OWN.format(table=table, key=key), (followed,))
            relist(session, followed)

    def _amend(self, amendments: dict[str, Amendment]) -> None:
        """Change documents, each once; text, stems and vectors stay as they are."""
        session = self._session
        demand_versions(session, {one.id: one.version for one in amendments.values()})
        changed = [
            id for id, one in amendments.items() if one.deleted is not None or one.tags is not None
        ]
        found = session.rows("SELECT row, id FROM documents WHERE id = ANY(?)", (changed,))
        self._touch(row for row, _ in found)
        amend(session, amendments.values(), _REVISION)
        for row, id in found:
            tags = amendments[id].tags
            if tags is not None:
                self._retag(row, tags)
        relist(session, [row for row, _ in found])

    def _retag(self, row: int, tags: tuple[str, ...]) -> None:
        session = self._session
        ((owner,),) = session.rows("SELECT owner FROM documents WHERE row = ?", (row,))
        write_tags(session, row, owner, tags)
        stems = "".join(stream(tag) for tag in tags)
        session.run(_RETAG, (stems, stems.count(" ") // 2, row))

    def _remove_collection(self, name: str) -> None:
        session = self._session
        row = collection_row(session, name)
        held = session.rows("SELECT row FROM documents WHERE collection = ?", (row,))
        self._touch(one for (one,) in held)
        session.run("DELETE FROM documents WHERE collection = ?", (row,))
        session.run("DELETE FROM collections WHERE row = ?", (row,))
        self._secret = True

    def _keep_boilerplate(self, change: KeepBoilerplate) -> None:
        session = self._session
        keep_boilerplate(session, change.boilerplate)
        named = "SELECT row FROM documents WHERE id = ANY(?)"
        ids = list({one.id for one in change.rewordings})
        self._touch(row for (row,) in session.rows(named, (ids,)))
        changed: set[int] = set()
        for one in change.rewordings:
            now = one.after
            values = now.content_hash, now.language, list(now.boilerplate)
            found = session.rows(_REWORD, (*values, one.id, now.position, one.before))
            changed.update(row for (row,) in found)
        if changed:
            session.run(_REFRESH, (sorted(changed),))


def relist(session: Session, documents: Sequence[int]) -> None:
    """Put documents into the indexes of words and letters as they are now, or take them out."""
    if not documents:
        return
    found = session.rows(
        f"SELECT {COLUMNS}, d.row, {STREAMS} FROM documents AS d"
        " JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row"
        " WHERE d.row = ANY(?)",
        (list(documents),),
    )
    list_documents(session, [(row[28], document_of(row), stems_of(row[29:])) for row in found])


def stems_of(streams: Sequence[str]) -> Stems:
    """The stems that a row of STREAMS spells."""
    return Stems(*streams)
