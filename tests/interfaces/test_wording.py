"""What people read: no text of the program shows how Python writes its values."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.conftest import Cli


def test_a_refusal_names_the_capability_plainly(twolane: Cli, vault: Path) -> None:
    """A capability is told as it is written, and counts agree with their nouns."""
    twolane("index", vault, "--no-wait")
    said = twolane("token", "add", "x", "--may", "everything", code=2).stderr
    assert "search.use" in said
    for repr_sign in ("<Capability", "Capability.", "frozenset", "PosixPath"):
        assert repr_sign not in said
    next(vault.rglob("green tea.md")).unlink()
    told = twolane("index", vault, "--no-wait")
    assert "1 deleted" in told.stdout
    assert "1 notes" not in told.stdout + told.stderr
