"""What was typed as parts that can be dropped one at a time."""

from __future__ import annotations

import re

_QUOTES = {'"': '"', "«": "»", "“": "”", "„": "“", "'": "'"}
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_SPACE = re.compile(r"\s+")

# A quotation may follow these: an exclusion, a field's name, a parenthesis.
_BEFORE_QUOTE = "-:("


def parts_of(text: str) -> list[str]:
    """The parts of a query, each a word, a quotation, a filter or a group, with their operators.

    Joined by spaces they say what was typed.
    """
    parts: list[str] = []
    at = 0
    while at < len(text):
        space = _SPACE.match(text, at)
        if space:
            at = space.end()
            continue
        end = _end_of_part(text, at)
        parts.append(text[at:end])
        at = end
    return parts


def droppable(parts: list[str]) -> list[int]:
    """The places of the parts that can be dropped: all that are no operators."""
    return [at for at, part in enumerate(parts) if part not in _OPERATORS]


def without(parts: list[str], at: int) -> str:
    """The query without one part and the operator that tied it to the others."""
    first, after = at, at + 1
    while first > 0 and parts[first - 1] in _OPERATORS:
        first -= 1
    if first == 0:
        while after < len(parts) and parts[after] in ("AND", "OR"):
            after += 1
    return " ".join((*parts[:first], *parts[after:]))


def _end_of_part(text: str, start: int) -> int:
    """Where the part that begins here ends: at a space outside of quotes and parentheses."""
    at, depth = start, 0
    while at < len(text):
        sign = text[at]
        opens = at == start or text[at - 1] in _BEFORE_QUOTE or (depth and text[at - 1].isspace())
        closer = text.find(_QUOTES[sign], at + 1) if opens and sign in _QUOTES else -1
        if closer >= 0:
            at = closer + 1
            continue
        if sign.isspace() and (depth == 0 or ")" not in text[at:]):
            break
        depth += (sign == "(") - (sign == ")" and depth > 0)
        at += 1
    return at
