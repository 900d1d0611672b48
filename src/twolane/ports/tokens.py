"""What the inside asks of a store about tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from twolane.model.tokens import Token


class Tokens(Protocol):
    """Keeps tokens, and remembers that there were any."""

    def tokens(self) -> list[Token]:
        """Every token that is not revoked, oldest first."""

    def token(self, id: str) -> Token | None:
        """The token with this id, unless it is revoked; cheap enough for every request."""

    def add_tokens(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens, all or none; an id that was ever there stays what it is, revoked or not.

        The name of another token is a BadInput.
        """

    def revoke_token(self, reference: str) -> Token | None:
        """Revoke the token with this id, or else of this name, for good; None if there is none."""

    def use_token(self, id: str, at: datetime) -> None:
        """Note when a token was last used."""

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token; as cheap as `token`."""
