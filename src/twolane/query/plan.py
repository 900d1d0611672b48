"""The plan of a search: which lanes run; the shape of the query, its intent, decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from twolane.model.answer import Lane, Mode
from twolane.model.values import dataclass
from twolane.query.intent import Intent
from twolane.settings import Settings

# Queries whose letters say more than the words that they are made of.
_LITERAL = frozenset((Intent.QUOTED, Intent.URL, Intent.PATH, Intent.SYMBOL))

# Slips after which what was typed stands nowhere; after any other it may be part of a word.
_FOREIGN = frozenset(("layout", "transliteration"))


@dataclass(frozen=True, slots=True)
class Plan:
    """Which lanes run, in which order, and what each weighs where ranks are fused.

    `fallback` are lanes that run only if no lane that looks at words or letters found anything.
    """

    intent: Intent
    weights: Mapping[Lane, float]
    fallback: Mapping[Lane, float]

    def followed(self, ran: Collection[Lane]) -> Plan:
        """The plan as it was followed: with the fallbacks that were needed, and no others."""
        needed = {lane: weight for lane, weight in self.fallback.items() if lane in ran}
        return replace(self, weights={**self.weights, **needed}, fallback={})


def plan_for(mode: Mode, intent: Intent, settings: Settings, repairs: Collection[str] = ()) -> Plan:
    """The plan for a query of this intent, whose words were repaired in these ways."""
    dense = {Lane.DENSE: settings.ranking.dense_weight}
    exact, identity = {Lane.EXACT: 1.0}, {Lane.IDENTITY: 1.0}
    if mode == Mode.EXACT:
        return Plan(intent, exact, {})
    if mode == Mode.SEMANTIC:
        return Plan(intent, dense, {})
    lexical = {Lane.LEXICAL: settings.ranking.lexical_weight}
    letters = settings.experiment.letters
    if mode == Mode.LEXICAL:
        return Plan(intent, lexical, exact if letters else {})
    if not letters:
        return Plan(intent, lexical | dense, {})
    if intent in _LITERAL or not _FOREIGN.issuperset(repairs):
        return Plan(intent, lexical | exact | dense | identity, {})
    return Plan(intent, lexical | dense | identity, exact)
