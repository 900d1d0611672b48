"""The documents in a scope in order, from SQLite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from twolane.answers import Place, Sort, Traits
from twolane.model import Kind
from twolane.scopes import Scope
from twolane.stores.sqlite.conditions import in_scope
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.document_rows import dumped
from twolane.stores.sqlite.expressions import Condition

_TRAITS = """
SELECT d.id, d.kind,
       (SELECT json_group_array(t.name ORDER BY dt.position) FROM document_tags AS dt
        JOIN tags AS t ON t.row = dt.tag WHERE dt.document = d.row),
       d.updated, d.used, d.uses
FROM documents AS d WHERE d.listed AND d.id IN (SELECT value FROM json_each(?))"""

_COLUMNS = {
    Sort.UPDATED: "d.updated",
    Sort.CREATED: "d.created",
    Sort.USED: "d.used",
    Sort.TITLE: "d.title_key",
}


class SqliteLists:
    """The Lists port."""

    _db: Database

    def listed(
        self, scope: Scope, sort: Sort, *, reverse: bool, after: Place | None, limit: int
    ) -> list[Place]:
        """The next documents in scope in this order."""
        column = _COLUMNS[sort]
        downwards = (sort != Sort.TITLE) != reverse
        condition, values = in_scope(scope)
        if after is not None:
            behind, bound = _behind(column, after, downwards)
            condition, values = f"({condition}) AND ({behind})", [*values, *bound]
        with self._db.read() as connection:
            found = rows(
                connection,
                f"SELECT {column}, d.id FROM documents AS d WHERE {condition}"
                f" ORDER BY {column} {'DESC' if downwards else 'ASC'} NULLS LAST, d.id LIMIT ?",
                (*values, limit),
            )
        return [Place(key, id) for key, id in found]

    def traits(self, ids: Sequence[str]) -> Mapping[str, Traits]:
        """What signals look at, by id."""
        with self._db.read() as connection:
            found = rows(connection, _TRAITS, (dumped(list(ids)),))
        return {
            id: Traits(Kind(kind), tuple(json.loads(tags)), _moment(updated), _moment(used), uses)
            for id, kind, tags, updated, used, uses in found
        }


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _behind(column: str, after: Place, downwards: bool) -> Condition:
    """What comes after a place: what has no value comes last, and equal values go by id."""
    if after.key is None:
        return f"{column} IS NULL AND d.id > ?", [after.id]
    sign = "<" if downwards else ">"
    return (
        f"{column} {sign} ? OR ({column} = ? AND d.id > ?) OR {column} IS NULL",
        [after.key, after.key, after.id],
    )
