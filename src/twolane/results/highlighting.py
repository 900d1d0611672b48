"""Words of a query in a text: where they stand, and the piece that shows them best, as HTML.

A text's own word forms are found: `running` for the query `run`, `помидорами` for `помидор`.
The HTML made here is escaped, and its only tag is `<mark>`.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import accumulate, groupby, pairwise
from operator import or_
from typing import NamedTuple

from twolane.model.scope import Word
from twolane.model.values import dataclass
from twolane.text.languages import USUAL, script_for
from twolane.text.tokens import Token, stream, streams, terms_of, tokens

# How far a cut may move to reach a word boundary; scripts without spaces are cut where they are.
_REACH = 40

# Two marked words at most this far apart stand side by side: a space, a hyphen, a comma and space.
_BESIDE = 2

# Control characters could steer a terminal, and bidirectional overrides could disguise a text.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")

_SENTENCE = re.compile("[.!?…][\"'”’»)]* +|[。！？][」』”）]*")


def one_line(text: str) -> str:
    """The text as it can be shown: one line, single spaces, nothing that steers the display."""
    line = " ".join(text.split())
    # Most texts hold nothing of the kind, and that is quickly seen.
    return line if line.isprintable() else " ".join(_UNSHOWN.sub(" ", line).split())


def snippet(text: str, found: Sequence[Mention], length: int) -> str:
    """At most `length` characters of the text around its best cluster of words, as HTML.

    The text is cut at word boundaries where there are any, with `…` where it was cut.
    Without mentions it is the beginning of the text.
    """
    start, end = _window(text, found, length)
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


def _window(text: str, found: Sequence[Mention], length: int) -> tuple[int, int]:
    """Where the piece of the text begins and ends that shows the best cluster."""
    if len(text) <= length:
        return 0, len(text)
    first, last = _cluster(found, length)
    start = _beginning(text, first, last, length)
    end = start + length
    if end >= len(text):
        return start, len(text)
    space = text.rfind(" ", max(last, end - _REACH), end + 1)
    return start, space if space > start else end


def _cluster(found: Sequence[Mention], length: int) -> tuple[int, int]:
    """The span of mentions that fits and shows most.

    Most means: distinct words, then words side by side, then occurrences, then first.
    """
    best = (0, 0, 0)
    span = (0, 0)
    beside = [
        other.start - one.end <= _BESIDE and other.words != one.words
        for one, other in pairwise(found)
    ]
    left = 0
    for right, mention in enumerate(found):
        while left < right and mention.end - found[left].start > length:
            left += 1
        distinct = reduce(or_, (one.words for one in found[left : right + 1])).bit_count()
        score = (distinct, sum(beside[left:right]), right - left + 1)
        if score > best:
            best = score
            span = (found[left].start, min(mention.end, found[left].start + length))
    return span


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


class Mention(NamedTuple):
    """A place in a text where sought words stand; `words` has bit i set for the i-th of them."""

    start: int
    end: int
    words: int


@dataclass(frozen=True, slots=True)
class Sought:
    """The words to look for, each once.

    `stems` and `beginnings` tell which words a stem answers, as bits;
    `needles` are the same words as they stand in a stream of stems, with their bits.
    """

    stems: Mapping[str, int]
    beginnings: tuple[tuple[str, int], ...]
    needles: tuple[tuple[str, int], ...]

    def answered_by(self, stem: str) -> int:
        """The words that the stem answers, as bits."""
        bits = self.stems.get(stem, 0)
        for beginning, bit in self.beginnings:
            if stem.startswith(beginning):
                bits |= bit
        return bits

    def places_in(self, stems: str) -> list[int]:
        """Where any of the words begins in a stream."""
        places = []
        for needle, _ in self.needles:
            at = stems.find(needle)
            while at >= 0:
                places.append(at)
                at = stems.find(needle, at + 1)
        return places


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
        (f" {term}" if prefix else f" {term} ", 1 << at)
        for at, (terms, prefix) in enumerate(words)
        for term in terms
    )
    return Sought(stems, tuple(beginnings), needles)


def spellings(languages: Iterable[str | None]) -> tuple[str | None, ...]:
    """The languages in which a text's words have to be stemmed to find them as the index does.

    None stands for the usual language of each script.
    """
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


def count_words(text: str, words: Sought, languages: Iterable[str | None]) -> int:
    """How many of the words the text holds."""
    bits = 0
    for language in spellings(languages):
        stems = "".join(streams(text.split(" "), language))
        for needle, bit in words.needles:
            if needle in stems:
                bits |= bit
    return bits.bit_count()


def _mentions(text: str, words: Sought, language: str | None) -> Iterator[Mention]:
    """The mentions in a text by the stems of one language, overlapping or not."""
    written = text.split(" ")
    stems = streams(written, language)
    # Looking for each word in the stems of all is much faster than looking at each of these.
    found = words.places_in("".join(stems))
    if not found:
        return
    ends = list(accumulate(map(len, stems)))
    starts = list(accumulate(map(len, written), initial=0))
    for at in sorted({bisect_right(ends, place) for place in found}):
        yield from _placed(written[at], stems[at].split(), starts[at] + at, words, language)


def _placed(
    text: str, stems: Sequence[str], offset: int, words: Sought, language: str | None
) -> Iterator[Mention]:
    """The mentions in a text with these stems, moved by the offset."""
    # Most pieces are a word and nothing else.
    found = [Token(0, len(text), text)] if text.isalnum() else tokens(text)
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
    if not words.places_in(stems):
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
