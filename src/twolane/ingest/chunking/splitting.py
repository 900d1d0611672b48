"""Cutting a text into pieces that are not too long, at the best places there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import ceil

from twolane.ingest.chunking.token_estimate import estimate_tokens
from twolane.text.fences import fences
from twolane.text.plaintext import plain

Span = tuple[int, int]


def split(body: str, start: int, end: int, room: int, level: int = 0) -> Iterator[Span]:
    """Spans that cover the stretch, as large as fits and as even as the cuts allow.

    A span may read longer than its parts do if the cuts went through markup.
    """
    if level == len(_CUTS):
        yield from split_anywhere(body, start, end, room)
        return
    text = body[start:end]
    cuts = sorted({0, *_CUTS[level](text), len(text)})
    if len(cuts) == 2:
        yield from split(body, start, end, room, level + 1)
        return
    spans = [(start + one, start + other) for one, other in pairwise(cuts)]
    # A link may be ten times as long as it reads, so what counts is what will be read.
    costs = [estimate_tokens(plain(body[begin:finish])) for begin, finish in spans]
    even = sum(costs) / ceil(sum(costs) / room) if sum(costs) else room
    first, filled = start, 0
    for (begin, finish), cost in zip(spans, costs, strict=True):
        if filled + cost > room or filled >= even:
            if first < begin:
                yield first, begin
            first, filled = begin, 0
        if cost > room:
            yield from split(body, begin, finish, room, level + 1)
            first = finish
        else:
            filled += cost
    if first < end:
        yield first, end


def split_anywhere(body: str, start: int, end: int, room: int) -> Iterator[Span]:
    """Spans of at most `room` estimated tokens, cut at white space where there is any."""
    while start < end:
        cut = longest_beginning(body, start, end, room)
        yield start, cut
        start = cut


def longest_beginning(body: str, start: int, end: int, room: int) -> int:
    """Where the longest beginning ends that is not longer than `room`, at least one character."""
    reach = 4 * room
    while start + reach < end and estimate_tokens(body[start : start + reach]) <= room:
        reach *= 2
    low, high = start + 1, min(end, start + reach)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(body[start:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    if low == end:
        return end
    spaces = [found.end() for found in SPACE.finditer(body, (start + low) // 2, low + 1)]
    return spaces[-1] if spaces else low


def is_heading(text: str) -> bool:
    """Whether the text is one heading and nothing else."""
    return _HEADING.fullmatch(text) is not None


SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"\s*+(?:#{1,6}(?:[ \t][^\n]*+)?|[^\n]++\n[ \t]*+(?:=++|-++)[ \t]*+)\s*+")
_PARAGRAPH = re.compile(r"\n(?:[ \t]*+\n)++")
_TABLE = re.compile(r"^(?:[ \t]*+\|[^\n]*+(?:\n|\Z))++", re.MULTILINE)
_ITEM = re.compile(r"\n(?=[ \t>]*+(?:[-*+]|\d{1,9}[.)])[ \t])")
# What may not come before the first sign is asked after it, so that the search is for a sign.
SENTENCE = re.compile(
    r"[.!?…。！？｡](?:(?<=[.!?…])(?<![.!?…].)[.!?…]*+[\"'»”’)\]]*+\s++"
    r"|(?<=[。！？｡])(?<![。！？｡].)[。！？｡]*+[」』”）]*+\s*+)"
)
LINE = re.compile(r"\n")


def _block_cuts(text: str) -> Iterator[int]:
    """Between paragraphs, around code blocks and tables, but not between a heading and its text."""
    cuts = {0}
    position = 0
    for start, end in (*fences(text), (len(text), len(text))):
        cuts.update(found.end() for found in _PARAGRAPH.finditer(text, position, start))
        for found in _TABLE.finditer(text, position, start):
            cuts.update(found.span())
        cuts.update((start, end))
        position = end
    for before, cut in pairwise(sorted(cuts)):
        if not is_heading(text[before:cut]):
            yield cut


def _item_cuts(text: str) -> Iterator[int]:
    return (found.end() for found in _ITEM.finditer(text))


def _sentence_cuts(text: str) -> Iterator[int]:
    if text.lstrip().startswith(("```", "~~~", "|")):
        return iter(())  # Code and tables are read by the line.
    return (found.end() for found in SENTENCE.finditer(text))


def _line_cuts(text: str) -> Iterator[int]:
    return (found.end() for found in LINE.finditer(text))


_CUTS = (_block_cuts, _item_cuts, _sentence_cuts, _line_cuts)
