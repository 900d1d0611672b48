"""Cutting a text into pieces that are not too long, at the best places there are.

How long a piece is, is estimated without a tokenizer.
The estimate is fitted to the vocabulary of multilingual E5 (XLM-R), so that a passage of 450
estimated tokens with its prefix stays below the model's 512.
Real tokens (with prefix and special tokens) per estimated token, over passages of 450:

| text                                     | mean | largest |
|------------------------------------------|------|---------|
| English, German, Spanish prose           |  .81 |     .93 |
| Russian prose                            |  .94 |    1.05 |
| notes in English and Russian, as written |  .90 |    1.02 |
| source code (Python, C, JavaScript)      |  .91 |    1.10 |
| Chinese prose                            |  .79 |     .91 |
| a sentence of Korean, Hebrew or Polish   | 1.01 |    1.01 |
| hashes, base64, numbers, capitals        |  .98 |    1.04 |
| Chinese characters in no order           | 1.07 |    1.07 |

Other vocabularies differ, which is why the sizes are called estimates everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from math import ceil

from twolane.text.plaintext import fences, plain

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
    spaces = [match.end() for match in SPACE.finditer(body, (start + low) // 2, low + 1)]
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
        cuts.update(match.end() for match in _PARAGRAPH.finditer(text, position, start))
        for match in _TABLE.finditer(text, position, start):
            cuts.update(match.span())
        cuts.update((start, end))
        position = end
    for before, cut in pairwise(sorted(cuts)):
        if not is_heading(text[before:cut]):
            yield cut


def _item_cuts(text: str) -> Iterator[int]:
    return (match.end() for match in _ITEM.finditer(text))


def _sentence_cuts(text: str) -> Iterator[int]:
    if text.lstrip().startswith(("```", "~~~", "|")):
        return iter(())  # Code and tables are read by the line.
    return (match.end() for match in SENTENCE.finditer(text))


def _line_cuts(text: str) -> Iterator[int]:
    return (match.end() for match in LINE.finditer(text))


_CUTS = (_block_cuts, _item_cuts, _sentence_cuts, _line_cuts)


def estimate_tokens(text: str) -> int:
    """About how many tokens the text is.

    A text never counts less than a part of it that begins where it begins,
    and texts joined at white space never count more than they do apart.
    """
    classes = text.encode("utf-8", "surrogatepass").translate(_CLASSES, _CONTINUATIONS)
    count = classes.count
    total = 0.94 * count(b"h") + 0.62 * count(b"k") + 0.39 * count(b"o") + 0.9 * count(b"r")
    total += count(b".")
    capitals = count(b"A")
    if letters := count(b"a") + capitals:
        words, beyond = _words(classes, _LATIN)
        total += 0.48 * words + 0.23 * letters + 0.34 * beyond
        # A capital inside a word begins a new piece, and words in capitals are rarely one piece.
        total += 1.29 * count(b"aA") + 0.13 * (capitals - count(b" A"))
    if digits := count(b"0"):
        numbers, _ = _words(classes, _DIGITS)
        total += 0.57 * numbers + 0.15 * digits
        total += 0.46 * (count(b"a0") + count(b"0a") + count(b"A0") + count(b"0A"))
    if cyrillic := count(b"c"):
        words, beyond = _words(classes, _CYRILLIC)
        total += 1.3 * words + 0.08 * cyrillic + 0.63 * beyond
        total += 0.26 * len("".join(_CYRILLIC_CAPITALS.findall(text)))
    return ceil(total)


# Past this length a word is more likely a hash or a random string than a word.
_LONG = 12
_CYRILLIC_CAPITALS = re.compile("[А-ЯЁ]{2,}")


def _class(byte: int) -> str:
    """The class of a character by the first byte of its UTF-8 form.

    `a` Latin (with its accents), `A` Latin capital, `0` digit, `.` mark, space, `c` Cyrillic,
    `h` Chinese and Japanese, `k` Korean, `o` other alphabets, `r` signs and the rest.
    """
    if byte < 0x80:
        character = chr(byte)
        if character.isalpha():
            return "A" if character.isupper() else "a"
        if character.isdigit():
            return "0"
        return "." if character.isprintable() and character != " " else " "
    bounds = {
        0xC3: "r",
        0xCB: "a",
        0xD0: "o",
        0xD4: "c",
        0xE2: "o",
        0xE3: "r",
        0xEA: "h",
        0xEE: "k",
    }
    return next((name for bound, name in bounds.items() if byte < bound), "r")


_CLASSES = "".join(_class(byte) for byte in range(256)).encode()
_CONTINUATIONS = bytes(range(0x80, 0xC0))


def _only(kept: bytes) -> bytes:
    return bytes(byte if byte in kept else ord(" ") for byte in range(256))


_LATIN, _DIGITS, _CYRILLIC = _only(b"aA"), _only(b"0"), _only(b"c")


def _words(classes: bytes, only: bytes) -> tuple[int, int]:
    """How many runs of the kept classes there are, and how many letters are past `_LONG`."""
    words = classes.translate(only).split()
    return len(words), sum([len(word) - _LONG for word in words if len(word) > _LONG])


# A shorter piece (a heading, "Yes.", "1.") means little alone and joins its neighbour.
_SHORTEST = 25

# A table or a list of names has many lines; beyond this number its lines are taken together.
_MOST = 24


def sentences(text: str) -> list[str]:
    """The sentences and lines of a plain text in order, short ones joined to a neighbour.

    They hold every word of the text, and there are at most 24 of them.
    """
    return _sentences(list(_pieces(text)))


def own_sentences(lines: Iterable[tuple[str, bool]]) -> list[str]:
    """What the sentences of lines say without those lines that are forms.

    It is empty where it would be too short for a sentence.
    """
    pieces: list[tuple[str, bool]] = []
    for line, is_boilerplate in lines:
        pieces += [(piece, is_boilerplate) for piece in _pieces(line)]
    parts = iter(pieces)
    own = []
    for sentence in _sentences([piece for piece, _ in pieces]):
        left, size = [], -1
        # Pieces were joined by blanks, so their lengths tell which of them it is made of.
        while size < len(sentence):
            piece, is_boilerplate = next(parts)
            left += [] if is_boilerplate else [piece]
            size += 1 + len(piece)
        said = " ".join(left)
        own.append(said if said == sentence or len(said) >= _SHORTEST else "")
    return own


def sentence_at(text: str, place: int) -> str | None:
    """The sentence of a plain text at this place among its sentences; None if it has fewer."""
    return next(islice(sentences(text), place, None), None)


def _sentences(pieces: list[str]) -> list[str]:
    shortest = _SHORTEST
    joined = list(_joined(pieces, shortest))
    while len(joined) > _MOST:
        shortest *= 2
        joined = list(_joined(pieces, shortest))
    return joined


def _pieces(text: str) -> Iterator[str]:
    for line in filter(None, text.split("\n")):
        start = 0
        for stop in SENTENCE.finditer(line):
            at, end = stop.span()
            if line[at] != "." or _ends(line, at, end):
                yield line[start:end].strip()
                start = end
        if rest := line[start:].strip():
            yield rest


def _ends(text: str, at: int, end: int) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or a number."""
    if text[end : end + 1].islower():
        return False
    first = max(0, at - 20)
    word = text[max(first, text.rfind(" ", first, at) + 1) : at]
    if not word.isalpha():
        match = _WORD.search(text[first:at])
        word = match[0] if match else ""
    return len(word) != 1 and not word.isdigit() and word.lower() not in _ABBREVIATIONS


# What stands before a capital letter or a number more often than at the end of a sentence.
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs no nr art fig vol pp cf ca approx e.g i.e bzw z.b sr sra srta mme mlle"
    " ул им рис стр табл гл руб тыс млн проф акад".split()
)
_WORD = re.compile(r"[\w.]+$")


def _joined(pieces: Iterable[str], shortest: int) -> Iterator[str]:
    """The pieces, each with those after it until it is long enough, the last with the one before.

    So one is given away only when the next is long enough, too.
    """
    before = current = ""
    for piece in pieces:
        if len(current) >= shortest:
            if before:
                yield before
            before, current = current, piece
        else:
            current = f"{current} {piece}" if current else piece
    if before and len(current) < shortest:
        current = f"{before} {current}"
    elif before:
        yield before
    if current:
        yield current
