"""What SQL cannot tell of a query's demands: quotations letter by letter, and distances.

The index of words offers documents, and the code that defines the demands decides on each.
"""

from __future__ import annotations

from collections.abc import Sequence

from twolane.model import deadlines
from twolane.model.document import FIELDS, Prepared
from twolane.model.scope import Near, Phrase, Scope
from twolane.stores.memory.matching import meets
from twolane.stores.postgres.changing import stems_of
from twolane.stores.postgres.conditions import (
    having,
    holding,
    in_scope,
    in_scope_hidden_too,
    said,
)
from twolane.stores.postgres.document_rows import COLUMNS, STREAMS
from twolane.stores.sql.counting import Remembered
from twolane.stores.sql.document_rows import document_of
from twolane.stores.sql.filtering import Condition, joined
from twolane.stores.sql.session import Session
from twolane.text.names import loose
from twolane.text.substrings import spelled

# So many texts are looked at between two looks at the time.
_AT_A_TIME = 200

# Documents that may meet a demand, by the words or letters in it.
_OFFERED = "SELECT d.row FROM documents AS d WHERE d.listed AND {condition} ORDER BY d.row"

# Their texts as they were written and as streams.
_WRITTEN = f"""
SELECT {COLUMNS}, d.row, {STREAMS} FROM documents AS d
JOIN collections AS c ON c.row = d.collection JOIN texts AS x ON x.row = d.row
WHERE d.row = ANY(?)"""

_Key = tuple[int, str | None, Phrase | Near, str | None]


class Demands:
    """Scopes as conditions; which documents meet a demand is found once for every state."""

    def __init__(self) -> None:
        self._found: Remembered[_Key, list[int]] = Remembered()

    def condition(self, session: Session, scope: Scope) -> Condition:
        """That a document `d` is in the scope."""
        return in_scope(scope, lambda clause, field: self._rows(session, scope, clause, field))

    def hidden_too(self, session: Session, scope: Scope, *, deleted: bool) -> Condition:
        """The same for documents that cannot be found, deleted ones or all others."""
        return in_scope_hidden_too(
            scope,
            lambda clause, field: self._rows(session, scope, clause, field),
            deleted=deleted,
        )

    def _rows(
        self, session: Session, scope: Scope, clause: Phrase | Near, field: str | None
    ) -> list[int]:
        key = (session.revision(), scope.owner, clause, field)
        known = self._found.get(key)
        if known is None:
            known = self._found.put(key, _meeting(session, scope.owner, clause, field))
        return known


def _meeting(
    session: Session, owner: str | None, clause: Phrase | Near, field: str | None
) -> list[int]:
    if isinstance(clause, Near):
        parts = [_offering(phrase, field) for phrase in clause.phrases]
    elif clause.words:
        # What nobody sees may stand between the words of a quotation.
        parts = [having(clause.words, field)]
    else:
        parts = [_offering(clause, field)]
    if owner is not None:
        parts.append(("d.owner = ?", [owner]))
    condition, values = joined(parts, "AND")
    offered = [row for (row,) in session.rows(_OFFERED.format(condition=condition), values)]
    fields: Sequence[str] = FIELDS if field is None else (field,)
    found: list[int] = []
    for start in range(0, len(offered), _AT_A_TIME):
        deadlines.check()
        some = session.rows(_WRITTEN, (offered[start : start + _AT_A_TIME],))
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
        "EXISTS (SELECT 1 FROM own_letters AS l WHERE l.document = d.row"
        " AND (l.texts LIKE ? OR l.names LIKE ?))",
        [holding(spelled(phrase.literal)), holding(loose(phrase.literal).strip())],
    )
