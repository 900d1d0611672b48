"""The documents in a scope in order, from SQLite."""

from __future__ import annotations

from twolane.answers import Place, Sort
from twolane.scopes import Scope
from twolane.stores.sqlite.conditions import in_scope
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.expressions import Condition

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


def _behind(column: str, after: Place, downwards: bool) -> Condition:
    """What comes after a place: what has no value comes last, and equal values go by id."""
    if after.key is None:
        return f"{column} IS NULL AND d.id > ?", [after.id]
    sign = "<" if downwards else ">"
    return (
        f"{column} {sign} ? OR ({column} = ? AND d.id > ?) OR {column} IS NULL",
        [after.key, after.key, after.id],
    )
