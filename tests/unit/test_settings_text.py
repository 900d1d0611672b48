"""Changing one value in a settings file leaves the rest of it alone."""

from __future__ import annotations

import tomllib

import pytest

from twolane.evaluation.settings_text import difference, with_setting
from twolane.model.errors import BadInput

NAME = "search.min_similarity"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[search]\nmin_similarity = 0.122\n"),
        ("db = 'x'\n", "db = 'x'\n\n[search]\nmin_similarity = 0.122\n"),
        ("db = 'x'", "db = 'x'\n\n[search]\nmin_similarity = 0.122\n"),
        ("[search]\nlimit = 5\n", "[search]\nlimit = 5\nmin_similarity = 0.122\n"),
        ("[search]\nlimit = 5", "[search]\nlimit = 5\nmin_similarity = 0.122\n"),
        ("[search]", "[search]\nmin_similarity = 0.122\n"),
        (
            "[search]\r\nlimit = 5\r\npool = 9\r\n",
            "[search]\r\nlimit = 5\r\npool = 9\r\nmin_similarity = 0.122\r\n",
        ),
        (
            "# mine\n[search] # too\nmin_similarity = 0.4\nlimit = 5\n",
            "# mine\n[search] # too\nmin_similarity = 0.122\nlimit = 5\n",
        ),
        (
            "[search]\r\nmin_similarity=-1   # all\r\n",
            "[search]\r\nmin_similarity=0.122   # all\r\n",
        ),
        (' [ search ]\n  "min_similarity" = 1e-1\n', ' [ search ]\n  "min_similarity" = 0.122\n'),
        (
            "[search]\n# min_similarity = 0.3\n",
            "[search]\n# min_similarity = 0.3\nmin_similarity = 0.122\n",
        ),
        (
            "[search]\nlimit = 3\n\n[index]\nbatch = 2\n",
            "[search]\nlimit = 3\nmin_similarity = 0.122\n\n[index]\nbatch = 2\n",
        ),
        (
            "[index]\nmin_similarity = 2\n[search]\nmin_similarity = 1\n",
            "[index]\nmin_similarity = 2\n[search]\nmin_similarity = 0.122\n",
        ),
        ("[index]\nbatch = 3\n", "[index]\nbatch = 3\n\n[search]\nmin_similarity = 0.122\n"),
    ],
)
def test_only_the_value_changes(before: str, after: str) -> None:
    """The value is replaced or added in its group; comments, order and line ends stay."""
    changed = with_setting(before, NAME, 0.122)
    assert changed == after
    assert tomllib.loads(changed)["search"]["min_similarity"] == 0.122
    assert with_setting(changed, NAME, 0.122) == changed


@pytest.mark.parametrize(
    "text",
    [
        'exclude = ["""\n[search]\nmin_similarity = 1\n"""]\n[search]\nmin_similarity = 2\n',
        "search.min_similarity = 1\n",
        "search = {limit = 2}\n",
        "include = [\n[search\n]]\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    """Where a wrong line might be meant nothing is changed, and the user is told what to write."""
    with pytest.raises(BadInput, match=r"min_similarity = 0\.122 below \[search\]|not valid TOML"):
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
