"""Tokens: made once, kept as hashes, compared without telling how near a guess was.

A token is `tl_`, its id, `_` and a secret of 256 random bits, so a plain hash is enough:
nothing about it can be guessed from a list of likely words.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.model.values import dataclass

_PREFIX = "tl"
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class Token:
    """Who may ask what, and until when: everything but the secret, of which only a hash is kept.

    `used` is when it was last sent, to the minute.
    """

    id: str
    name: str
    owner: str | None
    capabilities: frozenset[Capability]
    created: datetime
    sha256: str
    expires: datetime | None = None
    used: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether its time is up."""
        return self.expires is not None and self.expires <= now


def make(
    name: str,
    *,
    owner: str | None,
    capabilities: Iterable[str],
    expires: datetime | None,
    now: datetime,
) -> tuple[Token, str]:
    """A new token and its text, which is known here and never again."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise BadInput("a token needs a name of up to 100 characters that can be printed")
    if owner is not None and not owner.strip():
        raise BadInput("the owner of a token needs a name; leave it out for all documents")
    if expires is not None and expires <= now:
        raise BadInput(f"{expires.isoformat()} is over; choose a later time for the token to end")
    # Slow to import, and seldom needed.
    import secrets

    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    may = named_capabilities(capabilities)
    token = Token(id, name, owner, may, now.replace(microsecond=0), _hash(secret), expires)
    return token, f"{_PREFIX}_{id}_{secret}"


def id_in(text: str) -> str:
    """The id that a text names as a token; empty for what is none."""
    prefix, _, rest = text.partition("_")
    return rest.partition("_")[0] if prefix == _PREFIX else ""


def opens(text: str, token: Token | None) -> bool:
    """Whether the text is this token; an unknown one takes as long as a wrong secret."""
    secret = text.partition("_")[2].partition("_")[2]
    right = hmac.compare_digest(_hash(secret), token.sha256 if token else _NO_HASH)
    return right and token is not None and id_in(text) == token.id


def named_capabilities(names: Iterable[str]) -> frozenset[Capability]:
    """The capabilities of these names; BadInput for an unknown one, or for none."""
    known, given = ", ".join(Capability), list(names)
    for name in given:
        if name not in list(Capability):
            raise BadInput(f"there is no capability {name!r}; there are: {known}")
    if not given:
        raise BadInput(f"a token needs at least one capability; there are: {known}")
    return frozenset(Capability(name) for name in given)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
