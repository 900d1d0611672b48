"""How SQLite counts documents and terms."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.model.document import FIELDS
from twolane.stores.sql.counting import Counted, Counting, Said, Term
from twolane.stores.sql.session import Session

_TOTALS = f"SELECT documents, {', '.join(FIELDS)} FROM totals"

# The names of properties, found by leaps through their index: there are few, each of many.
_PROPERTIES = """
WITH RECURSIVE names(name) AS (
    SELECT min(name) FROM property_values
    UNION ALL
    SELECT (SELECT min(p.name) FROM property_values AS p WHERE p.name > names.name)
    FROM names WHERE names.name IS NOT NULL)
SELECT name FROM names WHERE name IS NOT NULL AND EXISTS (
    SELECT 1 FROM property_values AS p JOIN documents AS d ON d.row = p.document
    WHERE p.name = names.name AND d.listed)"""

_THEIR_ROWS = "SELECT row FROM documents WHERE owner = ? AND listed"
_THEIR_STREAMS = """
SELECT x.title || x.aliases || x.tags || x.headings || x.description || x.url || x.stems
FROM documents AS d JOIN texts AS x ON x.row = d.row WHERE d.owner = ? AND x.listed"""


def counted() -> Counted:
    """What is counted in one file."""
    return Counted(Counting(_TOTALS, _PROPERTIES, _languages, _terms, _frequencies))


def _languages(stored: object) -> list[str]:
    return str(stored).split()


def _frequencies(session: Session, terms: Sequence[Term], said: Said) -> dict[Term, int]:
    if said.owner is not None and not said.rows:
        said.rows.append(frozenset(row for (row,) in session.rows(_THEIR_ROWS, (said.owner,))))
    return {term: _frequency(session, *term, said) for term in terms}


def _frequency(session: Session, term: str, prefix: bool, said: Said) -> int:
    """How many documents hold the term, or one that begins with it."""
    if not prefix:
        known = session.rows("SELECT doc FROM vocabulary WHERE term = ?", (term,))
        if said.owner is None or not known:
            return int(known[0][0]) if known else 0
    expression = '"' + term.replace('"', '""') + '"' + ("*" if prefix else "")
    if said.owner is None:
        count = "SELECT count(*) FROM words WHERE words MATCH ?"
        return int(session.rows(count, (expression,))[0][0])
    found = session.rows("SELECT rowid FROM words WHERE words MATCH ?", (expression,))
    return sum(row in said.rows[0] for (row,) in found)


def _terms(session: Session, owner: str | None) -> list[str]:
    """All terms of the owner's listed documents, or of everybody's, sorted."""
    if owner is None:
        return [term for (term,) in session.rows("SELECT term FROM vocabulary")]
    found: set[str] = set()
    for (streams,) in session.rows(_THEIR_STREAMS, (owner,)):
        found.update(streams.split(" "))
    found.discard("")
    return sorted(found)
