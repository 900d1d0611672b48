"""From bytes to text: the encoding, the line ends and the Unicode form of a file."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from twolane.ingest.parsing.old_encodings import read_as_old
from twolane.model.problem import ProblemCode

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
        old = read_as_old(data, text)
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
