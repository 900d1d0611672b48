"""What SQL cannot tell of a query's demands: quotations letter by letter, and distances.

The index of words offers documents, and the code that defines the demands decides on each.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from twolane.model import deadlines
from twolane.model.document import FIELDS, Prepared
from twolane.model.scope import Near, Phrase, Scope
from twolane.stores.memory.matching import meets
from twolane.stores.postgres.changing import stems_of
from twolane.stores.postgres.conditions import having, in_scope, restrictions, said
from twolane.stores.postgres.database import Connection, revision_of, rows
from twolane.stores.postgres.document_rows import COLUMNS, STREAMS, document_of
from twolane.stores.postgres.expressions import Condition, holding, joined
from twolane.text.names import loose
from twolane.text.substrings import spelled

# As many demands as a few callers make by turns.
_KEPT = 64

# So many texts are looked at between two looks at the time.
_AT_A_TIME = 200

# Documents that may meet a demand, by the words or letters in it.
_OFFERED = "SELECT d.row FROM documents AS d WHERE d.listed AND {condition} ORDER BY d.row"

# Their texts as they were written and as streams.
_WRITTEN = f"""
SELECT {COLUMNS}, d.row, {STREAMS} FROM documents AS d
JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row
WHERE d.row = ANY(%s)"""

_Key = tuple[int, str | None, Phrase | Near, str | None]


class Demands:
    """Which documents meet a demand, found once for every state; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[_Key, list[int]] = OrderedDict()

    def condition(self, connection: Connection, scope: Scope) -> Condition:
        """That a document `d` is in the scope."""
        return in_scope(scope, lambda one, field: self._rows(connection, scope, one, field))

    def hidden_too(self, connection: Connection, scope: Scope) -> Condition:
        """The same without that it must not be hidden or archived."""
        parts = restrictions(scope, lambda one, field: self._rows(connection, scope, one, field))
        return joined([("true", []), *parts], "AND")

    def _rows(
        self, connection: Connection, scope: Scope, clause: Phrase | Near, field: str | None
    ) -> list[int]:
        key = (revision_of(connection), scope.owner, clause, field)
        with self._lock:
            known = self._found.get(key)
        if known is not None:
            return known
        found = _meeting(connection, scope.owner, clause, field)
        with self._lock:
            self._found[key] = found
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return found


def _meeting(
    connection: Connection, owner: str | None, clause: Phrase | Near, field: str | None
) -> list[int]:
    if isinstance(clause, Near):
        parts = [_offering(phrase, field) for phrase in clause.phrases]
    elif clause.words:
        # What nobody sees may stand between the words of a quotation.
        parts = [having(clause.words, field)]
    else:
        parts = [_offering(clause, field)]
    if owner is not None:
        parts.append(("d.owner = %s", [owner]))
    condition, values = joined(parts, "AND")
    offered = [row for (row,) in rows(connection, _OFFERED.format(condition=condition), values)]
    fields: Sequence[str] = FIELDS if field is None else (field,)
    found: list[int] = []
    for start in range(0, len(offered), _AT_A_TIME):
        deadlines.check()
        some = rows(connection, _WRITTEN, (offered[start : start + _AT_A_TIME],))
        for row in some:
            held = Prepared(document_of(row), (), stems_of(row[29:]))
            if meets(held, clause, fields):
                found.append(row[28])
    return sorted(found)


def _offering(phrase: Phrase, field: str | None) -> Condition:
    """Which documents may hold a phrase: by its words, or by its letters where it has none."""
    if phrase.words or phrase.literal is None:
        return said(phrase.words, field)
    return (
        "EXISTS (SELECT 1 FROM letters AS l WHERE l.document = d.row"
        " AND (l.texts LIKE %s OR l.names LIKE %s))",
        [holding(spelled(phrase.literal)), holding(loose(phrase.literal).strip())],
    )
