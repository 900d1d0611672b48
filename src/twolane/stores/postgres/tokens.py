"""Tokens in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.model.tokens import Token
from twolane.stores.postgres.database import Connection, Database, rows, run
from twolane.stores.postgres.document_rows import moment

_COLUMNS = "id, name, owner, capabilities, created, sha256, expires, used"
_HELD = f"SELECT {_COLUMNS} FROM tokens WHERE NOT revoked"
_ADD = f"INSERT INTO tokens({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"

# The row stays, so that tokens are still asked for and the id cannot come back; the hash goes.
_REVOKE = "UPDATE tokens SET revoked = true, sha256 = '' WHERE id = %s"

_USE = "UPDATE tokens SET used = greatest(coalesce(used, 0), %s) WHERE id = %s"


class PostgresTokens:
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
            found = rows(connection, f"{_HELD} AND id = %s", (id,))
        return _token(found[0]) if found else None

    def add_tokens(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens, all or none; an id that was ever there stays what it is."""

        def add(connection: Connection) -> None:
            for one in tokens:
                _add(connection, one)

        self._db.write(add)

    def revoke_token(self, reference: str) -> Token | None:
        """Revoke the token with this id, or else of this name, for good."""

        def revoke(connection: Connection) -> Token | None:
            order = "ORDER BY (id = %s) DESC LIMIT 1"
            found = rows(
                connection, f"{_HELD} AND %s IN (id, name) {order}", (reference, reference)
            )
            if not found:
                return None
            run(connection, _REVOKE, (found[0][0],))
            return _token(found[0])

        return self._db.write(revoke)

    def use_token(self, id: str, at: datetime) -> None:
        """Note when a token was last used."""
        self._db.write(lambda connection: run(connection, _USE, (at.timestamp(), id)))

    def had_tokens(self) -> bool:
        """Whether there is, or ever was, a token."""
        with self._db.read() as connection:
            return bool(rows(connection, "SELECT 1 FROM tokens LIMIT 1"))


def _add(connection: Connection, token: Token) -> None:
    if rows(connection, "SELECT 1 FROM tokens WHERE id = %s", (token.id,)):
        return
    if rows(connection, f"{_HELD} AND name = %s", (token.name,)):
        raise BadInput(f"there is a token {token.name!r}; revoke it first, or choose another name")
    run(
        connection,
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
    made = moment(created)
    assert made is not None
    return Token(
        id,
        name,
        owner,
        frozenset(map(Capability, may.split())),
        made,
        sha256,
        moment(expires),
        moment(used),
    )
