"""Boilerplate: lines that many documents hold, which say nothing of any of them.

A daily note, a meeting, a book: many notes are filled in from a template, and many end with one
footer.
Whoever looks for one of them does not ask for its template, so boilerplate is left out of what is
embedded, and of nothing else: it is found by words, shown and exported like any other line.

It is a whole line, or the label of a field ("Mood: good"), with which the field is left out: a few
words that stand there for the sake of the template are noise, and more so without it.
It is known by a key of eight bytes, which is all that is kept of it.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from itertools import islice
from math import isqrt

from twolane.ingest.chunking.splitting import own_sentences, sentence_at
from twolane.model.values import dataclass
from twolane.text.plaintext import plain

# Fewer documents that hold a line are a coincidence, or copies.
FEWEST = 5

# A label is a word or a few; what comes before the colon of a sentence is longer.
# What follows it is a field if it is not longer than this many words; else it is text.
_LABEL = re.compile(r"([^:\n]{1,40}:{1,2})[*_]{0,3}(?=\s|$)")
_LONGEST_VALUE = 6

# The marks of headings, lists, quotations, tables and emphasis around the words of a line.
_MARKS = " \t\r>#*+-_=~`|"
_BOXES = ("[ ]", "[x]", "[X]")

# A line that is a single sign or letter is none that anybody wrote into a template.
_FEWEST_LETTERS = 2

# So many places to count lines in take 4 MB; what shares a place is told apart by a second look.
_PLACES = 1 << 20


@dataclass(frozen=True, slots=True)
class Stripped:
    """A passage as it reads, line by line, and whether each line is boilerplate.

    `rest` is what remains, and is empty where that would be nothing, or headings alone.
    `keys` are those of the boilerplate in it, sorted.
    """

    lines: tuple[tuple[str, bool], ...]
    rest: str
    keys: tuple[int, ...]

    @property
    def whole(self) -> str:
        """The passage as it reads."""
        return "\n".join(line for line, _ in self.lines)


def stripped(markdown: str, boilerplate: Container[int]) -> Stripped | None:
    """The passage without the lines and fields whose keys are in `boilerplate`.

    None if it holds none.
    """
    found = _boilerplate_in(markdown, boilerplate)
    if not found:
        return None
    headings = {plain(line) for line in markdown.split("\n") if line.startswith("#")}
    lines = tuple((line, line.strip() in found) for line in plain(markdown).split("\n"))
    keys = {found[line.strip()] for line, is_boilerplate in lines if is_boilerplate}
    if not keys:
        return None
    rest = [line for line, is_boilerplate in lines if not is_boilerplate]
    # Headings are in the breadcrumb, and alone they are no passage.
    says = any(map(_says_something, set(rest) - headings))
    left = _BLANK_LINES.sub("\n\n", "\n".join(rest)).strip() if says else ""
    return Stripped(lines, left, tuple(sorted(keys)))


def only_boilerplate(markdown: str, boilerplate: Container[int]) -> bool:
    """Whether nothing but headings remains of the passage without its boilerplate."""
    return not any(
        _says_something(line) and _boilerplate_key(_bare(line), boilerplate) is None
        for line in markdown.split("\n")
        if not line.startswith("#")
    )


def own_sentence_at(
    markdown: str, text: str, boilerplate: Collection[int], place: int
) -> str | None:
    """The sentence at this place without the boilerplate in it; None if nothing is left.

    `text` is the passage as it reads.
    """
    own = stripped(markdown, boilerplate) if boilerplate else None
    if own is None or not own.rest:
        return sentence_at(text, place)
    return next(islice(own_sentences(own.lines), place, None), None)


def common_lines(bodies: Callable[[], Iterable[str]]) -> frozenset[str]:
    """The lines and labels, as `key_of` reads them, that many of the bodies hold.

    Many are at least five, and at least a fiftieth of all or the square root of their number,
    whichever is less: twenty of a thousand, a hundred of ten thousand.
    The bodies are asked for twice, and little of them is held in memory.
    """
    places = array("I", bytes(4 * _PLACES))
    number = 0
    for body in bodies():
        number += 1
        for place in {hash(line) % _PLACES for line in lines_of(body)}:
            places[place] += 1
    many = max(FEWEST, min(number // 50, isqrt(number)))
    counts: Counter[str] = Counter()
    for body in bodies():
        counts.update({line for line in lines_of(body) if places[hash(line) % _PLACES] >= many})
    return frozenset(
        line
        for line, count in counts.items()
        if count >= many and sum(map(str.isalpha, line)) >= _FEWEST_LETTERS
    )


def lines_of(body: str) -> Iterator[str]:
    """The lines and labels of a text as they are compared: without case, blanks and marks."""
    for line in body.split("\n"):
        bare = _bare(line)
        if bare:
            yield _same(bare)
            if ":" in bare and (label := _label(bare)):
                yield _same(label)


def key_of(line: str) -> int:
    """The key of a line that `lines_of` gave."""
    name = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(name, "big", signed=True)


def _boilerplate_in(markdown: str, boilerplate: Container[int]) -> dict[str, int]:
    """The lines that are boilerplate, as they read, with their keys."""
    found: dict[str, int] = {}
    for line in markdown.split("\n"):
        key = _boilerplate_key(_bare(line), boilerplate)
        if key is not None and (readable := plain(line)):
            found[readable] = key
    return found


def _boilerplate_key(bare: str, boilerplate: Container[int]) -> int | None:
    """The key of the boilerplate that the line is, or whose label it begins with."""
    if not bare:
        return None
    key = key_of(_same(bare))
    if key not in boilerplate and ":" in bare and (label := _label(bare)):
        key = key_of(_same(label))
    return key if key in boilerplate else None


def _label(bare: str) -> str | None:
    """The label of a field; None for any other line."""
    match = _LABEL.match(bare)
    if match is None or not 0 < len(bare[match.end() :].split()) <= _LONGEST_VALUE:
        return None
    return match[1]


def _says_something(line: str) -> bool:
    return any(map(str.isalnum, line))


def _bare(line: str) -> str:
    bare = line.strip(_MARKS)
    return bare[3:].strip(_MARKS) if bare.startswith(_BOXES) else bare


def _same(bare: str) -> str:
    return " ".join(bare.casefold().split())


_BLANK_LINES = re.compile(r"\n{3,}")
