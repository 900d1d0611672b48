"""Documents, their chunks, the ledger of files and what is counted, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from twolane.model.document import FIELDS
from twolane.ports.documents import Change
from twolane.stores.postgres.changing import Changing
from twolane.stores.postgres.conditions import FEW, Demands
from twolane.stores.postgres.database import Database
from twolane.stores.postgres.lexemes import is_term, one, owned, quoted
from twolane.stores.postgres.replica import Replica
from twolane.stores.postgres.writing import COLUMNS, LIGHT_COLUMNS, path_end
from twolane.stores.sql.counting import Counted, Counting, Said, Term
from twolane.stores.sql.documents import Engine, SqlDocuments
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.session import Session
from twolane.text.names import LAST, path_ends_in

_TOTALS = f"SELECT sum(documents), {', '.join(f'sum({name})' for name in FIELDS)} FROM counters"

_PROPERTIES = """
SELECT DISTINCT p.name FROM property_values AS p JOIN documents AS d ON d.row = p.document
WHERE d.listed"""

# How many documents hold each of some terms.
_FREQUENCIES = """
SELECT asked.query, (SELECT count(*) FROM own_words AS w WHERE w.words @@ asked.query::tsquery)
FROM unnest(?::text[]) AS asked(query)"""

# The words of an owner with few documents, to look through: for each word the index of words would
# look through everybody's. An array holds what is kept packed unpacked, so that it is done once.
THEIR_WORDS = """
SELECT document, (ARRAY[words])[1] AS words FROM own_words WHERE owner = ? OFFSET 0"""
_THEIR_FREQUENCIES = f"SELECT ARRAY[{{counts}}] FROM ({THEIR_WORDS}) AS w"
_THEIR_COUNT = "count(*) FILTER (WHERE w.words @@ ?::tsquery)"

# All lexemes of some documents.
_LEXEMES = "SELECT word FROM ts_stat(?)"

# How much room all of it takes on the server.
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'twolane' AND c.relkind = 'r'"""


# Of so many owners it is kept what was counted: a few kilobytes each.
OWNERS = 2_000


def counted() -> Counted:
    """What is counted in one database."""
    counting = Counting(_TOTALS, _PROPERTIES, _languages, _terms, _frequencies)
    return Counted(counting, OWNERS)


def _languages(stored: Any) -> Sequence[str]:
    return tuple(stored)


def size(session: Session) -> int:
    """How many bytes all of it takes."""
    return int(session.rows(_SIZE)[0][0])


def _frequencies(session: Session, terms: Sequence[Term], said: Said) -> dict[Term, int]:
    if said.owner is not None and said.documents <= FEW:
        statement = _THEIR_FREQUENCIES.format(counts=", ".join([_THEIR_COUNT] * len(terms)))
        asked = [one(term, prefix=prefix) for term, prefix in terms]
        ((counts,),) = session.rows(statement, (*asked, said.owner))
        return dict(zip(terms, counts, strict=True))
    mark = "" if said.owner is None else f"{quoted(owned(said.owner))} & "
    queries = {mark + one(term, prefix=prefix): (term, prefix) for term, prefix in terms}
    found = session.rows(_FREQUENCIES, (list(queries),))
    return {queries[query]: count for query, count in found}


def _terms(session: Session, owner: str | None) -> list[str]:
    statement = "SELECT words FROM own_words"
    if owner is not None:
        statement += f" WHERE owner = {sql.Literal(owner).as_string()}"
    return sorted(word for (word,) in session.rows(_LEXEMES, (statement,)) if is_term(word))


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
