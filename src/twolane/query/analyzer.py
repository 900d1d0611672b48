"""What a typed text asks for: parsed, with its slips repaired, in the scope that it leaves."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice

from twolane.model.answer import Mode, Repair
from twolane.model.errors import TooSlow
from twolane.model.scope import Scope, Word
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.query import Query, narrow, parse
from twolane.query.intent import Intent, classify
from twolane.query.literal import letters_of, parse_literally
from twolane.query.repair import Vocabulary, repaired
from twolane.query.words import spell
from twolane.settings import Settings
from twolane.text.tokens import only_stemmed_as

# The last word of a text that nothing was typed after: letters alone, and no operator.
_LAST_WORD = re.compile(r"(?:^|(?<=\s))(?!(?:AND|OR|NOT)$)[^\W\d_]+$")

# So many words show which of them stand side by side.
_MOST_IN_SEQUENCE = 64


@dataclass(frozen=True, slots=True)
class AnalyzedQuery:
    """What a text asks for: parsed, repaired, with its intent and the scope that it leaves.

    `literal` is what to look for by its letters, as it was typed.
    `filters_only` where there are no words to rank by: only filters and demands, or nothing at all.
    `sequence` are all its words in order, also function words.
    """

    parsed: Query
    repairs: tuple[Repair, ...]
    intent: Intent
    scope: Scope
    literal: str
    filters_only: bool
    sequence: tuple[Word, ...] = ()

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that it may be in; None for names, codes and numbers, which have none."""
        reading = self.parsed.reading
        return reading.languages if reading.spoken else None

    @property
    def readings(self) -> dict[str, float]:
        """Texts that say what is meant, with weights: the words as typed, and those that count.

        Function words and the form of a sentence move a vector, but mean little; between the two
        it is nearer to what is meant, across languages most (docs/explanation/ranking-model.md).
        """
        readings = {self.parsed.meaning: 1.0}
        content = " ".join(word.text for word in self.parsed.marks)
        if self.repairs or content in ("", self.parsed.meaning):
            # The words as typed are not what is meant where they were repaired.
            return readings
        return {**readings, content: 0.5}


class QueryAnalyzer:
    """Reads queries for one index; safe to share between threads."""

    def __init__(self, stores: Stores, settings: Settings) -> None:
        self._documents = stores.documents
        self._lexical = stores.lexical
        self._settings = settings

    def analyze(
        self, text: str, scope: Scope, *, mode: Mode, now: datetime | None = None
    ) -> AnalyzedQuery:
        """What the text asks for in the scope, where relative dates count from `now`."""
        typed = self._parsed(text, scope, mode, now)
        query, repairs = self._repaired(typed, scope)
        narrowed = narrow(scope, query)
        intent = classify(query.meaning if query.clause is None else text)
        # An empty line asks for everything.
        restricts = narrowed != scope or not text.strip()
        literal = letters_of(typed.meaning, text, mode, intent)
        if not restricts and not query.marks and not query.meaning:
            # What is nothing but signs (`:=`, an emoji) has no words, and is sought as it is.
            intent, literal = Intent.SYMBOL, text.strip()
        return AnalyzedQuery(
            query,
            repairs,
            intent,
            narrowed,
            literal,
            filters_only=restricts and not query.marks and not query.meaning,
            sequence=self._sequence(query, scope),
        )

    def open_ended(self, text: str, scope: Scope) -> str:
        """The text with its last word as the beginning of one, for somebody who types still.

        A word that no document has anything like stays as it is, so that a slip is repaired;
        a single letter after other words says nothing yet.
        """
        last = _LAST_WORD.search(text)
        if last is None or '"' in text:
            return text
        if len(last.group()) == 1:
            return text[: last.start()].rstrip() or text
        beginning = self._parsed(f"{last.group()}*", scope, Mode.LEXICAL, None).words
        frequency = self._lexical.document_frequencies(beginning, scope).document_frequency
        return f"{text}*" if any(frequency.values()) else text

    def _sequence(self, query: Query, scope: Scope) -> tuple[Word, ...]:
        """The words in order; those that were repaired as what they were taken for."""
        only = only_stemmed_as(self._settings.experiment.stemming)
        spelled = spell(query.meaning, self._languages(scope) if only is None else (only,))
        taken_for = {word.text: word for word in query.marks if word.weight < 1}
        return tuple(taken_for.get(word.text, word) for word in islice(spelled, _MOST_IN_SEQUENCE))

    def _parsed(self, text: str, scope: Scope, mode: Mode, now: datetime | None) -> Query:
        stats = self._documents.stats(scope.all_of_owner)
        index_languages, properties = frozenset(stats.languages), stats.properties
        if mode == Mode.EXACT:
            return parse_literally(text, index_languages, now=now, properties=properties)
        stemming = self._settings.experiment.stemming
        return parse(text, index_languages, now=now, stemming=stemming, properties=properties)

    def _repaired(self, query: Query, scope: Scope) -> tuple[Query, tuple[Repair, ...]]:
        """The query with slips repaired; words that some document holds stay as they are.

        Documents that the scope's owner may not see neither hold a word nor offer one.
        """
        if not self._settings.search.repair or not query.words:
            return query, ()
        try:
            # With all that scoring asks for later, which is counted in one go.
            words = dict.fromkeys((*query.words, *query.marks, *self._sequence(query, scope)))
            frequency = self._lexical.document_frequencies([*words], scope).document_frequency
            return repaired(
                query,
                lambda word: any(frequency.get(key) for key in word.keys),
                lambda: Vocabulary(self._lexical, scope),
                self._languages(scope),
            )
        except TooSlow:
            # The lanes look for what was typed, as far as there is any time left for them.
            return query, ()

    def _languages(self, scope: Scope) -> frozenset[str]:
        return frozenset(self._documents.stats(scope.all_of_owner).languages)
