"""How PostgreSQL counts documents and terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from twolane.model.document import FIELDS
from twolane.stores.postgres.lexemes import is_term, one, owned, quoted
from twolane.stores.sql.counting import Counted, Counting, Said, Term
from twolane.stores.sql.session import Session

_TOTALS = f"SELECT sum(documents), {', '.join(f'sum({name})' for name in FIELDS)} FROM counters"

_PROPERTIES = """
SELECT DISTINCT p.name FROM property_values AS p JOIN documents AS d ON d.row = p.document
WHERE d.listed"""

# How many documents hold each of some terms.
_FREQUENCIES = """
SELECT asked.query, (SELECT count(*) FROM own_words AS w WHERE w.words @@ asked.query::tsquery)
FROM unnest(?::text[]) AS asked(query)"""

# All lexemes of some documents.
_LEXEMES = "SELECT word FROM ts_stat(?)"

# How much room all of it takes on the server.
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'twolane' AND c.relkind = 'r'"""


def counted() -> Counted:
    """What is counted in one database."""
    return Counted(Counting(_TOTALS, _PROPERTIES, _languages, _terms, _frequencies))


def _languages(stored: Any) -> Sequence[str]:
    return tuple(stored)


def size(session: Session) -> int:
    """How many bytes all of it takes."""
    return int(session.rows(_SIZE)[0][0])


def _frequencies(session: Session, terms: Sequence[Term], said: Said) -> dict[Term, int]:
    mark = "" if said.owner is None else f"{quoted(owned(said.owner))} & "
    queries = {mark + one(term, prefix=prefix): (term, prefix) for term, prefix in terms}
    found = session.rows(_FREQUENCIES, (list(queries),))
    return {queries[query]: count for query, count in found}


def _terms(session: Session, owner: str | None) -> list[str]:
    statement = "SELECT words FROM own_words"
    if owner is not None:
        statement += f" WHERE owner = {sql.Literal(owner).as_string()}"
    return sorted(word for (word,) in session.rows(_LEXEMES, (statement,)) if is_term(word))
