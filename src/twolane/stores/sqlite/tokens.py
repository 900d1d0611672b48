"""Tokens in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import apsw

from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.model.tokens import Token
from twolane.stores.sqlite.database import Database, rows

_COLUMNS = "id, name, owner, capabilities, created, sha256, expires, used"
_HELD = f"SELECT {_COLUMNS} FROM tokens WHERE NOT revoked"
_ADD = f"INSERT INTO tokens({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?)"

# The row stays, so that tokens are still asked for and the id cannot come back; the hash goes.
_REVOKE = "UPDATE tokens SET revoked = 1, sha256 = '' WHERE id = ?"


class SqliteTokens:
    """The Tokens port."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def tokens(self) -> list[Token]:
        """Every token that is not revoked, oldest first."""
        with self._db.read() as connection:
            return [_token(row) for row in rows(connection, f"{_HELD} ORDER BY row")]

    def token(self, id: str) -> Token | None:
        """The token with this id, unless it is revoked."""
        with self._db.read() as connection:
            found = rows(connection, f"{_HELD} AND id = ?", (id,))
        return _token(found[0]) if found else None

    def add_tokens(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens, all or none; an id that was ever there stays what it is."""
        with self._db.write() as connection:
            for one in tokens:
                _add(connection, one)

    def revoke_token(self, reference: str) -> Token | None:
        """Revoke the token with this id, or else of this name, for good."""
        with self._db.write() as connection:
            order = "ORDER BY id = ? DESC LIMIT 1"
            found = rows(connection, f"{_HELD} AND ? IN (id, name) {order}", (reference, reference))
            if not found:
                return None
            connection.execute(_REVOKE, (found[0][0],))
        return _token(found[0])

    def use_token(self, id: str, at: datetime) -> None:
        """Note when a token was last used."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE tokens SET used = max(coalesce(used, 0), ?) WHERE id = ?",
                (at.timestamp(), id),
            )

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token."""
        with self._db.read() as connection:
            return bool(rows(connection, "SELECT 1 FROM tokens LIMIT 1"))


def _add(connection: apsw.Connection, token: Token) -> None:
    if rows(connection, "SELECT 1 FROM tokens WHERE id = ?", (token.id,)):
        return
    if rows(connection, f"{_HELD} AND name = ?", (token.name,)):
        raise BadInput(f"there is a token {token.name!r}; revoke it first, or choose another name")
    connection.execute(
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
    id, name, owner, may, created, sha256, expires, used = row
    return Token(
        id,
        name,
        owner,
        frozenset(map(Capability, may.split())),
        datetime.fromtimestamp(created, UTC),
        sha256,
        None if expires is None else datetime.fromtimestamp(expires, UTC),
        None if used is None else datetime.fromtimestamp(used, UTC),
    )
