"""Slips of the hand and the ear: keyboard layouts, transliteration, edit distance.

Pure functions from a word as typed to words that may have been meant.
"""

from __future__ import annotations

import re

# The same keys under the English and the Russian layout.
_ENGLISH = "`qwertyuiop[]asdfghjkl;'zxcvbnm,."
_RUSSIAN = "ёйцукенгшщзхъфывапролджэячсмитьбю"
_ENGLISH_SHIFTED = '~QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>'
_RUSSIAN_SHIFTED = _RUSSIAN.upper()
_TO_RUSSIAN = str.maketrans(_ENGLISH + _ENGLISH_SHIFTED, _RUSSIAN + _RUSSIAN_SHIFTED)
_TO_ENGLISH = str.maketrans(_RUSSIAN + _RUSSIAN_SHIFTED, _ENGLISH + _ENGLISH_SHIFTED)

# How Russian sounds are spelled in Latin letters, longest first; one reading each.
_SOUNDS: tuple[tuple[str, str], ...] = (
    ("shch", "щ"),
    # As English has it: `borscht`.
    ("scht", "щ"),
    ("sch", "щ"),
    ("zh", "ж"),
    ("kh", "х"),
    ("ts", "ц"),
    ("tz", "ц"),
    ("ch", "ч"),
    ("sh", "ш"),
    ("yu", "ю"),
    ("ju", "ю"),
    ("iu", "ю"),
    ("ya", "я"),
    ("ja", "я"),
    ("ia", "ия"),
    ("yo", "е"),
    ("jo", "е"),
    ("ye", "е"),
    ("je", "е"),
    ("ck", "к"),
    ("ph", "ф"),
    *zip("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопкрстуввхыз", strict=True),
    ("'", "ь"),
)
_SOUND = re.compile("|".join(re.escape(latin) for latin, _ in _SOUNDS))
_CYRILLIC = dict(_SOUNDS)

# Both scripts reduced to one rough spelling, in which usual variants of a word are equal.
_ROUGH: dict[str, str] = {
    **dict(zip("абвгдезийклмнопрстуфхцыэ", "abvgdeziiklmnoprstufhcie", strict=True)),
    "ж": "zh",
    "ч": "ch",
    "ш": "sh",
    "щ": "sh",
    "ю": "iu",
    "я": "ia",
    "ё": "e",
    "ъ": "",
    "ь": "",
}
_VARIANTS: tuple[tuple[str, str], ...] = (
    ("shch", "sh"),
    ("sch", "sh"),
    ("kh", "h"),
    ("ph", "f"),
    ("ck", "k"),
    ("ts", "c"),
    ("tz", "c"),
    ("ye", "e"),
    ("yo", "e"),
    ("je", "e"),
    ("jo", "e"),
    ("w", "v"),
    ("x", "ks"),
    ("q", "k"),
    ("y", "i"),
    ("j", "i"),
    ("'", ""),
)

_VOWELS = re.compile("[aeiou]")


def other_layout(text: str) -> str:
    """The text as the same keys would have written it under the other layout."""
    if any("а" <= char.lower() <= "я" or char in "ёЁ" for char in text):
        return text.translate(_TO_ENGLISH)
    return text.translate(_TO_RUSSIAN)


def in_cyrillic(word: str) -> str:
    """A Latin word as a Russian reader would write it down by ear."""
    return _SOUND.sub(lambda found: _CYRILLIC[found.group()], word.lower())


def rough(word: str) -> str:
    """One rough Latin spelling for a word in either script; near-homophones share it."""
    spelled = "".join(_ROUGH.get(char, char) for char in word.lower())
    for variant, plain in _VARIANTS:
        spelled = spelled.replace(variant, plain)
    return _without_doubles(spelled)


def consonants(word: str) -> str:
    """What is left of a word's rough spelling without its vowels: slips of the ear keep it."""
    return _without_doubles(_VOWELS.sub("", rough(word)))


def _without_doubles(text: str) -> str:
    return re.sub(r"(.)\1+", r"\1", text)


def begins_rightly(typed: str, meant: str) -> bool:
    """Whether the first letter was meant, at least if one more or less stands before it.

    People get the first letter of a word right.
    """
    return typed[0] in meant[:2] or meant[0] in typed[:2]


def tolerance(word: str) -> int:
    """How many slips a word of this length may hold and still be recognised."""
    if len(word) < 6:
        return 0
    return 1 if len(word) < 9 else 2
