"""Tokens: made once, kept as hashes, compared without telling how near a guess was.

A token is `tl_`, its id, `_` and a secret of 256 random bits, so a plain hash is enough:
nothing about it can be guessed from a list of likely words.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from twolane.errors import BadInput
from twolane.interfaces import token_wire
from twolane.interfaces.http.endpoints import Caller
from twolane.scopes import Capability

_PREFIX = "tl"
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class Token:
    """Who may ask what: everything but the secret, of which only a hash is kept."""

    id: str
    name: str
    owner: str | None
    capabilities: frozenset[Capability]
    created: str
    sha256: str


class Tokens:
    """The tokens in a file; what another process changes there counts from the next request."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read: tuple[int, int] | None = None
        self._held: dict[str, Token] = {}

    def all(self) -> list[Token]:
        """Every token, oldest first."""
        return list(self._current().values())

    def add(
        self, name: str, *, owner: str | None, capabilities: Sequence[str]
    ) -> tuple[Token, str]:
        """Make a token; its text is given here and never again."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise BadInput("a token needs a name of up to 100 characters that can be printed")
        if owner is not None and not owner.strip():
            raise BadInput("the owner of a token needs a name; leave it out for all documents")
        held = self._current()
        if any(one.name == name for one in held.values()):
            raise BadInput(f"there is a token {name!r}; revoke it first, or choose another name")
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        token = Token(
            id=id,
            name=name,
            owner=owner,
            capabilities=_capabilities(capabilities),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            sha256=_hash(secret),
        )
        self._write([*held.values(), token])
        return token, f"{_PREFIX}_{id}_{secret}"

    def revoke(self, reference: str) -> Token:
        """Forget the token with this id or name."""
        held = self._current()
        for one in held.values():
            if reference in (one.id, one.name):
                self._write([other for other in held.values() if other is not one])
                return one
        known = ", ".join(sorted(one.name for one in held.values())) or "none"
        raise BadInput(f"there is no token {reference!r}; there are: {known}")

    def caller(self, text: str) -> Caller | None:
        """Who sent this token, or None if it is none of ours."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        token = self._current().get(id)
        # An unknown id takes as long as a wrong secret, so that neither can be told apart.
        right = hmac.compare_digest(_hash(secret), token.sha256 if token else _NO_HASH)
        if token is None or not right or prefix != _PREFIX:
            return None
        return Caller(f"token {token.id}", token.owner, token.capabilities)

    def _current(self) -> dict[str, Token]:
        with self._lock:
            try:
                found = self._path.stat()
            except FileNotFoundError:
                self._read, self._held = None, {}
                return self._held
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp != self._read:
                self._held = self._loaded()
                self._read = stamp
            return self._held

    def _loaded(self) -> dict[str, Token]:
        try:
            fields = token_wire.token_fields(self._path.read_text("utf-8"))
            tokens = [
                Token(**{**one, "capabilities": _capabilities(one["capabilities"])})
                for one in fields
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{self._path} is not a file of tokens; remove or repair it") from error
        return {one.id: one for one in tokens}

    def _write(self, tokens: Sequence[Token]) -> None:
        """Replace the file at once; nobody but its owner may ever read it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_name(f"{self._path.name}.{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(token_wire.tokens_text(tokens))
        draft.replace(self._path)


def _capabilities(names: Sequence[str]) -> frozenset[Capability]:
    known = ", ".join(Capability)
    for name in names:
        if name not in list(Capability):
            raise BadInput(f"there is no capability {name!r}; there are: {known}")
    if not names:
        raise BadInput(f"a token needs at least one capability; there are: {known}")
    return frozenset(Capability(name) for name in names)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
