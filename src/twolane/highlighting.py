"""Where the words of a query stand in a text, and the piece of the text that shows them best.

A text's own word forms are marked: `running` for the query `run`, `помидорами` for `помидор`.
The HTML made here is escaped, and its only tag is `<mark>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from twolane.language import stream, streams, terms_of, tokens
from twolane.language.scripts import USUAL, script_for
from twolane.model import EMPTY
from twolane.scopes import Word

# How far a cut may move to reach a word boundary; scripts without spaces are cut where they are.
_REACH = 40

# Two marked words at most this far apart stand side by side: a space, a hyphen, a comma and space.
_BESIDE = 2

# Control characters could steer a terminal, and bidirectional overrides could disguise a text.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")

_SENTENCE = re.compile("[.!?…][\"'”’»)]* +|[。！？][」』”）]*")


class Mention(NamedTuple):
    """A place in a text where sought words stand; `words` has bit i set for the i-th of them."""

    start: int
    end: int
    words: int


@dataclass(frozen=True, slots=True)
class Sought:
    """The words to look for, each once, with the weight of each.

    `stems` and `beginnings` tell which words a stem answers, as bits;
    `needles` are the same words as they are counted in a stream,
    `pairs` are neighbours among them as they stand side by side in one;
    `alone` are the streams of a single stem that answers;
    `ascii` tells whether any of them is written in plain Latin letters.
    """

    weights: tuple[float, ...]
    stems: Mapping[str, int]
    beginnings: tuple[tuple[str, int], ...]
    needles: tuple[tuple[str, ...], ...]
    pairs: tuple[tuple[str, ...], ...]
    alone: frozenset[str]
    ascii: bool

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

    def promising(self, stems: Sequence[str]) -> Sequence[int]:
        """Which of the streams of single written words may hold any of the words."""
        if not self.may_be_in("".join(stems)):
            return ()
        if self.beginnings:
            return [at for at, one in enumerate(stems) if self.may_be_in(one)]
        # Most written words have one stem, which answers or does not.
        alone = self.alone
        return [
            at
            for at, one in enumerate(stems)
            if one in alone or ("  " in one and self.may_be_in(one))
        ]

    def weight(self, bits: int) -> float:
        """The weight of a set of words."""
        return sum(weight for at, weight in enumerate(self.weights) if bits >> at & 1)


def sought(marks: Sequence[Word], rarity: Mapping[str, float] = EMPTY) -> Sought:
    """What to look for to find the marks.

    A word weighs as much as its commonest term in `rarity` (term → inverse document frequency),
    because any of its terms answers it; a word that is not there weighs 1.
    A word twice among the marks is one word.
    """
    words = list(dict.fromkeys((word.terms, word.prefix) for word in marks))
    stems: dict[str, int] = {}
    beginnings = []
    for at, (terms, prefix) in enumerate(words):
        for term in terms:
            if prefix:
                beginnings.append((term, 1 << at))
            else:
                stems[term] = stems.get(term, 0) | 1 << at
    weights = tuple(
        max(0.0, min((rarity[term] for term in terms if term in rarity), default=1.0))
        for terms, _ in words
    )
    needles = tuple(
        tuple(f" {term}" if prefix else f" {term} " for term in terms) for terms, prefix in words
    )
    alone = frozenset(f" {stem} " for stem in stems)
    ascii = any(term.isascii() for terms, _ in words for term in terms)
    return Sought(weights, stems, tuple(beginnings), needles, tuple(_pairs(marks)), alone, ascii)


def one_line(text: str) -> str:
    """The text as it can be shown: one line, single spaces, nothing that steers the display."""
    # Most texts are already words with single blanks between them, in lines, which is cheaper to
    # see than to make: of all white space only the blank can be printed.
    line = " ".join(filter(None, text.split("\n"))).strip(" ")
    if line.isprintable() and "  " not in line:
        return line
    return " ".join(_UNSHOWN.sub(" ", " ".join(text.split())).split())


def spellings(languages: Iterable[str | None]) -> list[str | None]:
    """The languages in which a text's words have to be stemmed to find them as the index does.

    None stands for the usual language of each script.
    """
    unusual = {language for language in languages if language is not None and _unusual(language)}
    return [None, *sorted(unusual)] if unusual else [None]


@cache
def _unusual(language: str) -> bool:
    """Whether the language is not the one that words of its script are stemmed by."""
    return USUAL.get(script_for(language)) != language


def mentions(text: str, words: Sought, languages: Iterable[str | None]) -> list[Mention]:
    """The places of the words in the text, in order and apart from each other."""
    if not words.weights:
        return []
    places: list[Mention] = []
    written = text.split(" ")
    for language in spellings(languages):
        if language is None and not words.ascii and text.isascii():
            # Usual stems of plain Latin letters are plain Latin letters.
            continue
        stems = streams(written, language)
        start = done = 0
        for at in words.promising(stems):
            start += len(" ".join(written[done:at])) + (at > done)
            done = at
            places += _placed(written[at], stems[at].split(), start, words, language)
    return _apart(places)


def snippet(text: str, found: Sequence[Mention], words: Sought, length: int) -> str:
    """At most `length` characters of the text around its best cluster of words, as HTML.

    The text is cut at word boundaries where there are any, with `…` where it was cut.
    Without mentions it is the beginning of the text.
    """
    start, end = _window(text, found, words, length)
    shown = highlighted(text, found, start, end)
    return ("…" if start > 0 else "") + shown + ("…" if end < len(text) else "")


def highlighted(text: str, found: Iterable[Mention], start: int = 0, end: int | None = None) -> str:
    """The text from `start` to `end` as escaped HTML with the mentions marked."""
    end = len(text) if end is None else end
    pieces = []
    done = start
    for mention in found:
        first, last = max(mention.start, done), min(mention.end, end)
        if first < last:
            pieces.append(html.escape(text[done:first]))
            pieces.append(f"<mark>{html.escape(text[first:last])}</mark>")
            done = last
    pieces.append(html.escape(text[done:end]))
    return "".join(pieces)


# ----------------------------------------------------------------------------------- mentions


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


# ------------------------------------------------------------------------------------- window


def _window(text: str, found: Sequence[Mention], words: Sought, length: int) -> tuple[int, int]:
    """Where the piece of the text begins and ends that shows the best cluster."""
    if len(text) <= length:
        return 0, len(text)
    first, last = _cluster(found, words, length)
    start = _beginning(text, first, last, length)
    end = start + length
    if end >= len(text):
        return start, len(text)
    space = text.rfind(" ", max(last, end - _REACH), end + 1)
    return start, space if space > start else end


def _cluster(found: Sequence[Mention], words: Sought, length: int) -> tuple[int, int]:
    """The span of mentions that fits and shows most.

    Most means: distinct words by weight, then words side by side, then occurrences, then first.
    """
    if len(found) < 2:
        return next(((one.start, min(one.end, one.start + length)) for one in found), (0, 0))
    best: tuple[float, int, int] = (0.0, 0, 0)
    span = (0, 0)
    held = [0] * len(words.weights)
    beside = [at > 0 and _stand_beside(found[at - 1], mention) for at, mention in enumerate(found)]
    left = neighbours = 0
    for right, mention in enumerate(found):
        _count(held, mention.words, 1)
        neighbours += beside[right]
        while left < right and mention.end - found[left].start > length:
            _count(held, found[left].words, -1)
            left += 1
            neighbours -= beside[left]
        weight = sum(weight for weight, count in zip(words.weights, held, strict=True) if count)
        score = (weight, neighbours, right - left + 1)
        if score > best:
            best = score
            span = (found[left].start, min(mention.end, found[left].start + length))
    return span


def _stand_beside(one: Mention, other: Mention) -> bool:
    return other.start - one.end <= _BESIDE and other.words != one.words


def _count(held: list[int], bits: int, change: int) -> None:
    at = 0
    while bits:
        if bits & 1:
            held[at] += change
        bits >>= 1
        at += 1


def _beginning(text: str, first: int, last: int, length: int) -> int:
    """Where to begin so that the cluster is inside and the reader knows where he is.

    That is the text's own beginning if the cluster is near it,
    else the beginning of the cluster's sentence, else a word some way before it.
    """
    room = length - (last - first)
    if first <= room // 2:
        return 0
    earliest = max(0, first - 2 * room // 3)
    latest = min(first, len(text) - length)
    if earliest >= latest:
        earliest = max(0, last - length)
    sentences = [end.end() for end in _SENTENCE.finditer(text, earliest, latest)]
    if sentences:
        return sentences[-1]
    lead = max(earliest, min(first - room // 3, latest))
    space = text.find(" ", max(0, lead - 1), min(first, lead + _REACH))
    return lead if space < 0 else space + 1
