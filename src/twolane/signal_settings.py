"""The settings of signals: what speaks for a document whatever the query is about."""

from __future__ import annotations

from dataclasses import dataclass

from twolane.model_settings import ModelSettings
from twolane.setting_values import between, setting


@dataclass(frozen=True, slots=True)
class SignalSettings(ModelSettings):
    """How much change, use and tags count beside what a query asks for; all off."""

    recency_weight: float = setting(
        0.0, "Weight of how lately a document was changed; 0 is off.", between(0, 10)
    )
    use_weight: float = setting(
        0.0, "Weight of how lately a document was used; 0 is off.", between(0, 10)
    )
    usage_weight: float = setting(
        0.0, "Weight of how often a document was used; 0 is off.", between(0, 10)
    )
    tag_weight: float = setting(
        0.0, "Weight of the share of the query's words that are tags; 0 is off.", between(0, 10)
    )
    half_life_days: float = setting(
        180.0, "After so many days a change or a use counts half as much.", between(0.1, 100_000)
    )
    half_uses: float = setting(
        10.0, "So many uses count half as much as any number of them.", between(0.1, 1_000_000)
    )
