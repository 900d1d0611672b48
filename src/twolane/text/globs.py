"""Path patterns: `*` within a folder, `**` across folders, a folder's name for all below it."""

from __future__ import annotations

import re
from functools import lru_cache


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path fits one of the patterns; case counts, as it does in the file system."""
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


def beginning(pattern: str) -> str:
    """The letters with which every path that fits the pattern begins."""
    return re.split(r"[*?]", _trimmed(pattern), maxsplit=1)[0]


# The last character there is comes after all that begin alike.
LAST = "\U0010ffff"


def expression(pattern: str) -> str:
    """The pattern as a regular expression for a whole path, as any engine spells one."""
    pieces = re.split(r"(\*\*/?|\*|\?)", _trimmed(pattern))
    spelled = "".join(_SIGNS.get(piece, re.escape(piece)) for piece in pieces)
    return f"{spelled}(?:/.*)?"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expression(pattern), re.DOTALL)


def _trimmed(pattern: str) -> str:
    return pattern.strip().removeprefix("./").strip("/")


_SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
