"""From bytes to text: the encoding, the line ends and the Unicode form of a file."""

from __future__ import annotations

import codecs
import re
import unicodedata

from twolane.model.problem import ProblemCode
from twolane.model.values import dataclass

# A NUL this near to the beginning means that the file is no text; one further on is an accident.
_LOOKED_AT = 8192

# More unreadable characters than this and there is nothing left to search in.
# Western text in an old encoding has some 5 %, Polish 15 %; random bytes have more than half.
_UNREADABLE_SHARE = 0.3

_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1a\x7f\ufffd]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, or None if it is not text, and what is wrong with it."""

    text: str | None
    code: ProblemCode | None = None
    reason: str = ""


def decode(data: bytes) -> Decoded:
    """The file's text in NFC with LF line ends, without byte order mark and NUL characters."""
    encoding = _marked_encoding(data)
    if encoding == "utf-8" and b"\0" in data[:_LOOKED_AT]:
        return Decoded(None, ProblemCode.BINARY, "it is not a text file: it holds NUL bytes")
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    if encoding != "utf-8" and "\0" in text[:_LOOKED_AT]:
        return Decoded(None, ProblemCode.BINARY, "it is not a text file: it holds NUL characters")
    if encoding == "utf-8" and "\ufffd" in text and not _is_valid(data, encoding):
        old = _read_as_old(data, text)
        if old is not None:
            text, name = old
            reason = f"it is not UTF-8, and was read as {name}; convert it if that is wrong"
            return Decoded(_clean(text), ProblemCode.NOT_UTF8, reason)
    if len(_UNREADABLE.findall(text)) > _UNREADABLE_SHARE * len(text):
        reason = (
            "most of it is not UTF-8 text; "
            "if it is a note in an older encoding, convert it to UTF-8"
        )
        return Decoded(None, ProblemCode.BINARY, reason)
    clean = _clean(text)
    if "\ufffd" in text and not _is_valid(data, encoding):
        line = clean.count("\n", 0, clean.index("\ufffd")) + 1
        reason = f"line {line} is not valid {encoding.upper()}; what could not be read is marked �"
        return Decoded(clean, ProblemCode.NOT_UTF8, reason)
    return Decoded(clean)


def _clean(text: str) -> str:
    """The text in NFC with LF line ends and without NUL characters."""
    return composed(text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n"))


# Nothing composes with an ASCII character after it, so a text may be cut before any of these.
_PIECE = re.compile(r"(?s:.{1,500})(?:(?=[\x00-\x7f])|\Z)|(?s:.{1,500})")


def composed(text: str) -> str:
    """The text in NFC.

    Piece by piece, because the time that accents take to sort grows with the square of their
    number, and a hostile file has nothing but accents.
    """
    if text.isascii():
        return text
    return "".join([unicodedata.normalize("NFC", piece) for piece in _PIECE.findall(text)])


def _marked_encoding(data: bytes) -> str:
    """The encoding that the byte order mark names, else UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


def _is_valid(data: bytes, encoding: str) -> bool:
    """Whether the replacement characters in the text were written by its author."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


# ------------------------------------------------------------------------------- old encodings

# Nothing in such a file says which encoding it is in, so that its words must: in Russian they are
# made of nothing but high bytes, in western languages a few letters of a word are.
# What does not look like words for the most part is left alone.

# So much of a file settles its encoding.
_SAMPLE = 200_000

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


def _read_as_old(data: bytes, text: str) -> tuple[str, str] | None:
    """The text of the bytes and the name of their encoding, if their words tell it.

    `text` is what the bytes are as UTF-8, with U+FFFD for what is not.
    """
    invalid = text.count("\ufffd")
    # Letters of UTF-8 hardly come about by accident: with them, some bytes are merely broken.
    valid = _high(text) - invalid
    if valid * 10 > invalid or _CONTROL.search(data):
        return None
    begin = _HIGH.search(data)
    sample = data[max(0, begin.start() - 100) if begin else 0 :][:_SAMPLE]
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
    letters = "".join(word for word in words if _is_cased(word) and not any(map(str.isascii, word)))
    if len(letters) < max(_FEWEST_CYRILLIC, _CYRILLIC_SHARE * high):
        return False
    least, most = _VOWEL_SHARE
    vowels = sum(letter in _VOWELS for letter in letters) / len(letters)
    return least <= vowels <= most and sum(map(str.islower, letters)) >= _SMALL_SHARE * len(letters)


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


def _high(text: str) -> int:
    """How many characters are beyond ASCII."""
    return len(text) - len(text.encode("ascii", "ignore"))
