"""Tokens in an SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.model.tokens import Token
from twolane.stores.sql.document_rows import moment
from twolane.stores.sql.session import Database, Session

_COLUMNS = "id, name, owner, capabilities, created, sha256, expires, used"
_HELD = f"SELECT {_COLUMNS} FROM tokens WHERE NOT revoked"
_ADD = f"INSERT INTO tokens({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

# By its id before its name.
_REFERRED = f"{_HELD} AND (id = ? OR name = ?) ORDER BY id = ? DESC LIMIT 1"

# The row stays, so that tokens are still asked for and the id cannot come back; the hash goes.
_REVOKE = "UPDATE tokens SET revoked = true, sha256 = '' WHERE id = ?"

_USE = "UPDATE tokens SET used = :at WHERE id = :id AND coalesce(used, 0) < :at"


class SqlTokens:
    """The Tokens port."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def tokens(self) -> list[Token]:
        """Every token that is not revoked, oldest first."""
        with self._db.reading() as session:
            return [_token(row) for row in session.rows(f"{_HELD} ORDER BY row")]

    def token(self, id: str) -> Token | None:
        """The token with this id, unless it is revoked."""
        with self._db.reading() as session:
            found = session.rows(f"{_HELD} AND id = ?", (id,))
        return _token(found[0]) if found else None

    def add_tokens(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens, all or none; an id that was ever there stays what it is."""

        def add(session: Session) -> None:
            for token in tokens:
                _add(session, token)

        self._db.writing(add)

    def revoke_token(self, reference: str) -> Token | None:
        """Revoke the token with this id, or else of this name, for good."""

        def revoke(session: Session) -> Token | None:
            found = session.rows(_REFERRED, (reference, reference, reference))
            if not found:
                return None
            session.run(_REVOKE, (found[0][0],))
            return _token(found[0])

        return self._db.writing(revoke)

    def use_token(self, id: str, at: datetime) -> None:
        """Note when a token was last used."""
        self._db.writing(lambda session: session.run(_USE, {"at": at.timestamp(), "id": id}))

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token."""
        with self._db.reading() as session:
            return bool(session.rows("SELECT 1 FROM tokens LIMIT 1"))


def _add(session: Session, token: Token) -> None:
    if session.rows("SELECT 1 FROM tokens WHERE id = ?", (token.id,)):
        return
    if session.rows(f"{_HELD} AND name = ?", (token.name,)):
        raise BadInput(f"there is a token {token.name!r}; revoke it first, or choose another name")
    session.run(
        _ADD,
        (
            token.id,
            token.name,
            token.owner,
            " ".join(sorted(token.capabilities)),
            token.created.timestamp(),
            token.sha256,
            token.expires and token.expires.timestamp(),
            token.used and token.used.timestamp(),
        ),
    )


def _token(row: Any) -> Token:
    id, name, owner, capabilities, created, sha256, expires, used = row
    return Token(
        id,
        name,
        owner,
        # What is no capability, or not one of this version, permits nothing.
        frozenset(one for one in Capability if one.value in capabilities.split()),
        datetime.fromtimestamp(created, UTC),
        sha256,
        moment(expires),
        moment(used),
    )
