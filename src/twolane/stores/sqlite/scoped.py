"""The rows in a scope, found once and kept until somebody commits.

A search asks for the same scope several times, and so does the next one with the same filters;
finding its rows may mean a look at every document.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import apsw

from twolane.model.scope import Scope
from twolane.stores.sqlite.conditions import in_scope
from twolane.stores.sqlite.expressions import Condition, Value

# As many scopes as a few callers ask for by turns.
_KEPT = 16

# With more rows than this the engine looks them up faster than it reads a list of them.
_MOST = 20_000


_Key = tuple[object, ...]


class ScopedRows:
    """Rows by scope and state of the database; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: OrderedDict[_Key, list[int]] = OrderedDict()
        self._turns: dict[_Key, threading.Lock] = {}

    def rows(self, connection: apsw.Connection, scope: Scope) -> list[int]:
        """The rows of the documents in scope that the connection's transaction sees."""
        revision = connection.execute("SELECT revision FROM counters").get
        condition, values = in_scope(scope)
        key = (revision, condition, *values)
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        # The lanes of a search ask at the same time; the second one waits for what the first finds.
        with turn:
            try:
                known = self._known(key)
                if known is not None:
                    return known
                return self._found(connection, key, condition, values)
            finally:
                with self._lock:
                    self._turns.pop(key, None)

    def demanded(self, connection: apsw.Connection, scope: Scope) -> Condition:
        """That `d` is in scope; what the scope's demands leave is found once for all who ask."""
        if scope.clause is None:
            return in_scope(scope)
        return self.condition(connection, scope, "d.row")

    def condition(self, connection: apsw.Connection, scope: Scope, column: str) -> Condition:
        """That the column holds a row in scope, by a list of them where they are few."""
        found = self.rows(connection, scope)
        # Demands are dearer to look up again than any list is to read.
        if len(found) <= _MOST or scope.clause is not None:
            return f"{column} IN (SELECT value FROM json_each(?))", [str(found)]
        condition, values = in_scope(scope)
        return f"{column} IN (SELECT d.row FROM documents AS d WHERE {condition})", values

    def _known(self, key: _Key) -> list[int] | None:
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
            return self._rows.get(key)

    def _found(
        self, connection: apsw.Connection, key: _Key, condition: str, values: list[Value]
    ) -> list[int]:
        statement = f"SELECT d.row FROM documents AS d WHERE {condition}"
        found = [row for (row,) in connection.execute(statement, values)]
        with self._lock:
            self._rows[key] = found
            while len(self._rows) > _KEPT:
                self._rows.popitem(last=False)
        return found
