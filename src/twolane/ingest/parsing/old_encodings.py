"""Which old encoding a file is in that is no UTF-8: windows-1251, windows-1252, or nobody knows.

Nothing in such a file says it, so that its words must: in Russian they are made of nothing but
high bytes, in western languages a few letters of a word are.
What does not look like words for the most part is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# So much of a file settles its encoding.
_LOOKED_AT = 200_000

# Fewer Cyrillic letters than this may be an accident.
_FEWEST_CYRILLIC = 6

# Letters that go on and on are no word.
_LONGEST_WORD = 50

# Of high bytes, at least this share must be letters of words that look right.
# The others are quotes, dashes, and words that the rules do not know.
_CYRILLIC_SHARE = 0.8
_WESTERN_SHARE = 0.2
_MOST_WRONG = 0.1

# `été` is the most that a western word has of accents.
_MOST_ACCENTED = 0.67
# In windows-1252 letters of Icelandic and little else; in its Turkish sister, common ones.
# The last is also what a byte of no meaning looks like.
_UNUSUAL = frozenset("ðþýÐÞÝƒÿŸ")

# Russian has 42 % vowels and mostly small letters; text of other encodings that is read as
# Cyrillic has neither: in KOI8-R the small letters are capitals, in Greek vowels are rare.
_VOWELS = frozenset("аеёиоуыэюяіїєАЕЁИОУЫЭЮЯІЇЄ")
_VOWEL_SHARE = (0.25, 0.65)
_SMALL_SHARE = 0.5

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile("[Ѐ-ӿ]")
# Signs above ASCII that may follow a letter; any other one there is a piece of something else.
_MAY_FOLLOW = "’‘“”»«…–—\xa0\xad®©™·´ªº"
_STRAY = re.compile(rf"(?<=[^\W\d_])[^\x00-\x7f\w{_MAY_FOLLOW}]")


def read_as_old(data: bytes, text: str) -> tuple[str, str] | None:
    """The text of the bytes and the name of their encoding, if their words tell it.

    `text` is what the bytes are as UTF-8, with U+FFFD for what is not.
    """
    invalid = text.count("\ufffd")
    # Letters of UTF-8 hardly come about by accident: with them, some bytes are merely broken.
    valid = _high(text) - invalid
    if valid * 10 > invalid or _CONTROL.search(data):
        return None
    begin = _HIGH.search(data)
    sample = data[max(0, begin.start() - 100) if begin else 0 :][:_LOOKED_AT]
    for encoding, name, fits in (
        ("cp1251", "windows-1251", _is_cyrillic),
        ("cp1252", "windows-1252", _is_western),
    ):
        try:
            if fits(sample.decode(encoding)):
                return data.decode(encoding), name
        except UnicodeDecodeError:
            # Each of them has bytes that mean nothing.
            continue
    return None


def _is_cyrillic(text: str) -> bool:
    """Whether what is beyond ASCII is mostly Cyrillic words, as Russian and its kin write them."""
    high = _high(text)
    words = [word for word in _WORD.findall(text) if _CYRILLIC.search(word)]
    letters = "".join(word for word in words if _is_cased(word) and not _has_latin(word))
    if len(letters) < max(_FEWEST_CYRILLIC, _CYRILLIC_SHARE * high):
        return False
    least, most = _VOWEL_SHARE
    return least <= _share(letters, _VOWELS) <= most and sum(
        letter.islower() for letter in letters
    ) >= _SMALL_SHARE * len(letters)


def _is_western(text: str) -> bool:
    """Whether what is beyond ASCII is mostly letters with accents in words of Latin ones."""
    high = _high(text)
    good, wrong = 0, len(_STRAY.findall(text))
    for word in _WORD.findall(text):
        accented = sum(letter > "\x7f" for letter in word)
        # A word may be one such letter (`à`), which neither speaks for the encoding nor against.
        if accented and len(word) > 1:
            right = _is_cased(word) and accented <= _MOST_ACCENTED * len(word)
            right = right and _UNUSUAL.isdisjoint(word)
            good, wrong = (good + accented, wrong) if right else (good, wrong + accented)
    return good >= max(1, _WESTERN_SHARE * high) and wrong <= _MOST_WRONG * high


def _is_cased(word: str) -> bool:
    """Whether capitals stand where they may in a word: nowhere, at its beginning, everywhere."""
    cased = word[1:].islower() or word.isupper() or len(word) == 1
    return cased and len(word) <= _LONGEST_WORD


def _has_latin(word: str) -> bool:
    return any(letter.isascii() for letter in word)


def _high(text: str) -> int:
    """How many characters are beyond ASCII."""
    return len(text) - len(text.encode("ascii", "ignore"))


def _share(letters: str, of: Iterable[str]) -> float:
    return sum(letter in of for letter in letters) / len(letters)
