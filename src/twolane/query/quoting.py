"""What quotation marks mean: a demand among keywords, a name within a question.

Who types `"green tea" kettle` wants these very words.
Who asks where the crew of «Аполлон-1» trained only writes as one writes, and the answer may well
have another ending, another kind of quotes or another language.
"""

from __future__ import annotations

import re

from twolane.text.tokens import tokens

# So many words outside the quotes make a sentence of it.
_LEAST = 3

_QUOTED = re.compile(r"(?<![^\s(])(?:\"([^\"]+)\"|«([^«»]+)»|“([^“”]+)”|„([^„“”]+)[“”])")
_MARKS = ("?", "？")


def as_asked(text: str) -> str:
    """The text without the quotation marks of a question; any other text as it is."""
    if not text.rstrip().endswith(_MARKS) or len(tokens(_QUOTED.sub(" ", text))) < _LEAST:
        return text
    return _QUOTED.sub(lambda found: next(part for part in found.groups() if part), text)
