"""The piece of a text that shows the words of a query best, as HTML with the words marked.

The HTML made here is escaped, and its only tag is `<mark>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from operator import or_

from twolane.results.mentions import Mention

# How far a cut may move to reach a word boundary; scripts without spaces are cut where they are.
_REACH = 40

# Two marked words at most this far apart stand side by side: a space, a hyphen, a comma and space.
_BESIDE = 2

# Control characters could steer a terminal, and bidirectional overrides could disguise a text.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")

_SENTENCE = re.compile("[.!?…][\"'”’»)]* +|[。！？][」』”）]*")


def one_line(text: str) -> str:
    """The text as it can be shown: one line, single spaces, nothing that steers the display."""
    # Most texts are already words with single blanks between them, in lines, which is cheaper to
    # see than to make: of all white space only the blank can be printed.
    line = " ".join(filter(None, text.split("\n"))).strip(" ")
    if line.isprintable() and "  " not in line:
        return line
    return " ".join(_UNSHOWN.sub(" ", " ".join(text.split())).split())


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
    beside = [_stand_beside(one, other) for one, other in pairwise(found)]
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


def _stand_beside(one: Mention, other: Mention) -> bool:
    return other.start - one.end <= _BESIDE and other.words != one.words


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
