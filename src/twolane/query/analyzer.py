"""What a typed text asks for: parsed, with its slips repaired, in the scope that it leaves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from twolane.model.answer import Mode, Repair
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope, Word
from twolane.ports import Stores
from twolane.query import Query, narrow, parse
from twolane.query.intent import Intent, classify
from twolane.query.literal import letters_of, parse_literally
from twolane.query.repair import repaired
from twolane.query.translation import with_translations
from twolane.query.vocabulary import Vocabulary
from twolane.settings import Settings
from twolane.text.translations import LANGUAGES

# So few words say too little about which of their translations was meant.
_FEW_WORDS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was understood: repaired, with its intent and the scope that it leaves.

    `letters` is what to look for by its letters, as it was typed.
    `lists` where there are no words to rank by: only filters and demands, or nothing at all.
    `translated` are its words with those of other languages that mean the same; empty where no
    document could be found by them.
    """

    query: Query
    repairs: tuple[Repair, ...]
    intent: Intent
    scope: Scope
    letters: str
    lists: bool
    translated: tuple[Word, ...] = ()


class Understanding:
    """Reads queries for one index; safe to share between threads."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._documents = stores.documents
        self._lexical = stores.lexical
        self._settings = settings

    def asked(self, text: str, scope: Scope, *, mode: Mode, now: datetime | None = None) -> Asked:
        """What the text asks for in the scope, where relative dates count from `now`."""
        typed = self._parsed(text, scope, mode, now)
        query, repairs = self._repaired(typed, scope)
        narrowed = narrow(scope, query)
        intent = classify(query.meaning if query.clause is None else text)
        # An empty line asks for everything.
        restricts = narrowed != scope or not text.strip()
        letters = letters_of(typed.meaning, text, mode, intent)
        if not restricts and not query.marks and not query.meaning:
            # What is nothing but signs (`:=`, an emoji) has no words, and is sought as it is.
            intent, letters = Intent.SYMBOL, text.strip()
        return Asked(
            query,
            repairs,
            intent,
            narrowed,
            letters,
            lists=restricts and not query.marks and not query.meaning,
            translated=self._translated(query, scope) if mode == Mode.HYBRID else (),
        )

    def _parsed(self, text: str, scope: Scope, mode: Mode, now: datetime | None) -> Query:
        stats = self._documents.stats(scope.all_of_owner)
        held, properties = frozenset(stats.languages), stats.properties
        if mode == Mode.EXACT:
            return parse_literally(text, held, now=now, properties=properties)
        stemming = self._settings.experiment.stemming
        return parse(text, held, now=now, stemming=stemming, properties=properties)

    def _repaired(self, query: Query, scope: Scope) -> tuple[Query, tuple[Repair, ...]]:
        """The query with slips repaired; words that some document holds stay as they are.

        Documents that the scope's owner may not see neither hold a word nor offer one.
        """
        if not self._settings.search.repair or not query.words:
            return query, ()
        try:
            frequency = self._lexical.document_frequencies(query.words, scope).document_frequency
            return repaired(
                query,
                lambda word: any(frequency.get(key) for key in word.keys),
                lambda: Vocabulary(self._lexical, scope),
                self._languages(scope),
            )
        except TooSlow:
            # The lanes look for what was typed, as far as there is any time left for them.
            return query, ()

    def _translated(self, query: Query, scope: Scope) -> tuple[Word, ...]:
        """The words of a sentence with their translations, if the index holds any of these.

        One or two words are too few to tell which of the translations was meant.
        """
        if len(query.words) <= _FEW_WORDS:
            return ()
        reading, held = query.reading, self._languages(scope)
        foreign = LANGUAGES.intersection(held) - reading.languages
        if not self._settings.ranking.translation_weight or not reading.spoken or not foreign:
            return ()
        try:
            words = with_translations(query.words, lambda terms: self._held_terms(terms, scope))
        except TooSlow:
            return ()
        return words if any(word.likeness for word in words) else ()

    def _held_terms(self, terms: Collection[str], scope: Scope) -> Collection[str]:
        return Vocabulary(self._lexical, scope).known(terms)

    def _languages(self, scope: Scope) -> frozenset[str]:
        return frozenset(self._documents.stats(scope.all_of_owner).languages)
