"""Patterns of paths that two sides allow at once."""

from __future__ import annotations

import re

from twolane.text.globs import matches_any

# `work/*` and `work/**` both mean all that is in the folder.
_WILD_END = re.compile(r"(?:^|/)\*\*?$")


def common_paths(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """Patterns for the paths that fit one of each side; None if there are none."""
    if not one or not other:
        return one or other
    pairs = [_common_path(mine, theirs) for mine in one for theirs in other]
    return tuple(dict.fromkeys(path for path in pairs if path)) or None


def _common_path(one: str, other: str) -> str | None:
    """A pattern for paths that fit both, if one of the two is a folder or they are the same.

    Two patterns with wildcards in their midst may overlap in ways that no pattern can say;
    then it is better to find nothing than what one of them rules out.
    """
    one, other = (path.strip().removeprefix("./").strip("/") for path in (one, other))
    if one == other:
        return one
    for pattern, second in ((one, other), (other, one)):
        folder = _WILD_END.sub("", pattern)
        if not folder:
            return second
        if "*" in folder or "?" in folder:
            continue
        if matches_any(folder, (second,)):
            return pattern
        if second.startswith(f"{folder}/"):
            return second
        if second.startswith("**"):
            return f"{folder}/{second}"
    return None
