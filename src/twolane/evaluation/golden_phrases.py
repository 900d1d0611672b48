"""Rare phrases: a few words of a note that no other note holds together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from twolane import Document
from twolane.evaluation.golden_survey import RARE, Survey
from twolane.language import Token, tokens

SHORTEST = 4
LONGEST = 8

# A rare word must be able to carry a phrase: numbers, codes and stubs cannot.
_WORD = re.compile(r"[^\W\d_]{4,}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE = re.compile(r"[^.!?…;:()\[\]«»“”\"—]+")
# Lines of markup, and marks inside a line that make its words something else than prose.
_NO_PROSE = re.compile(r"\s*(?:#|\||<|\[\^|!\[)|.*(?:\]\(|\[\[|://|`|\{\{|<[a-z/])")


@dataclass(frozen=True, slots=True)
class RarePhrase:
    """The words of a query, and the stretch of the note that they come from."""

    text: str
    quote: str


def rare_phrases(document: Document, number: int, survey: Survey) -> Iterator[RarePhrase]:
    """Phrases of 4 to 8 words around the rarest words of a note, the rarest first.

    `number` is the note's number in the survey.
    """
    found: list[tuple[int, int, RarePhrase]] = []
    for offset, sentence in _sentences(document.body):
        words = tokens(sentence)
        if len(words) < SHORTEST:
            continue
        rarest = min(range(len(words)), key=lambda place: (_rarity(words[place], survey), place))
        frequency = _rarity(words[rarest], survey)
        if frequency > RARE:
            continue
        window = _around(words, rarest)
        if survey.only_holder(word.text for word in window) == number:
            quote = sentence[window[0].start : window[-1].end]
            phrase = RarePhrase(" ".join(word.text for word in window), quote)
            found.append((frequency, offset, phrase))
    found.sort(key=lambda one: one[:2])
    return (phrase for _, _, phrase in found)


def _rarity(word: Token, survey: Survey) -> int:
    """In how many notes the word is; one that cannot carry a phrase is as common as can be."""
    return survey.frequency(word.text) if _WORD.fullmatch(word.text) else RARE + 1


def _around(words: list[Token], place: int) -> list[Token]:
    """The longest run of words that is not too long and has the rarest in its middle."""
    first = max(0, min(place - LONGEST // 2, len(words) - LONGEST))
    return words[first : first + LONGEST]


def _sentences(body: str) -> Iterator[tuple[int, str]]:
    """The sentences of lines that are prose, with where they begin."""
    offset = 0
    fence: str | None = None
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
        elif fence is None and not _NO_PROSE.match(line):
            for found in _SENTENCE.finditer(line):
                yield offset + found.start(), found.group()
        offset += len(line) + 1
