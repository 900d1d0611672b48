"""Changing one value in a settings file leaves the rest of it alone."""

from __future__ import annotations

import tomllib

import pytest

from twolane.errors import BadInput
from twolane.evaluation.settings_text import difference, with_setting

NAME = "min_similarity"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "min_similarity = 0.122\n"),
        ("limit = 5\n", "limit = 5\nmin_similarity = 0.122\n"),
        ("limit = 5", "limit = 5\nmin_similarity = 0.122\n"),
        ("limit = 5\r\npool = 9\r\n", "limit = 5\r\npool = 9\r\nmin_similarity = 0.122\r\n"),
        (
            "# mine\nmin_similarity = 0.4\nlimit = 5\n",
            "# mine\nmin_similarity = 0.122\nlimit = 5\n",
        ),
        ("min_similarity=-1   # all\r\n", "min_similarity=0.122   # all\r\n"),
        ('  "min_similarity" = 1e-1\n', '  "min_similarity" = 0.122\n'),
        ("# min_similarity = 0.3\n", "# min_similarity = 0.3\nmin_similarity = 0.122\n"),
        ("a = 1\n[t]\nb = 2\n", "a = 1\nmin_similarity = 0.122\n[t]\nb = 2\n"),
        ("[t]\nlimit = 3\n", "min_similarity = 0.122\n[t]\nlimit = 3\n"),
        ('include = [\n  "*.md",\n]\n', 'include = [\n  "*.md",\n]\nmin_similarity = 0.122\n'),
    ],
)
def test_only_the_value_changes(before: str, after: str) -> None:
    """The value is replaced or added; comments, order and line ends stay."""
    changed = with_setting(before, NAME, 0.122)
    assert changed == after
    assert tomllib.loads(changed)[NAME] == 0.122
    assert with_setting(changed, NAME, 0.122) == changed


@pytest.mark.parametrize(
    "text",
    [
        'exclude = ["""\nmin_similarity = 1\n"""]\nmin_similarity = 2\n',
        "min_similarity = 1\n[t]\nmin_similarity = 2\n",
        "include = [\n[\n]]\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    """Where a wrong line might be meant nothing is changed, and the user is told what to write."""
    with pytest.raises(BadInput, match=r"min_similarity = 0\.122"):
        with_setting(text, NAME, 0.122)


def test_a_broken_file_is_refused() -> None:
    """A file that is no TOML is not made worse."""
    with pytest.raises(BadInput, match="not valid TOML"):
        with_setting("limit = ", NAME, 0.122)


def test_the_difference_is_shown() -> None:
    """What is added and removed can be seen, and no change shows nothing."""
    shown = difference("a = 1\nb = 2\n", "a = 1\nb = 3\n", "twolane.toml")
    assert shown.splitlines()[:2] == ["--- twolane.toml", "+++ twolane.toml"]
    assert "-b = 2" in shown and "+b = 3" in shown
    assert difference("a = 1\n", "a = 1\n", "x") == ""
