"""What stays true until somebody commits: totals, names, document frequencies, all terms.

Of everybody's documents to weigh words by, of one owner's to tell them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, Generic, TypeVar

from twolane.model.candidate import Frequencies
from twolane.model.document import FIELDS, Kind
from twolane.model.scope import Word
from twolane.model.values import dataclass
from twolane.stores.sql.filtering import Condition
from twolane.stores.sql.session import Session
from twolane.stores.vocabulary import Vocabulary

# What all documents in a condition say.
_SPOKEN = "SELECT d.languages, d.kind, count(*) FROM documents AS d WHERE {condition} GROUP BY 1, 2"
_PROPERTIES = """
SELECT DISTINCT p.name FROM property_values AS p JOIN documents AS d ON d.row = p.document
WHERE {condition}"""

# A name for the state that an owner's documents are in: each change has a number of its own.
_THEIR_STATE = """
SELECT count(*), coalesce(max(revision), 0), coalesce(sum(revision), 0)
FROM documents WHERE owner = ?"""

# As many owners as a few callers are by turns.
KEPT = 64

# A term, and whether what begins with it counts, too.
Term = tuple[str, bool]

_K = TypeVar("_K")
_V = TypeVar("_V")


class Remembered(Generic[_K, _V]):
    """The values that were asked for last, by key; safe to use from several threads.

    There are as many as weigh no more than `most` together; usually each weighs one.
    """

    def __init__(self, most: int = KEPT, weigh: Callable[[_V], int] = lambda _: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[_K, _V] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        """The value of a key, if it is remembered."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _K, value: _V) -> _V:
        """Remember a value, and forget those that nobody asked for the longest."""
        with self._lock:
            before = self._values.pop(key, None)
            self._weight += self._weigh(value) - (0 if before is None else self._weigh(before))
            self._values[key] = value
            while self._weight > self._most:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value


@dataclass(frozen=True, slots=True)
class Totals:
    """How many documents there are, and how long their fields are on average."""

    documents: int
    averages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Said:
    """What documents say: everybody's, one owner's, or those in some scope.

    It holds for one revision of the index, and for one state of the owner's documents.
    What is behind `kinds` is filled when it is asked for.
    """

    owner: str | None
    revision: int
    state: tuple[int, ...]
    documents: int
    languages: dict[str, int]
    properties: frozenset[str]
    kinds: frozenset[Kind]
    document_frequency: dict[Term, int] = field(default_factory=dict)
    rows: list[frozenset[int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Counting:
    """How an engine counts.

    `totals` gives the number of documents and the lengths of FIELDS; `properties` the names of
    everybody's; `languages` reads a stored list of them; `terms` are all of an owner's, sorted;
    `frequencies` say how many documents hold each term, or one that begins with it.
    """

    totals: str
    properties: str
    languages: Callable[[Any], Sequence[str]]
    terms: Callable[[Session, str | None], list[str]]
    frequencies: Callable[[Session, Sequence[Term], Said], dict[Term, int]]


class Counted:
    """What was counted, by owner; safe to use from several threads."""

    def __init__(self, engine: Counting, owners: int = KEPT) -> None:
        """`owners` is of how many owners the counts are kept; of a few, all their terms."""
        self._engine = engine
        self._totals: tuple[int, Totals] = (-1, Totals(0, {}))
        self._said: Remembered[str | None, Said] = Remembered(owners)
        self._vocabularies: Remembered[tuple[object, ...], Vocabulary] = Remembered()

    def totals(self, session: Session) -> Totals:
        """The totals of the index as the session sees it."""
        revision = session.revision()
        known = self._totals
        if known[0] != revision:
            with session.unhurried():
                (found,) = session.rows(self._engine.totals)
            documents, *lengths = (int(number) for number in found)
            named = zip(FIELDS, lengths, strict=True)
            averages = {name: total / documents if documents else 0.0 for name, total in named}
            known = self._totals = revision, Totals(documents, averages)
        return known[1]

    def said(self, session: Session, owner: str | None) -> Said:
        """What the owner's documents say, or everybody's, as the session sees them.

        Others' changes leave what was found for an owner as it is.
        """
        known = self._said.get(owner)
        if known is None or known.revision != session.revision():
            with session.unhurried():
                known = self._said.put(owner, self._say(session, owner, known))
        return known

    def frequencies(
        self, session: Session, terms: Iterable[Term], owner: str | None
    ) -> dict[Term, int]:
        """How many of the owner's documents hold each term, or one that begins with it."""
        wanted = list(dict.fromkeys(terms))
        if not wanted:
            return {}
        said = self.said(session, owner)
        known = said.document_frequency
        missing = [term for term in wanted if term not in known]
        if missing:
            known.update(self._engine.frequencies(session, missing, said))
        return {term: known[term] for term in wanted}

    def document_frequencies(
        self, session: Session, words: Sequence[Word], owner: str | None
    ) -> Frequencies:
        """The owner's documents, how many of them hold each term, and average field lengths."""
        totals = self.totals(session)
        documents = totals.documents if owner is None else self.said(session, owner).documents
        terms = [(term, word.prefix) for word in words for term in word.terms]
        counts = self.frequencies(session, terms, owner)
        keys = [key for word in words for key in word.keys]
        named = zip(keys, terms, strict=True)
        return Frequencies(documents, {key: counts[term] for key, term in named}, totals.averages)

    def vocabulary(self, session: Session, owner: str | None) -> Vocabulary:
        """All terms of the owner's documents, or of everybody's."""
        said = self.said(session, owner)
        key = (owner, said.state or said.revision)
        known = self._vocabularies.get(key)
        if known is None:
            with session.unhurried():
                found = Vocabulary(self._engine.terms(session, owner))
            known = self._vocabularies.put(key, found)
        return known

    def count(self, session: Session, condition: Condition) -> Said:
        """What the documents `d` say that meet a condition."""
        properties = _PROPERTIES.format(condition=condition[0]), condition[1]
        return self._spoken(session, condition, properties)

    def by_language(self, found: Iterable[tuple[object, int]]) -> dict[str, int]:
        """Documents by language, of those with the same languages together."""
        languages: dict[str, int] = {}
        for names, count in found:
            for name in self._engine.languages(names):
                languages[name] = languages.get(name, 0) + count
        return dict(sorted(languages.items()))

    def _say(self, session: Session, owner: str | None, before: Said | None) -> Said:
        if owner is None:
            return self._spoken(session, ("d.listed", []), (self._engine.properties, []))
        (found,) = session.rows(_THEIR_STATE, (owner,))
        state = tuple(int(number) for number in found)
        if before is not None and before.state == state:
            return replace(before, revision=session.revision())
        theirs: Condition = ("d.owner = ? AND d.listed", [owner])
        properties = _PROPERTIES.format(condition=theirs[0]), theirs[1]
        return replace(self._spoken(session, theirs, properties), owner=owner, state=state)

    def _spoken(self, session: Session, condition: Condition, properties: Condition) -> Said:
        found = session.rows(_SPOKEN.format(condition=condition[0]), condition[1])
        return Said(
            None,
            session.revision(),
            (),
            sum(count for _, _, count in found),
            self.by_language((names, count) for names, _, count in found),
            frozenset(name for (name,) in session.rows(*properties)),
            frozenset(Kind(kind) for _, kind, _ in found),
        )
