"""Properties inside a text, as Dataview reads them: `key:: value`, also in brackets.

Code is no prose, so nothing in it is a field; two colons need a space behind them, which
`std::vector` has not.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import islice
from typing import Any

from twolane.text.fences import blank, code_spans, fences
from twolane.text.plaintext import plain_line

# A hostile file may hold nothing else.
_MOST = 500
_LONGEST = 2000

_KEY = r"[^\W\d_][\w \-/]{0,60}"
_LINE = re.compile(
    rf"^[ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?:\[.\][ \t]+)?)?"
    rf"(?:\*\*|__|\*|_)?({_KEY}?)(?:\*\*|__|\*|_)?::(?:\*\*|__)?[ \t]+(\S.*)$",
    re.MULTILINE,
)
_BRACKETED = re.compile(
    rf"[\[(]({_KEY}?)::[ \t]+([^\[\]()\n]*(?:\[\[[^\[\]\n]*\]\][^\[\]()\n]*)*)[\])]"
)
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def inline_fields(body: str) -> dict[str, Any]:
    """The fields of a text by name, small letters and hyphens; one that is repeated is a list."""
    if "::" not in body:
        return {}
    prose = blank(body, [*fences(body), *code_spans(body)])
    bracketed = list(islice(_BRACKETED.finditer(prose), _MOST))
    # What stands in brackets is no line of its own.
    lines = islice(_LINE.finditer(blank(prose, [one.span() for one in bracketed])), _MOST)
    found: dict[str, list[Any]] = {}
    for match in (*bracketed, *lines):
        name = "-".join(match[1].casefold().split())
        found.setdefault(name, []).append(_value(match[2].strip()[:_LONGEST]))
    return {name: held[0] if len(held) == 1 else held for name, held in found.items()}


def _value(text: str) -> Any:
    """A number, a day or a truth value if it looks like one, else the words that a reader sees."""
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    if text in ("true", "false"):
        return text == "true"
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            return text
    return plain_line(text)
