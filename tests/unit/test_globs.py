"""Path patterns."""

from __future__ import annotations

import pytest

from twolane.text.names import matches_any


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("notes", "notes/a.md", True),
        ("notes/", "notes/deep/a.md", True),
        ("notes", "notebook/a.md", False),
        ("*.md", "a.md", True),
        ("*.md", "notes/a.md", False),
        ("**/*.md", "notes/deep/a.md", True),
        ("**/*.md", "a.md", True),
        ("notes/*/a.md", "notes/x/a.md", True),
        ("notes/*/a.md", "notes/x/y/a.md", False),
        ("notes/**", "notes/x/y.md", True),
        ("?.md", "я.md", True),
        ("a+b.md", "a+b.md", True),
        ("A.md", "a.md", False),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:
    """Stars stay in a folder, double stars cross folders, a folder means all below it."""
    assert matches_any(path, (pattern,)) is fits


def test_any_of_several() -> None:
    """One fitting pattern is enough."""
    assert matches_any("b/x.md", ("a", "b"))
    assert not matches_any("c/x.md", ("a", "b"))
