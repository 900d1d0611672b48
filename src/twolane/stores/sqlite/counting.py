"""The index in numbers and names: of everybody to weigh words by, of one owner to tell them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import apsw

from twolane.model import deadlines
from twolane.model.document import FIELDS, Kind
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.expressions import Value
from twolane.stores.vocabulary import Vocabulary

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

# What one owner's documents say, and a name for the state that they are in.
_THEIR_STATE = "SELECT count(*), max(revision) FROM documents WHERE owner = ?"
_THEIRS = "SELECT row, languages, kind FROM documents WHERE owner = ? AND listed"
_THEIR_PROPERTIES = """
SELECT DISTINCT p.name FROM documents AS d JOIN property_values AS p ON p.document = d.row
WHERE d.owner = ? AND d.listed"""
_THEIR_STREAMS = """
SELECT x.title || x.aliases || x.tags || x.headings || x.description || x.url || x.stems
FROM documents AS d JOIN texts AS x ON x.row = d.row WHERE d.owner = ? AND x.listed"""

# As many owners as a few callers are by turns.
_KEPT = 16


@dataclass(frozen=True, slots=True)
class Totals:
    """How many documents there are, and how long their fields are on average."""

    documents: int
    averages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Said:
    """What documents say: everybody's, one owner's, or those in some scope.

    It holds for one revision of the index, and for one state of the owner's documents.
    `rows` are the owner's, None for everybody's; `document_frequency` and `vocabulary` are filled
    when they are asked for.
    """

    revision: int
    state: tuple[int, int | None]
    rows: frozenset[int] | None
    documents: int
    languages: dict[str, int]
    properties: frozenset[str]
    kinds: frozenset[Kind]
    document_frequency: dict[tuple[str, bool], int] = field(default_factory=dict)
    vocabulary: list[Vocabulary] = field(default_factory=list)


class Counted:
    """What stays true until somebody commits; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = -1
        self._totals = Totals(0, {})
        self._said: OrderedDict[str | None, Said] = OrderedDict()

    def totals(self, connection: apsw.Connection) -> Totals:
        """The totals of the index as the connection sees it."""
        revision = _revision(connection)
        with self._lock:
            if revision != self._revision:
                with deadlines.unhurried():
                    self._totals = _total(connection)
                self._revision = revision
            return self._totals

    def said(self, connection: apsw.Connection, owner: str | None) -> Said:
        """What the owner's documents say, or everybody's, as the connection sees them.

        Others' changes leave what was found for an owner as it is.
        """
        revision = _revision(connection)
        with self._lock:
            held = self._said.get(owner)
            if held is None or held.revision != revision:
                with deadlines.unhurried():
                    held = self._said[owner] = _say(connection, owner, revision, held)
            self._said.move_to_end(owner)
            if len(self._said) > _KEPT:
                self._said.popitem(last=False)
            return held

    def vocabulary(self, connection: apsw.Connection, owner: str | None) -> Vocabulary:
        """All terms of the owner's documents, or of everybody's."""
        said = self.said(connection, owner)
        if not said.vocabulary:
            with deadlines.unhurried():
                said.vocabulary.append(Vocabulary(_terms(connection, owner)))
        return said.vocabulary[0]

    def count(self, connection: apsw.Connection, condition: str, values: list[Value]) -> Said:
        """What the documents `d` say that meet a condition, counted anew."""
        found = rows(
            connection,
            f"SELECT d.languages, d.kind, count(*) FROM documents AS d WHERE {condition}"
            " GROUP BY 1, 2",
            values,
        )
        properties = rows(
            connection,
            "SELECT DISTINCT name FROM property_values WHERE document IN"
            f" (SELECT d.row FROM documents AS d WHERE {condition})",
            values,
        )
        return Said(
            _revision(connection),
            (0, None),
            None,
            sum(count for _, _, count in found),
            count_languages((names, count) for names, _, count in found),
            frozenset(name for (name,) in properties),
            frozenset(Kind(kind) for _, kind, _ in found),
        )


def count_languages(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Documents by language, of those with the same languages together."""
    languages: dict[str, int] = {}
    for names, count in found:
        for name in names.split():
            languages[name] = languages.get(name, 0) + count
    return dict(sorted(languages.items()))


def document_frequency(
    connection: apsw.Connection, term: str, prefix: bool, among: frozenset[int] | None
) -> int:
    """How many documents hold the term, or one that begins with it; of these rows, if given."""
    if not prefix:
        known = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).get or 0
        if among is None or not known:
            return int(known)
    expression = '"' + term.replace('"', '""') + '"' + ("*" if prefix else "")
    if among is None:
        count = "SELECT count(*) FROM words WHERE words MATCH ?"
        return int(connection.execute(count, (expression,)).get)
    found = connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,))
    return sum(row in among for (row,) in found)


def _terms(connection: apsw.Connection, owner: str | None) -> list[str]:
    """All terms of the owner's listed documents, or of everybody's, sorted."""
    if owner is None:
        return [term for (term,) in connection.execute("SELECT term FROM vocabulary")]
    found: set[str] = set()
    for (streams,) in connection.execute(_THEIR_STREAMS, (owner,)):
        found.update(streams.split(" "))
    found.discard("")
    return sorted(found)


def _revision(connection: apsw.Connection) -> int:
    return int(rows(connection, "SELECT revision FROM counters")[0][0])


def _total(connection: apsw.Connection) -> Totals:
    documents, *lengths = rows(connection, f"SELECT documents, {', '.join(FIELDS)} FROM totals")[0]
    named = zip(FIELDS, lengths, strict=True)
    return Totals(documents, {name: one / documents if documents else 0.0 for name, one in named})


def _say(
    connection: apsw.Connection, owner: str | None, revision: int, before: Said | None
) -> Said:
    if owner is None:
        found = rows(
            connection,
            "SELECT languages, kind, count(*) FROM documents WHERE listed GROUP BY 1, 2",
        )
        state, own, properties = (0, None), None, rows(connection, _PROPERTIES)
    else:
        (state,) = rows(connection, _THEIR_STATE, (owner,))
        if before is not None and before.state == state:
            return replace(before, revision=revision)
        held = rows(connection, _THEIRS, (owner,))
        own = frozenset(row for row, _, _ in held)
        found = [(names, kind, 1) for _, names, kind in held]
        properties = rows(connection, _THEIR_PROPERTIES, (owner,))
    return Said(
        revision,
        state,
        own,
        sum(count for _, _, count in found),
        count_languages((names, count) for names, _, count in found),
        frozenset(name for (name,) in properties),
        frozenset(Kind(kind) for kind in {kind for _, kind, _ in found}),
    )
