"""The rows in a scope, found once and kept until somebody commits.

A search asks for the same scope several times, and so does the next one with the same filters;
finding its rows may mean a look at every document.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import apsw

from twolane.scopes import Scope
from twolane.stores.sqlite.conditions import in_scope
from twolane.stores.sqlite.expressions import Condition

# As many scopes as a few callers ask for by turns.
_KEPT = 16

# With more rows than this the engine looks them up faster than it reads a list of them.
_MOST = 20_000


class ScopedRows:
    """Rows by scope, for one state of the database; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = -1
        self._rows: OrderedDict[tuple[object, ...], list[int]] = OrderedDict()

    def rows(self, connection: apsw.Connection, scope: Scope) -> list[int]:
        """The rows of the documents in scope that the connection's transaction sees."""
        revision = connection.execute("SELECT revision FROM counters").get
        condition, values = in_scope(scope)
        key = (condition, *values)
        with self._lock:
            if revision != self._revision:
                self._revision = revision
                self._rows.clear()
            elif key in self._rows:
                self._rows.move_to_end(key)
                return self._rows[key]
        found = [
            row
            for (row,) in connection.execute(
                f"SELECT d.row FROM documents AS d WHERE {condition}", values
            )
        ]
        with self._lock:
            if revision == self._revision:
                self._rows[key] = found
                while len(self._rows) > _KEPT:
                    self._rows.popitem(last=False)
        return found

    def condition(self, connection: apsw.Connection, scope: Scope, column: str) -> Condition:
        """That the column holds a row in scope, by a list of them where they are few."""
        found = self.rows(connection, scope)
        if len(found) <= _MOST:
            return f"{column} IN (SELECT value FROM json_each(?))", [str(found)]
        condition, values = in_scope(scope)
        return f"{column} IN (SELECT d.row FROM documents AS d WHERE {condition})", values
