"""Which words are spelled right, and which of them belong together.

A word that many people write, or that the dictionary of translations holds, is hardly a slip.
Two such words are one word in two forms, or a word and its twin in the other script, only if the
dictionary gives both the same meaning: `theatre` and `theater`, not `statue` and `status`;
`motor` and `мотор`, not `sad` and `сад`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from twolane.text.scripts import USUAL, script_of
from twolane.text.tokens import terms_of
from twolane.text.translations import translations
from twolane.text.usual_words import is_usual

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
