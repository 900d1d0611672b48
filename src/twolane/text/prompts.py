"""Prompts with places to fill in: `{{name}}` in the text, `name: what it is for` as an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from twolane.model.errors import BadInput
from twolane.model.values import dataclass

# A hostile text may hold nothing but places, and a value may be long.
_MOST = 100
_LONGEST = 200_000

_PLACE = re.compile(r"\{\{[ \t]*([^\W\d][\w-]{0,99})[ \t]*\}\}")


@dataclass(frozen=True, slots=True)
class Argument:
    """Something to fill in, and what it is for, if that is said."""

    name: str
    about: str = ""


def arguments_of(text: str, declared: Sequence[str]) -> list[Argument]:
    """What a prompt asks for: its declared arguments, then the other places in its text."""
    found: dict[str, Argument] = {}
    for one in declared[:_MOST]:
        name, _, about = one.partition(":")
        if name.strip():
            found.setdefault(name.strip(), Argument(name.strip(), about.strip()))
    for place in _PLACE.finditer(text):
        if len(found) >= _MOST:
            break
        found.setdefault(place[1], Argument(place[1]))
    return list(found.values())


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with values in their places; a value that has none is told at the end.

    BadInput if that is longer than any prompt.
    """
    added = (len(values.get(place[1], "")) for place in _PLACE.finditer(text))
    if len(text) + sum(map(len, values.values())) + sum(added) > _LONGEST:
        raise BadInput(f"the prompt, filled in, is longer than {_LONGEST:,} characters")
    placed: set[str] = set()

    def value(match: re.Match[str]) -> str:
        placed.add(match[1])
        return values.get(match[1]) or match[0]

    whole = _PLACE.sub(value, text)
    others = [f"{name}: {said}" for name, said in values.items() if said and name not in placed]
    return "\n\n".join((whole.rstrip("\n"), "\n".join(others))) if others else whole
