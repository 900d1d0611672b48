"""What was typed, as a value: words, demands, filters and what to embed.

Anything can be typed: parsing never raises, and what is no syntax is words (see `query.syntax`).
Limits keep a pasted page from becoming a query that no store can answer;
they are far beyond what a person types.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import assert_never

from twolane.model.answer import Misread
from twolane.model.document import FIELDS
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.model.values import dataclass
from twolane.query.filter_names import reason_against
from twolane.query.filters import Filters, merged, narrowed, read_filter, with_zone
from twolane.query.syntax import Group, Named, Nearby, Negated, Node, Text, read_syntax
from twolane.query.words import spell, spell_content
from twolane.text.tokens import Reading, fold, only_stemmed_as, read

__all__ = ["Filters", "Query", "narrow", "parse"]

# What stands further on in a pasted text is not read.
_LONGEST = 10_000

# A pasted page must not become a query of a thousand terms: its first words say what it is about.
_MOST_WORDS = 64

# The words of all demands together; further demands are dropped.
_MOST_DEMANDED = 256

# Different quotations that are compared letter by letter; each is looked for in every text that
# has its words.
_MOST_LITERALS = 32

# Different beginnings of words (`word*`); each stands for all the words that begin so.
_MOST_PREFIXES = 16

# A hundred words settle the languages of a query.
_SAMPLE = 4000

# Control, zero-width and direction characters come with pasted text and mean nothing.
_IDLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Query:
    """A query as understood.

    `words` may be relaxed: all of them first, then most, then some.
    `clause` holds the demands that every lane obeys: phrases, nearness, groups, fields, exclusions.
    `meaning` is what to embed: the words as typed, without operators, filters and exclusions.
    `marks` are all words that are wanted, of `words` and of `clause`, for scoring and highlighting.
    `misread` are filters that make no sense and became words.
    """

    text: str
    words: tuple[Word, ...]
    clause: Clause | None
    meaning: str
    marks: tuple[Word, ...]
    reading: Reading
    filters: Filters
    misread: tuple[Misread, ...] = ()


def parse(
    text: str,
    index_languages: Collection[str] = (),
    *,
    now: datetime | None = None,
    stemming: str = "per-language",
    properties: Collection[str] = (),
) -> Query:
    """The query that the text says, for an index that holds these languages and properties.

    A name before a colon that is no property of the index is a word like any other.

    Relative dates (`after:30d`) count from `now`, and dates are in its time zone (else UTC).
    `stemming` is the setting under which the index was made.
    """
    typed = _clean(text)
    now = now or datetime.now(UTC)
    draft = _Draft(index_languages, with_zone(now), only_stemmed_as(stemming), properties)
    syntax = read_syntax(typed, properties)
    for part in syntax.parts:
        draft.add(part, boolean=syntax.boolean)
    if draft.is_empty():
        # Operators without operands and the like: all that is left is to take them for words.
        for token in typed.split():
            draft.add(Text(token), boolean=False)
    return draft.finish(typed)


def narrow(scope: Scope, query: Query) -> Scope:
    """The scope with the query's filters and clause added; never wider than either.

    The one exception is what was archived: the query may ask for it by itself.
    """
    if query.filters is _FREE and query.clause is None:
        return scope
    return narrowed(scope, query.filters, query.clause)


# Most queries restrict nothing.
_FREE = Filters()


class _Draft:
    """A query while its parts are read."""

    def __init__(
        self,
        index_languages: Collection[str],
        now: datetime,
        only: str | None,
        properties: Collection[str],
    ) -> None:
        self.index_languages = index_languages
        self.properties = properties
        self.stemmed = index_languages if only is None else (only,)
        self.now = now
        self.wanted: list[Filters] = []
        self.unwanted: list[Filters] = []
        self.demands: list[Clause] = []
        # In the order of typing: tokens that may be relaxed, and the words of demands.
        self.found: list[Text | tuple[Word, ...]] = []
        self.said: list[str] = []
        # A part may be settled several times, so these are kept once each.
        self.misread: dict[Misread, None] = {}
        self.room = _MOST_DEMANDED
        # What is said twice is demanded once.
        self.phrases: dict[tuple[Text, bool], Phrase | None] = {}
        self.literals: set[str] = set()
        self.prefixes: set[str] = set()
        # What was too much, as it was typed, by the limit that it was too much for.
        self.left_out: dict[str, dict[str, None]] = {}

    def is_empty(self) -> bool:
        """Whether nothing was asked for so far."""
        return not (self.found or self.demands or self.wanted or self.unwanted)

    def add(self, part: Node, *, boolean: bool) -> None:
        """Take in one of the parts that stand side by side."""
        negated = isinstance(part, Negated)
        node = self._settled(part.part if isinstance(part, Negated) else part)
        if isinstance(node, _Filter):
            (self.unwanted if negated else self.wanted).append(node.filters)
            return
        if isinstance(node, Text) and not (boolean or negated or node.quoted):
            self.said.append(node.text)
            if node.demands:
                self.found.append(self._bounded(node))
            return
        clause = self._clause(Negated(node) if negated else node)
        if clause:
            self.demands.append(clause)

    def finish(self, typed: str) -> Query:
        """The query that all parts make."""
        meaning = " ".join(" ".join(self.said).split())
        reading = read(meaning[:_SAMPLE], self.index_languages)
        words, marks = self._chosen(reading.languages)
        if not marks:
            # Where nothing else remains function words count: "to be or not to be".
            words, marks = self._chosen(())
        return Query(
            text=typed,
            words=words,
            clause=_all(self.demands),
            meaning=meaning if marks else "",
            marks=marks,
            reading=reading,
            filters=merged(self.wanted, self.unwanted) if self.wanted or self.unwanted else _FREE,
            misread=(
                *self.misread,
                *(_too_many(tuple(typed), limit) for limit, typed in self.left_out.items()),
            ),
        )

    def _chosen(self, languages: Collection[str]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Words and marks, each once, without the function words of the languages."""
        words: dict[object, Word] = {}
        marks: dict[object, Word] = {}
        for found in dict.fromkeys(self.found):
            if not isinstance(found, Text):
                for word in found:
                    marks.setdefault((word.terms, word.prefix), word)
            elif len(words) < _MOST_WORDS:
                for word in spell_content(found.text, self.stemmed, languages, prefix=found.prefix):
                    key = word.terms, word.prefix
                    words[key] = marks.setdefault(key, word)
                    if len(words) == _MOST_WORDS:
                        break
        return tuple(words.values()), tuple(marks.values())

    def _settled(self, node: Node) -> Node | _Filter:
        """A named part as the filter it is, as a field, or as words if it is neither."""
        if not isinstance(node, Named):
            return node
        value = node.value
        if isinstance(value, Text) and not value.prefix:
            filters = read_filter(
                node.name, value.text, self.index_languages, self.now, self.properties
            )
            if filters:
                return _Filter(filters, node)
            if reason := reason_against(node.name, value.text):
                self.misread[Misread(node.raw, reason)] = None
        wordless = isinstance(value, Text) and not value.demands
        return Text(node.raw) if wordless or node.name not in FIELDS else node

    def _clause(self, node: Node, *, wanted: bool = True, field: bool = False) -> Clause | None:
        """The node as a demand; None if it demands nothing."""
        match node:
            case Text():
                return self._phrase(node, wanted)
            case Nearby(items, distance):
                phrases = [phrase for item in items if (phrase := self._phrase(item, wanted))]
                once = tuple(dict.fromkeys(phrases))
                if len(phrases) < 2:
                    return None
                return Near(once, distance) if len(once) > 1 else once[0]
            case Named():
                return self._named(node, wanted, field)
            case Group(parts, either):
                inner = [self._clause(part, wanted=wanted, field=field) for part in parts]
                clauses = [clause for clause in inner if clause]
                return _either(clauses) if either else _all(clauses)
            case Negated(part):
                if wanted and isinstance(part, Named) and self._excluded(part):
                    return None
                clause = self._clause(part, wanted=False, field=field)
                return Without(clause) if clause else None
            case _:
                assert_never(node)

    def _excluded(self, node: Named) -> bool:
        """Whether the node is a filter that no clause can say; then it excludes everywhere."""
        settled = self._settled(node)
        if not isinstance(settled, _Filter) or settled.filters.tags:
            return False
        self.unwanted.append(settled.filters)
        return True

    def _named(self, node: Named, wanted: bool, field: bool) -> Clause | None:
        settled = self._settled(node)
        if isinstance(settled, _Filter) and not settled.filters.tags:
            if not wanted:
                return self._phrase(Text(node.raw), wanted)
            # A filter holds for the whole query, wherever it stands.
            self.wanted.append(settled.filters)
            return None
        if isinstance(settled, Text):
            return self._phrase(settled, wanted)
        clause = self._clause(node.value, wanted=wanted, field=True)
        # A field within a field is the outer one's.
        return InField(node.name, clause) if clause and not field else clause

    def _phrase(self, text: Text, wanted: bool) -> Phrase | None:
        if wanted:
            self.said.append(text.text)
        asked = text, wanted
        if asked not in self.phrases:
            self.phrases[asked] = self._spelled(text, wanted)
        return self.phrases[asked]

    def _spelled(self, text: Text, wanted: bool) -> Phrase | None:
        if self.room <= 0:
            self._leave_out(text.text, _MANY_DEMANDED)
            return None
        text = self._bounded(text)
        # The letters of a long quotation are compared in full, so its first words are enough.
        spelled = spell(text.text, self.stemmed, prefix=text.prefix)
        words = tuple(islice(spelled, _MOST_WORDS))
        literal = self._literal(text)
        if not words and not literal:
            return None
        self.room -= max(1, len(words))
        if wanted and words:
            self.found.append(words)
        return Phrase(words, literal or None)

    def _literal(self, text: Text) -> str:
        """What to compare letter by letter; empty for what is not quoted, or one too many."""
        literal = " ".join(fold(text.text).split()) if text.quoted else ""
        if literal and literal not in self.literals:
            if len(self.literals) == _MOST_LITERALS:
                self._leave_out(f'"{text.text}"', _MANY_LITERALS)
                return ""
            self.literals.add(literal)
        return literal

    def _bounded(self, text: Text) -> Text:
        """The text as a whole word if it is a beginning and there are too many of them."""
        if text.prefix and text.text not in self.prefixes:
            if len(self.prefixes) == _MOST_PREFIXES:
                self._leave_out(f"{text.text}*", _MANY_PREFIXES)
                return replace(text, prefix=False)
            self.prefixes.add(text.text)
        return text

    def _leave_out(self, typed: str, limit: str) -> None:
        self.left_out.setdefault(limit, {})[typed] = None


@dataclass(frozen=True, slots=True)
class _Filter:
    """A named part that was understood as a filter."""

    filters: Filters
    named: Named


def _clean(text: str) -> str:
    """The text as any store, embedder and terminal can take it: NFC, without idle characters."""
    # The cut comes first: composing takes quadratic time where accents are piled up.
    composed = unicodedata.normalize("NFC", _SURROGATE.sub("\ufffd", text.strip()[:_LONGEST]))
    return _IDLE.sub(" ", composed).strip()


def _all(clauses: Sequence[Clause]) -> Clause | None:
    once = tuple(dict.fromkeys(clauses))
    if len(once) < 2:
        return once[0] if once else None
    return All(once)


def _either(clauses: Sequence[Clause]) -> Clause | None:
    once = tuple(dict.fromkeys(clauses))
    if len(once) < 2:
        return once[0] if once else None
    return Either(once)


_MANY_LITERALS = f"only the first {_MOST_LITERALS} quotations are compared letter by letter"
_MANY_PREFIXES = f"only the first {_MOST_PREFIXES} beginnings of words stand for all such words"
_MANY_DEMANDED = f"only the first {_MOST_DEMANDED} words are demanded"


def _too_many(typed: Sequence[str], limit: str) -> Misread:
    """What a limit left out, told once: the first of it, and how much more there was."""
    more = f" and {len(typed) - 1:,} more" if len(typed) > 1 else ""
    return Misread(typed[0] + more, limit)
