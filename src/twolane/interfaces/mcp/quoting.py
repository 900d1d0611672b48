"""Words of others in an answer: bounded, on one line or behind a mark, and never taken for ours.

A note may hold anything, also lines that look like a result or like an order to the agent.
So what stands in a note comes behind `> ` on every line, and what names it (titles, headings,
paths) stands on the line of its result and cannot leave it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from twolane.ingest.chunking import estimate_tokens

QUOTE = "> "

# The longest a title, a heading path or an echo of an argument is shown.
NAME_TOKENS = 40

# Blanks count as no tokens, but a million of them are no answer, either.
_CHARACTERS_PER_TOKEN = 10

# Whatever a terminal or a reader may take for the end of a line, but for the line feed.
_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Signs that cannot be seen, and so can carry what only a machine reads: controls, turns of the
# direction of writing, and tag characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def cost(text: str) -> int:
    """How many tokens a text takes of the answer."""
    return max(estimate_tokens(text), len(text) // _CHARACTERS_PER_TOKEN)


def line(text: str, tokens: int = NAME_TOKENS) -> str:
    """The text on one line, as much of it as may be shown."""
    return bounded(" ".join(seen(text[: tokens * 40]).split()), tokens)


def name(text: str) -> str:
    """A title or heading on one line; square brackets are left to ids."""
    return line(text).replace("[", "(").replace("]", ")")


def id(text: str) -> str:
    """An id in square brackets, whole; one that could be mistaken is written as JSON."""
    plain = not re.search(r"[\[\]\"\n]", text) and text == " ".join(seen(text).split())
    return f"[{text if plain else json.dumps(text, ensure_ascii=False)}]"


def quoted(text: str) -> str:
    """The text of a note, each line behind the mark."""
    return "\n".join(f"{QUOTE}{one}".rstrip(" ") for one in seen(text).split("\n"))


def seen(text: str) -> str:
    """The text without what cannot be seen, and with no other ends of lines than ours."""
    return _UNSEEN.sub("", _ENDS.sub(" ", text))


def bounded(text: str, tokens: int) -> str:
    """The text, or its beginning if it is too long, cut between words where there are any."""
    if cost(text) <= tokens:
        return text
    kept = text[: longest(text, max(tokens - 2, 1), "")]
    # A cut at a blank is nicer, if there is one near.
    at = max(kept.rfind(" "), kept.rfind("\n"))
    return f"{kept[:at] if at > len(kept) - 40 and at > 0 else kept} …"


def longest(pieces: Sequence[str], tokens: int, between: str = "\n") -> int:
    """How many pieces from the front fit, at least one."""
    # What is longer than this cannot fit, and measuring it again and again takes time.
    least, most = 1, min(len(pieces), tokens * _CHARACTERS_PER_TOKEN + _CHARACTERS_PER_TOKEN)
    while least < most:
        middle = (least + most + 1) // 2
        if cost(between.join(pieces[:middle])) <= tokens:
            least = middle
        else:
            most = middle - 1
    return least
