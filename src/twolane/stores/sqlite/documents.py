"""Documents, their chunks and the ledger of files, in SQLite."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from twolane.model.errors import StoreError
from twolane.ports.documents import Change
from twolane.stores.sql.counting import Counted
from twolane.stores.sql.document_rows import loaded
from twolane.stores.sql.documents import Engine, SqlDocuments
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.session import Session
from twolane.stores.sqlite.changing import Changing
from twolane.stores.sqlite.conditions import ScopedRows
from twolane.stores.sqlite.database import Database
from twolane.stores.sqlite.database import Session as SqliteSession
from twolane.stores.sqlite.document_rows import COLUMNS, LIGHT_COLUMNS, unpacked
from twolane.stores.sqlite.trigrams import Settling

log = logging.getLogger("twolane")

# What writing leaves for later slows searches down, by each document that it is left for.
_MOST_UNSETTLED = 1000

_TAG_COUNTS = """
SELECT min(t.name), count(DISTINCT dt.document) FROM document_tags AS dt
JOIN tags AS t ON t.row = dt.tag
WHERE dt.document IN (SELECT d.row FROM documents AS d WHERE {condition}) GROUP BY t.key"""

_SIZE = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"


def document_store(
    database: Database, counted: Counted, scoped: ScopedRows, settling: Settling
) -> SqlDocuments:
    """The DocumentStore port over a file."""

    def apply(changes: Sequence[Change]) -> None:
        with database.write() as connection:
            if Changing(SqliteSession(connection)).make(changes):
                database.leave_no_trace()
        try:
            settling.settle(beyond=_MOST_UNSETTLED)
        except StoreError as error:
            # The changes are made, whatever becomes of what they left for later.
            log.info("letters are put in order later: %s", error)

    engine = Engine(
        columns=COLUMNS,
        light_columns=LIGHT_COLUMNS,
        texts=loaded,
        no_texts="'[]'",
        keys=unpacked,
        tag_counts=_TAG_COUNTS,
        path_ends_in=_path_ends_in,
        size=lambda session: int(session.rows(_SIZE)[0][0]),
        apply=apply,
    )
    return SqlDocuments(database, engine, scoped, counted)


def _path_ends_in(session: Session, names: Sequence[str], condition: Condition) -> list[str]:
    test, values = condition
    found = session.rows(
        f"SELECT d.id FROM documents AS d WHERE path_ends_in(d.path, ?) AND {test} ORDER BY d.id",
        ("\n".join(names), *values),
    )
    return [id for (id,) in found]
