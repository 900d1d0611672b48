"""What a typed text asks for: parsed, with its slips repaired, in the scope that it leaves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from twolane.answers import Mode, Repair
from twolane.intent import Intent, classify
from twolane.language.translations import LANGUAGES
from twolane.ports import Retrieval
from twolane.query import Query, narrow, parse
from twolane.query.literal import letters_of, parse_literally
from twolane.repair import repaired
from twolane.scopes import Scope, Word
from twolane.settings import Settings
from twolane.translating import with_translations
from twolane.vocabulary import HeldVocabulary

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
            translated=self._translated(query) if mode == Mode.HYBRID else (),
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

    def _translated(self, query: Query) -> tuple[Word, ...]:
        """The words of a sentence with their translations, if the index holds any of these.

        One or two words are too few to tell which of the translations was meant.
        """
        if len(query.words) <= _FEW_WORDS:
            return ()
        reading, held = query.reading, self._retrieval.languages()
        foreign = LANGUAGES.intersection(held) - reading.languages
        if not self._settings.translation_weight or not reading.spoken or not foreign:
            return ()
        words = with_translations(query.words, self._held_terms)
        return words if any(word.likeness for word in words) else ()

    def _held_terms(self, terms: Collection[str]) -> Collection[str]:
        containing = self._retrieval.frequencies([Word("", tuple(terms))]).containing
        return {term for term, documents in containing.items() if documents}
