"""What a word must look like to have a stem: a cheap way to pass over words that cannot.

Cutting a text into words and stemming each takes many times as long as looking for a few letters
in it, and most texts that are shown hold few of the words that were asked for.
Everything here promises never to pass over a word that has the stem; it may look at others, too.
It is for words that are stemmed as English or Russian, the usual languages of their scripts.
"""

from __future__ import annotations

from codecs import charmap_encode
from collections.abc import Iterable
from encodings.cp1251 import encoding_table
from itertools import takewhile

# A letter of the Windows code page that folds into a Greek one.
_MICRO = "µ"

# A word with one of them may be stemmed without it, or without what is before or behind it.
_APOSTROPHES = "'’"


def root_of(stem: str) -> str:
    """The letters with which every word of this stem begins.

    Russian stems are beginnings of their words.
    English ones end in other letters at most where `y` became `i` (`cry`, `cri`), where an `e` was
    put (`hoping`, `hope`; `dying`, `die`), and in `-ble` for `-bility`, which may lose its `e`;
    and the stem of `skies` is `sky`.
    """
    if stem.endswith(("ie", "ble")):
        return _as_written(stem[:-2])
    return _as_written(stem[:-1] if stem.endswith(("e", "i", "l", "y")) else stem)


def root_of_beginning(beginning: str) -> str:
    """The letters with which every word begins whose stem begins so."""
    # Its last letters may be among those, at most two, that an English stem has changed.
    return _as_written(beginning[:-2] if beginning[-1:].isascii() else beginning)


def _as_written(root: str) -> str:
    """The letters of a root that no accent was taken from.

    A word that begins with a Latin letter loses all accents, also that of a Cyrillic `й` in it.
    """
    if root.isascii() or not root[0].isascii():
        return root
    return "".join(takewhile(str.isascii, root))


def small_letters(text: str) -> str | None:
    """The text as its words are compared, sign for sign; None if it has signs that fold otherwise.

    Apostrophes stay as they are.
    """
    if text.isascii():
        return text.lower()
    # Encoding a text is the fastest way to see that it holds nothing but signs of one code page:
    # Latin and Cyrillic letters without accents, and nothing that joins the sign before it.
    try:
        charmap_encode(text, "strict", encoding_table)
    except UnicodeEncodeError:
        return None
    return None if _MICRO in text else text.lower().replace("ё", "е")


def pieces_with(text: str, small: str, roots: Iterable[str]) -> list[tuple[int, int]]:
    """The pieces between blanks that may hold a word with one of the roots: begins and ends.

    `small` is the text in small letters.
    """
    found: dict[int, int] = {}
    for root in roots:
        at = small.find(root)
        while at >= 0:
            if at and _is_inside(text[at - 1], text[at]):
                at = small.find(root, at + 1)
            else:
                at = small.find(root, _add_piece(found, text, at))
    for sign in _APOSTROPHES:
        at = text.find(sign)
        while at >= 0:
            at = text.find(sign, _add_piece(found, text, at))
    return sorted(found.items()) if len(found) > 1 else list(found.items())


def _is_inside(one: str, other: str) -> bool:
    """Whether two neighbours stand inside a word and inside each part of it that has a stem.

    Parts of a symbol (`useAuth`) begin where capitals, digits or another alphabet do.
    """
    return (
        one.isalpha()
        and other.isalpha()
        and one.islower()
        and other.islower()
        and one.isascii() is other.isascii()
    )


def _add_piece(found: dict[int, int], text: str, at: int) -> int:
    """Add the piece around this place; its end."""
    end = text.find(" ", at)
    end = len(text) if end < 0 else end
    found[text.rfind(" ", 0, at) + 1] = end
    return end
