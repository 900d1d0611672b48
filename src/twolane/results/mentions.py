"""Where the words of a query stand in a text.

A text's own word forms are found: `running` for the query `run`, `помидорами` for `помидор`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from twolane.model.scope import Word
from twolane.text.scripts import USUAL, script_for
from twolane.text.tokens import stream, streams, terms_of, tokens


class Mention(NamedTuple):
    """A place in a text where sought words stand; `words` has bit i set for the i-th of them."""

    start: int
    end: int
    words: int


@dataclass(frozen=True, slots=True)
class Sought:
    """The words to look for, each once.

    `stems` and `beginnings` tell which words a stem answers, as bits;
    `needles` are the same words as they are counted in a stream,
    `pairs` are neighbours among them as they stand side by side in one.
    """

    stems: Mapping[str, int]
    beginnings: tuple[tuple[str, int], ...]
    needles: tuple[tuple[str, ...], ...]
    pairs: tuple[tuple[str, ...], ...]

    def answered_by(self, stem: str) -> int:
        """The words that the stem answers, as bits."""
        bits = self.stems.get(stem, 0)
        for beginning, bit in self.beginnings:
            if stem.startswith(beginning):
                bits |= bit
        return bits

    def may_be_in(self, stems: str) -> bool:
        """Whether a stream holds any of the words."""
        for needles in self.needles:
            for needle in needles:
                if needle in stems:
                    return True
        return False


def sought(marks: Sequence[Word]) -> Sought:
    """What to look for to find the marks; a word twice among them is one word."""
    words = list(dict.fromkeys((word.terms, word.prefix) for word in marks))
    stems: dict[str, int] = {}
    beginnings = []
    for at, (terms, prefix) in enumerate(words):
        for term in terms:
            if prefix:
                beginnings.append((term, 1 << at))
            else:
                stems[term] = stems.get(term, 0) | 1 << at
    needles = tuple(
        tuple(f" {term}" if prefix else f" {term} " for term in terms) for terms, prefix in words
    )
    return Sought(stems, tuple(beginnings), needles, tuple(_pairs(marks)))


def spellings(languages: Iterable[str | None]) -> tuple[str | None, ...]:
    """The languages in which a text's words have to be stemmed to find them as the index does.

    None stands for the usual language of each script.
    """
    return _spellings(tuple(languages))


@lru_cache(maxsize=1 << 10)
def _spellings(languages: tuple[str | None, ...]) -> tuple[str | None, ...]:
    known = {language for language in languages if language is not None}
    # Words of a script are stemmed by its usual language anyway.
    return (None, *sorted(one for one in known if USUAL.get(script_for(one)) != one))


def mentions(text: str, words: Sought, languages: Iterable[str | None]) -> list[Mention]:
    """The places of the words in the text, in order and apart from each other."""
    if not words.needles:
        return []
    places: list[Mention] = []
    for language in spellings(languages):
        places += _mentions(text, words, language)
    return _apart(places) if places else places


def _mentions(text: str, words: Sought, language: str | None) -> Iterator[Mention]:
    """The mentions in a text by the stems of one language, overlapping or not."""
    written = text.split(" ")
    stems = streams(written, language)
    # Most texts that are shown hold few of the words, and this is the fastest way to see it.
    if not words.may_be_in("".join(stems)):
        return
    start = 0
    for word, stem in zip(written, stems, strict=True):
        if words.may_be_in(stem):
            yield from _placed(word, stem.split(), start, words, language)
        start += len(word) + 1


def _pairs(marks: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """How each two neighbours among the marks look side by side in a stream."""
    for one, other in pairwise(marks):
        if not one.prefix and one.terms != other.terms:
            ending = "" if other.prefix else " "
            yield tuple(f" {a}  {b}{ending}" for a in one.terms for b in other.terms)


def _placed(
    text: str, stems: Sequence[str], offset: int, words: Sought, language: str | None
) -> Iterator[Mention]:
    """The mentions in a text with these stems, moved by the offset."""
    found = tokens(text)
    if len(found) == len(stems):
        for token, stem in zip(found, stems, strict=True):
            if bits := words.answered_by(stem):
                yield Mention(offset + token.start, offset + token.end, bits)
    else:
        # Some token has several stems: its script is written without spaces.
        for token in found:
            yield from _inside(token.text, offset + token.start, words, language)


def _inside(token: str, offset: int, words: Sought, language: str | None) -> Iterator[Mention]:
    """The mentions in one token, which may hold several stems."""
    stems = stream(token, language)
    if not words.may_be_in(stems):
        return
    several = len(stems.split()) > 1
    for start, end in _pieces(token) if several else [(0, len(token))]:
        bits = _answered(token[start:end], words, language)
        if not bits:
            continue
        if _is_unbroken(token[start]) and bits == _answered(token[start], words, language):
            # One character is sought, and the pair only begins with it.
            yield Mention(offset + start, offset + start + 1, bits)
        else:
            yield Mention(offset + start, offset + end, bits)


def _answered(text: str, words: Sought, language: str | None) -> int:
    bits = 0
    for (stem,) in terms_of(text, (language,)):
        bits |= words.answered_by(stem)
    return bits


def _pieces(token: str) -> Iterator[tuple[int, int]]:
    """The parts of a token that are stemmed apart: pairs of characters, and words between."""
    start = 0
    for unbroken, run in groupby(token, _is_unbroken):
        end = start + len(list(run))
        if unbroken:
            for at in range(start, max(start + 1, end - 1)):
                yield at, min(at + 2, end)
        else:
            yield start, end
        start = end


@lru_cache(maxsize=1 << 14)
def _is_unbroken(char: str) -> bool:
    """Whether the character belongs to a script that is cut into pairs."""
    return len(terms_of(char * 3, ())) > 1


def _apart(places: list[Mention]) -> list[Mention]:
    """The mentions in order, those that overlap made one."""
    apart: list[Mention] = []
    for place in sorted(places):
        if apart and place.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Mention(last.start, max(last.end, place.end), last.words | place.words)
        else:
            apart.append(place)
    return apart
