"""What a typed text asks for: parsed, with its slips repaired, in the scope that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from twolane.answers import Mode, Repair
from twolane.intent import Intent, classify
from twolane.ports import Retrieval
from twolane.query import Query, narrow, parse
from twolane.query.literal import letters_of, parse_literally
from twolane.repair import HeldVocabulary, repaired
from twolane.scopes import Scope
from twolane.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was understood: repaired, with its intent and the scope that it leaves.

    `letters` is what to look for by its letters, as it was typed.
    `lists` where there are no words to rank by: only filters and demands, or nothing at all.
    """

    query: Query
    repairs: tuple[Repair, ...]
    intent: Intent
    scope: Scope
    letters: str
    lists: bool


class Understanding:
    """Reads queries for one index; safe to share between threads."""

    def __init__(self, retrieval: Retrieval, settings: Settings) -> None:
        self._retrieval = retrieval
        self._settings = settings
        self._vocabulary = HeldVocabulary(retrieval)

    def asked(self, text: str, scope: Scope, *, mode: Mode, now: datetime | None = None) -> Asked:
        """What the text asks for in the scope, where relative dates count from `now`."""
        typed = self._parsed(text, mode, now)
        query, repairs = self._repaired(typed)
        narrowed = narrow(scope, query)
        intent = classify(query.meaning if query.clause is None else text)
        # What is nothing but signs asks for nothing; an empty line asks for everything.
        restricts = narrowed != scope or not text.strip()
        return Asked(
            query,
            repairs,
            intent,
            narrowed,
            letters_of(typed.meaning, text, mode, intent),
            lists=restricts and not query.marks and not query.meaning,
        )

    def _parsed(self, text: str, mode: Mode, now: datetime | None) -> Query:
        held, properties = self._retrieval.languages(), self._retrieval.properties()
        if mode == Mode.EXACT:
            return parse_literally(text, held, now=now, properties=properties)
        stemming = self._settings.stemming
        return parse(text, held, now=now, stemming=stemming, properties=properties)

    def _repaired(self, query: Query) -> tuple[Query, tuple[Repair, ...]]:
        """The query with slips repaired; words that some document holds stay as they are."""
        if not self._settings.repair or not query.words:
            return query, ()
        containing = self._retrieval.frequencies(query.words).containing
        return repaired(
            query,
            lambda word: any(containing.get(term) for term in word.terms),
            self._vocabulary.current,
            self._retrieval.languages(),
        )
