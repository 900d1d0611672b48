"""The port of chat models: what answers a text with a text."""

from __future__ import annotations

from typing import Protocol

from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model wrote, and how many tokens it read and wrote, if it says so."""

    text: str
    tokens: int = 0


class Chat(Protocol):
    """Answers a text as instructed."""

    @property
    def name(self) -> str:
        """What its answers depend on, as one text; costs nothing."""

    def complete(self, instructions: str, text: str, *, most_tokens: int) -> Reply:
        """What the model writes, at most about so many tokens.

        Raises StageError if the model cannot be had or answers with anything else.
        """
