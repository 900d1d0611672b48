"""Whom a server over a library lets in: its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from twolane.library.held import LOCAL, Held
from twolane.model.errors import BadInput
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.model.tokens import Token, id_in, make, opens


class Admitting(Held):
    """Tokens let callers in, so making and revoking them takes the capability `admin`."""

    def tokens(self, *, scope: Scope = LOCAL) -> list[Token]:
        """Every token that is not revoked, oldest first."""
        require(scope, Capability.ADMIN)
        return self._stores.tokens.tokens()

    def add_token(
        self,
        name: str,
        *,
        owner: str | None = None,
        capabilities: Iterable[str] = (Capability.SEARCH, Capability.SEMANTIC),
        expires: datetime | None = None,
        scope: Scope = LOCAL,
    ) -> tuple[Token, str]:
        """Make a token; its text is given here and never again."""
        require(scope, Capability.ADMIN)
        now = datetime.now(UTC)
        made, text = make(name, owner=owner, capabilities=capabilities, expires=expires, now=now)
        self._stores.tokens.add_tokens([made])
        return made, text

    def take_over_tokens(self, tokens: Sequence[Token], *, scope: Scope = LOCAL) -> None:
        """Keep tokens that were made elsewhere; one that was revoked here stays revoked."""
        require(scope, Capability.ADMIN)
        self._stores.tokens.add_tokens(tokens)

    def revoke_token(self, reference: str, *, scope: Scope = LOCAL) -> Token:
        """Let the token with this id or name open nothing any more."""
        require(scope, Capability.ADMIN)
        gone = self._stores.tokens.revoke_token(reference)
        if gone is None:
            known = ", ".join(sorted(one.name for one in self._stores.tokens.tokens())) or "none"
            raise BadInput(f"there is no token {reference!r}; there are: {known}")
        return gone

    def token_of(self, text: str) -> Token | None:
        """The token that this is the text of, whether or not its time is up; None if it is none."""
        held = self._stores.tokens.token(id_in(text))
        return held if opens(text, held) else None

    def use_token(self, token: Token, at: datetime) -> None:
        """Note when a token was last used."""
        self._stores.tokens.use_token(token.id, at)

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token: then nobody is let in without one."""
        return self._stores.tokens.had_tokens()
