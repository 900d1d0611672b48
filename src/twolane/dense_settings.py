"""The settings of the dense lane: how queries and passages are compared by meaning."""

from __future__ import annotations

from dataclasses import dataclass

from twolane.setting_values import between, setting
from twolane.signal_settings import SignalSettings


@dataclass(frozen=True, slots=True)
class DenseSettings(SignalSettings):
    """What is done to similarities before they vote; switches are kept to show their worth."""

    confidence: bool = setting(
        True,
        "Whether the dense lane votes by how similar its best passage is: a query that resembles "
        "nothing (a code, a name, a typo) should not be decided by meaning.",
    )
    brevity: bool = setting(
        True,
        "Whether what all short texts have in common is taken out of a query's vector, so that a "
        "note of a word or two is not near every query of a word or two.",
    )
    centring: bool = setting(
        True,
        "Whether vectors with the accent of a language are centred by it; kept to show what that "
        "is worth.",
    )
    sentence_weight: float = setting(
        0.5,
        "What the best sentence of a passage counts beside the passage in the dense lane; 0 "
        "compares whole passages alone.",
        between(0, 100),
    )
    counterparts: bool = setting(
        True,
        "Whether documents that say the same in two languages vouch for each other: the dense "
        "lane lifts the lower one, and the lexical lane judges a translation by its original.",
    )
