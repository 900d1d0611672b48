"""Path patterns: `*` within a folder, `**` across folders, a folder's name for all below it."""

from __future__ import annotations

import re
from functools import lru_cache


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path fits one of the patterns; case counts, as it does in the file system."""
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    trimmed = pattern.strip().removeprefix("./").strip("/")
    pieces = re.split(r"(\*\*/?|\*|\?)", trimmed)
    spelled = "".join(_SIGNS.get(piece, re.escape(piece)) for piece in pieces)
    return re.compile(f"{spelled}(?:/.*)?", re.DOTALL)


_SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
