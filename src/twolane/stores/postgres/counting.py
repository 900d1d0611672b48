"""What stays true until somebody commits: totals, names, document frequencies, all terms."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from twolane.model.document import FIELDS, Kind
from twolane.stores.postgres.database import Connection, revision_of, rows, unhurried
from twolane.stores.postgres.expressions import Condition
from twolane.stores.postgres.lexemes import is_term, one, owned, quoted
from twolane.stores.vocabulary import Vocabulary

_TOTALS = f"SELECT sum(documents), {', '.join(f'sum({name})' for name in FIELDS)} FROM counters"

# What all documents in a condition say.
_SPOKEN = "SELECT d.languages, d.kind, count(*) FROM documents AS d WHERE {condition} GROUP BY 1, 2"
_PROPERTIES = """
SELECT DISTINCT p.name FROM property_values AS p JOIN documents AS d ON d.row = p.document
WHERE {condition}"""

# A name for the state that an owner's documents are in: each change has a number of its own.
_THEIR_STATE = """
SELECT count(*), coalesce(sum(revision), 0)::bigint FROM documents WHERE owner = %s"""

# How many documents hold each of some terms.
_FREQUENCIES = """
SELECT asked.query, (SELECT count(*) FROM words AS w WHERE w.words @@ asked.query::tsquery)
FROM unnest(%s::text[]) AS asked(query)"""

# All lexemes of some documents.
_LEXEMES = "SELECT word FROM ts_stat(%s)"

# How much room all of it takes on the server.
_SIZE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'twolane' AND c.relkind = 'r'"""

# As many owners as a few callers are by turns.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Totals:
    """How many documents there are, and how long their fields are on average."""

    documents: int
    averages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Said:
    """What documents say: everybody's, one owner's, or those in some scope.

    It holds for one revision of the index, and for one state of the owner's documents.
    `document_frequency` and `vocabulary` are filled when they are asked for.
    """

    revision: int
    state: tuple[int, int]
    documents: int
    languages: dict[str, int]
    properties: frozenset[str]
    kinds: frozenset[Kind]
    document_frequency: dict[tuple[str, bool], int] = field(default_factory=dict)
    vocabulary: list[Vocabulary] = field(default_factory=list)


class Counted:
    """What was counted, by owner; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: tuple[int, Totals] = (-1, Totals(0, {}))
        self._size: tuple[int, int] = (-1, 0)
        self._said: OrderedDict[str | None, Said] = OrderedDict()

    def totals(self, connection: Connection) -> Totals:
        """The totals of the index as the connection sees it."""
        revision = revision_of(connection)
        known = self._totals
        if known[0] != revision:
            known = self._totals = revision, _total(connection)
        return known[1]

    def size(self, connection: Connection) -> int:
        """How many bytes all of it takes, as of the last change that was seen."""
        revision = revision_of(connection)
        known = self._size
        if known[0] != revision:
            known = self._size = revision, int(rows(connection, _SIZE)[0][0])
        return known[1]

    def said(self, connection: Connection, owner: str | None) -> Said:
        """What the owner's documents say, or everybody's, as the connection sees them.

        Others' changes leave what was found for an owner as it is.
        """
        revision = revision_of(connection)
        with self._lock:
            held = self._said.get(owner)
        if held is None or held.revision != revision:
            held = _say(connection, owner, revision, held)
            with self._lock:
                self._said[owner] = held
                self._said.move_to_end(owner)
                while len(self._said) > _KEPT:
                    self._said.popitem(last=False)
        return held

    def frequencies(
        self, connection: Connection, asked: Iterable[tuple[str, bool]], owner: str | None
    ) -> dict[tuple[str, bool], int]:
        """How many of the owner's documents hold each term, or one that begins with it."""
        known = self.said(connection, owner).document_frequency
        wanted = list(dict.fromkeys(asked))
        missing = [each for each in wanted if each not in known]
        if missing:
            mark = "" if owner is None else f"{quoted(owned(owner))} & "
            queries = {mark + one(term, prefix=prefix): (term, prefix) for term, prefix in missing}
            for query, count in rows(connection, _FREQUENCIES, (list(queries),)):
                known[queries[query]] = count
        return {each: known[each] for each in wanted}

    def vocabulary(self, connection: Connection, owner: str | None) -> Vocabulary:
        """All terms of the owner's documents, or of everybody's."""
        held = self.said(connection, owner).vocabulary
        if not held:
            with unhurried(connection):
                held.append(Vocabulary(_terms(connection, owner)))
        return held[0]

    def count(self, connection: Connection, condition: Condition) -> Said:
        """What the documents `d` say that meet a condition, counted anew."""
        return _spoken(connection, condition, revision_of(connection), (0, 0))


def count_languages(found: Iterable[tuple[Sequence[str], int]]) -> dict[str, int]:
    """Documents by language, of those with the same languages together."""
    languages: dict[str, int] = {}
    for names, count in found:
        for name in names:
            languages[name] = languages.get(name, 0) + count
    return dict(sorted(languages.items()))


def _terms(connection: Connection, owner: str | None) -> list[str]:
    from psycopg import sql

    statement = "SELECT words FROM words"
    if owner is not None:
        statement += f" WHERE owner = {sql.Literal(owner).as_string(connection)}"
    found = rows(connection, _LEXEMES, (statement,))
    return sorted(word for (word,) in found if is_term(word))


def _total(connection: Connection) -> Totals:
    documents, *lengths = (int(each) for each in rows(connection, _TOTALS)[0])
    named = zip(FIELDS, lengths, strict=True)
    return Totals(documents, {name: each / documents if documents else 0.0 for name, each in named})


def _say(connection: Connection, owner: str | None, revision: int, before: Said | None) -> Said:
    if owner is None:
        return _spoken(connection, ("d.listed", []), revision, (0, 0))
    (state,) = rows(connection, _THEIR_STATE, (owner,))
    if before is not None and before.state == state:
        return replace(before, revision=revision)
    return _spoken(connection, ("d.listed AND d.owner = %s", [owner]), revision, state)


def _spoken(
    connection: Connection, condition: Condition, revision: int, state: tuple[int, int]
) -> Said:
    test, values = condition
    found = rows(connection, _SPOKEN.format(condition=test), values)
    properties = rows(connection, _PROPERTIES.format(condition=test), values)
    return Said(
        revision,
        state,
        sum(count for _, _, count in found),
        count_languages((names, count) for names, _, count in found),
        frozenset(name for (name,) in properties),
        frozenset(Kind(kind) for _, kind, _ in found),
    )
