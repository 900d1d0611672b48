"""The plan of a search: which lanes run, and how loud each is.

The shape of the query, its intent, decides; the weights are settings that measurement chose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from twolane.model.answer import Lane, Mode
from twolane.query.intent import Intent
from twolane.settings import Settings

# Queries whose letters say more than the words that they are made of.
_LITERAL = frozenset((Intent.QUOTED, Intent.URL, Intent.PATH, Intent.SYMBOL))

# Slips after which what was typed stands nowhere; after any other it may be part of a word.
_FOREIGN = frozenset(("layout", "transliteration"))


@dataclass(frozen=True, slots=True)
class Plan:
    """Which lanes run, with which weight, in which order.

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
    if mode == Mode.EXACT:
        return Plan(intent, {Lane.EXACT: settings.ranking.exact_weight or 1.0}, {})
    quieter = settings.ranking.keyword_dense_weight if intent.keyword else 1.0
    dense = {Lane.DENSE: settings.ranking.dense_weight * quieter}
    if mode == Mode.SEMANTIC:
        return Plan(intent, dense, {})
    weights = {Lane.LEXICAL: settings.ranking.lexical_weight}
    fallback = {}
    if settings.ranking.exact_weight:
        exact = {Lane.EXACT: settings.ranking.exact_weight}
        if mode == Mode.HYBRID and (intent in _LITERAL or not _FOREIGN.issuperset(repairs)):
            weights |= exact
        else:
            fallback = exact
    if mode == Mode.HYBRID:
        weights |= dense
        if settings.ranking.identity_weight:
            weights |= {Lane.IDENTITY: settings.ranking.identity_weight}
    return Plan(intent, weights, fallback)
