"""Texts letter by letter: how they are compared, and where one stands in another.

Two spellings count as equal if they differ in case, in accents of Latin and Greek letters, in
`ё` for `е`, in compatibility forms (full width, ligatures) or in how wide their spaces are.
Stores and results both look through here, so that what is found can also be shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from twolane.model.candidate import Match
from twolane.model.document import Document
from twolane.text.languages import script_of
from twolane.text.plaintext import has_marks, plain
from twolane.text.tokens import PLAIN_LETTERS, fold, is_edge

# Shorter texts are in everything: they must begin a word.
SHORTEST = 3

# The fields that name a document, in the order in which they count, and those that tell of it.
NAMES = ("title", "aliases", "path", "url", "tags")
TEXTS = ("description", "headings", "body")

# A letter with the signs that belong to it; what is folded together is cut together.
_LETTER = re.compile(r"\s+|.[\u0300-\u036f\u0483-\u0487\u1160-\u11ff\u3099\u309a]*", re.DOTALL)
_SIGNS = re.compile("[\u0300-\u036f]")
# Folded texts mostly hold nothing but these, which have no accents to lose.
_UNUSUAL = re.compile("[^\x01-\x7f\u0430-\u044f—–«»“”„•·°×→]")


def spelled(text: str) -> str:
    """The spelling under which texts are compared; spaces and line breaks are one space."""
    if text.isascii():
        return " ".join(text.lower().replace("\0", " ").split())
    folded = fold(text)
    if not _UNUSUAL.search(folded):
        return " ".join(folded.split())
    folded = _SIGNS.sub("", folded).replace("\0", " ")
    return " ".join(folded.translate(_BARE_LETTERS).split())


def holds(text: str, needle: str) -> bool:
    """Whether the text, once spelled, holds the spelled needle; signs are mostly told without."""
    if any(map(str.isalnum, needle)):
        return needle in spelled(text)
    if needle in text:
        return True
    # Nothing but what is usual is spelled as it is written, apart from its letters.
    usual = text.isascii() or not _UNUSUAL.search(text.lower().replace("ё", "е"))
    return not usual and needle in spelled(text)


def match_in(
    id: str,
    languages: tuple[str, ...],
    needle: str,
    fields: Iterable[tuple[str, Iterable[str]]],
) -> Match | None:
    """Where the document with these fields holds the spelled needle, None if nowhere.

    The first field that holds it counts, and in it the first place between two word edges,
    or else the first place.
    """
    for name, texts in fields:
        found = []
        for text in map(spelled, texts):
            place = place_in(text, needle)
            if place is not None:
                found.append((*place, len(text)))
        if found:
            inside, at, length = min(found)
            return Match(id, languages, name, at, length, whole=not inside)
    return None


def place_in(text: str, needle: str) -> tuple[bool, int] | None:
    """Whether the needle is only inside of words, and where: the best place in a spelled text.

    A needle of one or two signs counts only where a word begins.
    """
    first = None
    at = text.find(needle) if needle else -1
    while at >= 0:
        begins = is_edge(text, at)
        if begins or len(needle) >= SHORTEST:
            if begins and is_edge(text, at + len(needle)):
                return False, at
            first = at if first is None else first
        at = text.find(needle, at + 1)
    return None if first is None else (True, first)


def places(text: str, needle: str) -> list[tuple[int, int]]:
    """Where the needle stands in the text as it is written: begin and end, apart from each other.

    Only places that `place_in` would count.
    """
    if not needle or place_in(spelled(text), needle) is None:
        return []
    folded, starts, ends = _mapped(text)
    found = []
    at = folded.find(needle)
    while at >= 0:
        end = at + len(needle)
        if len(needle) >= SHORTEST or is_edge(folded, at):
            found.append((starts[at], ends[end - 1]))
            at = folded.find(needle, end)
        else:
            at = folded.find(needle, at + 1)
    return found


def fields_of(
    document: Document, names: Sequence[str] = (*NAMES, *TEXTS), needle: str = ""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a person sees of the document, field by field, in the order in which fields count.

    What cannot hold the spelled needle may be left out.
    """
    for name in names:
        if name == "body":
            yield from body_fields(document.body, needle)
        else:
            yield name, _texts(document, name)


def body_fields(body: str, needle: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The body as it is written, and then, if that is something else, as a reader sees it.

    The second one is left out if it cannot hold the spelled needle.
    """
    yield "body", (body,)
    if has_marks(body) and may_stand_in(spelled(body), needle):
        yield "body", (plain(body),)


def _texts(document: Document, field: str) -> tuple[str, ...]:
    match field:
        case "title":
            return (document.title,)
        case "aliases":
            return document.aliases
        case "path":
            return (document.path or "",)
        case "url":
            return (document.url or "",)
        case "tags":
            return document.tags
        case "description":
            return document.description, document.summary, *document.arguments
        case _:
            return tuple(heading.text for heading in document.headings)


def _mapped(text: str) -> tuple[str, list[int], list[int]]:
    """The spelled text with the place in the text that each of its signs comes from."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for letter in _LETTER.finditer(text):
        written = letter.group()
        folded = " " if written.isspace() else _letter(written)
        if folded == " " and (not pieces or pieces[-1] == " "):
            continue
        pieces.append(folded)
        starts += [letter.start()] * len(folded)
        ends += [letter.end()] * len(folded)
    return "".join(pieces), starts, ends


@lru_cache(maxsize=1 << 14)
def _letter(written: str) -> str:
    # Between two letters, so that a sign which folds into a space is not stripped.
    return spelled(f"x{written}x")[1:-1]


def _bare(char: str) -> str:
    """A Latin or Greek letter without its accent or as two; any other sign as it is."""
    if char.isascii():
        return char
    if char not in PLAIN_LETTERS and char.isalpha() and script_of(char) in ("latin", "greek"):
        char = unicodedata.normalize("NFD", char)[:1] or char
    return PLAIN_LETTERS.get(char, char)


class Spellings(dict[int, str]):
    """A table for `str.translate` that asks how a sign is spelled when it first meets it."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, sign: int) -> str:
        spelling = self[sign] = self._spell(chr(sign))
        return spelling


_BARE_LETTERS = Spellings(_bare)


# Common words stand early in a text; after so many places folding is quicker.
_PLACES = 4

# So many words that nobody sees may stand after each word of a quotation; an address has ten.
_UNSEEN = 12

_WORD = re.compile(r"[^\W_]+")
# What may stand between two words that a reader sees side by side: the target of a link, a tag,
# any signs. Nothing in it is tried twice.
_BETWEEN = (
    r"(?:\]\([^()\s]{0,2000}+(?:\s\"[^\"\n]{0,200}+\")?\)|\[\[[^\[\]|\n]{1,500}+\||<[^<>\n]{1,500}+>"
    r"|\]\[[^\[\]\n]{0,200}+\]|&\w{1,30}+;|[\W_])*+"
)


def holds_literally(text: str, literal: str) -> bool:
    """Whether a folded literal stands in the text letter by letter, at word boundaries.

    That is the text as it is written, or as a reader sees it.
    """
    if stands_as_written(text, literal):
        return True
    folded = fold(text)
    if not may_stand_in(folded, literal):
        return False
    # How wide the spaces of a text are matters only to a literal that has one.
    spaced = " ".join(folded.split()) if " " in literal else folded
    return stands_in(spaced, literal) or reads(text, literal)


def spread(words: int) -> int:
    """How far apart so many words of a quotation may stand in a text, counted in words.

    What a reader does not see may stand between them: the target of a link, a tag.
    """
    return _UNSEEN * words


def reads(text: str, literal: str) -> bool:
    """Whether a folded literal stands in what a reader sees of a Markdown text.

    The signs of emphasis, links and code go, as in snippets; a quotation does not go on beyond
    its paragraph.
    """
    return has_marks(text) and any(
        stands_in(line(plain(paragraph)), literal)
        for paragraph in text.split("\n\n")
        if has_marks(paragraph) and may_stand_in(fold(paragraph), literal)
    )


def may_stand_in(folded: str, literal: str) -> bool:
    """Whether the words of a literal follow each other in a folded text, signs left aside.

    If not, the literal stands in it neither as it is written nor as it is read; to tell this
    takes a tenth of the time of reading it.
    A literal without words may stand where all its signs are.
    """
    sequence = _sequence(literal)
    if sequence is None:
        return all(sign in folded for sign in set(literal.replace(" ", "")))
    return sequence.search(folded) is not None


@lru_cache(maxsize=256)
def _sequence(literal: str) -> re.Pattern[str] | None:
    words = _WORD.findall(literal)
    return re.compile(_BETWEEN.join(map(re.escape, words))) if words else None


def line(text: str) -> str:
    """The folded text with its spaces and line breaks as one space each."""
    return " ".join(fold(text).split())


def stands_in(folded: str, literal: str) -> bool:
    """Whether a folded literal stands in a folded text, at word boundaries."""
    at = folded.find(literal) if literal else -1
    while at >= 0:
        if is_edge(folded, at) and is_edge(folded, at + len(literal)):
            return True
        at = folded.find(literal, at + 1)
    return False


def stands_as_written(text: str, literal: str) -> bool:
    """Whether the literal stands in the text in these very letters; if not, it still may.

    Folding a text takes a hundred times as long as this look at it.
    Next to plain signs a literal stays what it is when the text is folded.
    """
    if not _folds_to_itself(literal):
        return False
    at = text.find(literal)
    for _ in range(_PLACES):
        if at < 0:
            return False
        end = at + len(literal)
        around = text[max(0, at - 1) : at], text[end : end + 1]
        if all(sign.isascii() for sign in around) and is_edge(text, at) and is_edge(text, end):
            return True
        at = text.find(literal, at + 1)
    return False


@lru_cache(maxsize=256)
def _folds_to_itself(literal: str) -> bool:
    # A combining sign at the beginning would join the letter before it.
    begins = literal[:1]
    return bool(begins) and line(literal) == literal and (begins.isascii() or begins.isalnum())
