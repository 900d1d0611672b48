"""Tokens in the memory store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from twolane.model.errors import BadInput
from twolane.model.tokens import Token
from twolane.stores.memory.state import State


class MemoryTokens:
    """The `Tokens` port over a shared state; a token that was revoked is kept as None."""

    def __init__(self, state: State) -> None:
        self._state = state

    def tokens(self) -> list[Token]:
        """Every token that is not revoked, oldest first."""
        with self._state.lock:
            return [one for one in self._state.tokens.values() if one is not None]

    def token(self, id: str) -> Token | None:
        """The token with this id, unless it is revoked."""
        with self._state.lock:
            return self._state.tokens.get(id)

    def add_tokens(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens, all or none; an id that was ever there stays what it is."""
        with self._state.lock:
            held = dict(self._state.tokens)
            for one in tokens:
                if one.id in held:
                    continue
                if any(other is not None and other.name == one.name for other in held.values()):
                    raise BadInput(
                        f"there is a token {one.name!r}; revoke it first, or choose another name"
                    )
                held[one.id] = one
            self._state.tokens = held

    def revoke_token(self, reference: str) -> Token | None:
        """Revoke the token with this id, or else of this name, for good."""
        with self._state.lock:
            named = [one for one in self.tokens() if reference in (one.id, one.name)]
            gone = next((one for one in named if one.id == reference), None) or next(
                iter(named), None
            )
            if gone is not None:
                self._state.tokens[gone.id] = None
            return gone

    def use_token(self, id: str, at: datetime) -> None:
        """Note when a token was last used."""
        with self._state.lock:
            held = self._state.tokens.get(id)
            if held is not None:
                latest = at if held.used is None else max(at, held.used)
                self._state.tokens[id] = replace(held, used=latest)

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token."""
        with self._state.lock:
            return bool(self._state.tokens)
