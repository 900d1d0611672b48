"""Documents, their chunks and the ledger of files, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.ports.documents import Change
from twolane.stores.postgres.changing import Changing
from twolane.stores.postgres.counting import size
from twolane.stores.postgres.database import Database
from twolane.stores.postgres.demands import Demands
from twolane.stores.postgres.document_rows import COLUMNS, LIGHT_COLUMNS, path_end
from twolane.stores.postgres.replica import Replica
from twolane.stores.sql.counting import Counted
from twolane.stores.sql.documents import Engine, SqlDocuments
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.session import Session
from twolane.text.names import LAST, path_ends_in

_TAG_COUNTS = """
SELECT min(t.name), count(DISTINCT t.document) FROM tags AS t JOIN documents AS d
ON d.row = t.document WHERE {condition} GROUP BY t.key"""

# Documents whose path may end in a name, and those of which that is not known yet.
_PATHS = """
SELECT d.id, d.path FROM documents AS d WHERE ({endings}) AND {condition}
UNION ALL
SELECT d.id, d.path FROM documents AS d
WHERE d.path_end IS NULL AND d.path IS NOT NULL AND {condition}"""


def document_store(
    database: Database, counted: Counted, demands: Demands, replica: Replica | None = None
) -> SqlDocuments:
    """The DocumentStore port over a database, or over its replica."""

    def apply(changes: Sequence[Change]) -> None:
        database.writing(lambda session: Changing(session).make(changes))

    engine = Engine(
        columns=COLUMNS,
        light_columns=LIGHT_COLUMNS,
        texts=tuple,
        no_texts="'{}'",
        keys=tuple,
        tag_counts=_TAG_COUNTS,
        path_ends_in=_path_ends_in,
        size=size,
        apply=apply,
    )
    return SqlDocuments(replica or database, engine, demands, counted)


def _path_ends_in(session: Session, names: Sequence[str], condition: Condition) -> list[str]:
    test, values = condition
    begins = [path_end(name) for name in names]
    endings = " OR ".join(["d.path_end >= ? AND d.path_end < ?"] * len(begins))
    bounds = [bound for begin in begins for bound in (begin, begin + LAST)]
    statement = _PATHS.format(endings=endings, condition=test)
    found = session.rows(statement, (*bounds, *values, *values))
    return sorted(id for id, path in found if path_ends_in(path, names))
