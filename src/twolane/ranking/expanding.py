"""An optional stage: a chat model words the query in other ways, where the search is not sure.

Its wordings are used as those that a calling agent supplies.
"""

from __future__ import annotations

import json
from dataclasses import fields

from twolane.embedding.chat.asking import ask_chat
from twolane.embedding.stages import Stage
from twolane.model.errors import StageError
from twolane.model.values import dataclass
from twolane.ports.chat import Chat
from twolane.ranking.phrasings import NAMES, Phrasings
from twolane.ranking.rankings import Ranking

_MOST_TOKENS = 300

# A wording is a sentence or two; what is longer is something else.
_LONGEST = 600

# So much of a query is worded in other ways.
_LONGEST_QUERY = 2000


@dataclass(frozen=True, slots=True)
class Expanding:
    """A chat model, and how sure a search must be to do without it."""

    chat: Chat
    stage: Stage
    confident: float

    def wants(self, ranking: Ranking) -> bool:
        """Whether other wordings may help: the query has a meaning, and nothing answers it well."""
        query = ranking.query
        if query.filters_only or query.intent in NAMES or not query.parsed.meaning:
            return False
        best = ranking.candidates[0].relevance if ranking.candidates else None
        return (best or 0.0) < self.confident

    def phrasings(self, meaning: str) -> Phrasings:
        """Other wordings of a query; StageError if there are none in time.

        An answer is kept, so that the same query is not asked about twice.
        """
        text = " ".join(meaning.split())[:_LONGEST_QUERY]
        return ask_chat(self.chat, self.stage, text, read_phrasings, most_tokens=_MOST_TOKENS)


def read_phrasings(text: str) -> Phrasings:
    """The wordings in what a chat model wrote: a JSON object, perhaps with something around it.

    Whatever is no short text is left out; StageError if nothing is left.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        said = json.loads(text[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise StageError("the chat model's answer holds no JSON object") from error
    if start < 0 or not isinstance(said, dict):
        raise StageError("the chat model's answer holds no JSON object")
    names = [one.name for one in fields(Phrasings)]
    given = {name: " ".join(said[name].split()) for name in names if _is_text(said.get(name))}
    wordings = {
        name: one
        for name, one in given.items()
        if one.isprintable() and any(sign.isalnum() for sign in one)
    }
    if not wordings:
        raise StageError("the chat model's answer holds no wording")
    return Phrasings(**wordings)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST
