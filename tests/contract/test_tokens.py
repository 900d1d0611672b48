"""The `Tokens` port: kept, revoked for good, and remembered to have been there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from twolane.model.errors import BadInput
from twolane.model.scope import Capability
from twolane.model.tokens import Token
from twolane.ports import Stores

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def token(id: str, name: str = "", owner: str | None = None) -> Token:
    """A token with this id."""
    may = frozenset({Capability.SEARCH, Capability.WRITE})
    return Token(id, name or f"name of {id}", owner, may, NOON, "hash", NOON + timedelta(1))


def test_tokens_come_back_as_they_were(store: Stores) -> None:
    """In the order in which they were made, all together and each by its id."""
    assert not store.tokens.had_tokens()
    given = [token("b"), token("a", owner="ann"), replace(token("c"), expires=None)]
    store.tokens.add_tokens(given)
    assert store.tokens.tokens() == given
    assert store.tokens.token("a") == given[1]
    assert store.tokens.token("d") is None
    assert store.tokens.had_tokens()


def test_a_name_is_used_once(store: Stores) -> None:
    """Another token of the same name is refused with all that came along, until it is revoked."""
    store.tokens.add_tokens([token("a", "phone")])
    with pytest.raises(BadInput, match="phone"):
        store.tokens.add_tokens([token("b"), token("c", "phone")])
    assert [one.id for one in store.tokens.tokens()] == ["a"]
    store.tokens.revoke_token("a")
    store.tokens.add_tokens([token("c", "phone")])
    assert [one.id for one in store.tokens.tokens()] == ["c"]


def test_what_is_revoked_is_gone_for_good(store: Stores) -> None:
    """Neither listed nor found, not to be added again; that there was one is remembered."""
    store.tokens.add_tokens([token("a")])
    assert store.tokens.revoke_token("a") == token("a")
    store.tokens.add_tokens([token("a")])
    store.tokens.use_token("a", NOON)
    assert store.tokens.tokens() == []
    assert store.tokens.token("a") is None
    assert store.tokens.revoke_token("a") is None
    assert store.tokens.had_tokens()


def test_an_id_goes_before_a_name(store: Stores) -> None:
    """A token that is called like the id of another is not revoked in its place."""
    store.tokens.add_tokens([token("a", "b"), token("b", "c")])
    revoked = store.tokens.revoke_token("b")
    assert revoked is not None
    assert revoked.id == "b"
    revoked = store.tokens.revoke_token("b")
    assert revoked is not None
    assert revoked.id == "a"


def test_the_last_use_is_the_latest(store: Stores) -> None:
    """A note that comes late does not turn the clock back."""
    store.tokens.add_tokens([token("a")])
    for hours in (1, 3, 2):
        store.tokens.use_token("a", NOON + timedelta(hours=hours))
    held = store.tokens.token("a")
    assert held is not None
    assert held.used == NOON + timedelta(hours=3)


def test_many_threads_lose_nothing(store: Stores) -> None:
    """What is added while others revoke is there afterwards, and what was revoked is not."""
    store.tokens.add_tokens([token(f"old{n}") for n in range(20)])
    with ThreadPoolExecutor(4) as many:
        gone = [many.submit(store.tokens.revoke_token, f"old{n}") for n in range(20)]
        new = [many.submit(store.tokens.add_tokens, [token(f"new{n}")]) for n in range(20)]
        for one in (*gone, *new):
            one.result()
    assert {one.id for one in store.tokens.tokens()} == {f"new{n}" for n in range(20)}
