"""Tokens of a library that several processes change at once."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.builders import open_library
from twolane import Library

MANY = 30


def opened(db: Path) -> Library:
    """The library, without a model."""
    return open_library(db, "none")


def add(db: Path, number: int) -> str:
    """Make a token; its text."""
    with opened(db) as library:
        return library.add_token(f"new{number}")[1]


def revoke(db: Path, number: int) -> None:
    """Revoke a token."""
    with opened(db) as library:
        library.revoke_token(f"old{number}")


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    """Every token that was made lets in, and none that was revoked does, whoever was quicker."""
    db = tmp_path / "x.db"
    with opened(db) as library:
        old = [library.add_token(f"old{number}")[1] for number in range(MANY)]
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as many:
        jobs = [(many.submit(add, db, n), many.submit(revoke, db, n)) for n in range(MANY)]
        new = [added.result() for added, revoked in jobs if revoked.result() is None]
    with opened(db) as library:
        assert all(library.token_of(text) for text in new)
        assert not any(library.token_of(text) for text in old)
        assert {one.name for one in library.tokens()} == {f"new{n}" for n in range(MANY)}
