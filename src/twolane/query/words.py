"""How a piece of a query becomes words to look for in the index."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import islice, pairwise

from twolane.model.scope import Word
from twolane.text.languages import script_of
from twolane.text.tokens import (
    Token,
    is_function_word,
    plain_form,
    stemming_languages,
    symbol_parts,
    terms_of,
    tokens,
)

# A run of characters longer than this is data; its beginning is enough to find it.
_LONGEST = 256

# The index cuts words here, so a longer prefix would never match.
_LONGEST_TERM = 64

# These scripts are indexed by pairs of characters.
_UNBROKEN = frozenset(("han", "kana", "thai"))

# A compound such as `to-do` is a name even if each of its parts is a function word.
_JOINS = frozenset(("-", "_", "\u2010", "\u2011"))

# Common endings, for `_beginnings`: with them a prefix finds .99 of the stems that it should
# in English (.92 without) and all in Russian (.96), measured on the words of the benchmark vaults.
_ENDINGS: dict[str, str] = {
    "en": "s es ed er ers ing ings ion ions ation ations ment ments ness ity ities ive ives able"
    " ably ance ances al ally ly ize izes ized izing y ful fully less",
    "ru": "а я ы и у ю е о ой ей ом ем ам ям ами ями ах ях ов ев ый ий ая яя ое ее ые ие ого его"
    " ому ему ым им ыми ими ать ять ить еть ает ют ешь ишь ал ала али ил или ется ться ающий"
    " ающими ющий ющая ющие ующий вший вшая вшие ость остью ости остями ение ения ением ений"
    " ание ания анием аний ский ская ские ского",
}


def spell(text: str, index_languages: Collection[str], *, prefix: bool = False) -> Iterator[Word]:
    """The words of the text in order, stemmed in every language of the index with their script.

    With `prefix` the last one is the beginning of a word.
    """
    found = tokens(text)
    for token in found:
        yield from _spelled(token, index_languages, prefix=prefix and token is found[-1])


def spell_content(
    text: str, index_languages: Collection[str], languages: Collection[str], *, prefix: bool = False
) -> Iterator[Word]:
    """The same for one token of a query, without the function words of the languages.

    A compound of nothing but function words (`to-do`) keeps them.
    """
    found = tokens(text)
    last = found[-1] if prefix and found else None
    idle = [token is not last and is_function_word(token.text, languages) for token in found]
    if all(idle) and len(found) > 1 and _is_compound(text, found):
        idle = [False] * len(found)
    for token, skipped in zip(found, idle, strict=True):
        if not skipped:
            spelled = _spelled(token, index_languages, prefix=token is last)
            # A symbol of a program is asked for whole; its parts are for those who know no more.
            yield from islice(spelled, 1 if symbol_parts(token.text) else None)


def _is_compound(text: str, found: list[Token]) -> bool:
    return all(text[one.end : two.start] in _JOINS for one, two in pairwise(found))


def _spelled(token: Token, index_languages: Collection[str], *, prefix: bool) -> Iterator[Word]:
    text = token.text[:_LONGEST]
    languages = stemming_languages(text, index_languages)
    positions = terms_of(text, languages)
    if len(positions) > 1:
        yield from (Word(text, terms) for terms in positions)
    elif len(text) == 1 and script_of(text) in _UNBROKEN:
        # A single character stands at the beginning of a pair, hardly ever alone.
        yield Word(text, positions[0], prefix=True)
    elif prefix:
        yield Word(text, _beginnings(text, positions[0], languages), prefix=True)
    else:
        yield Word(text, positions[0])


def _beginnings(text: str, stems: tuple[str, ...], languages: Collection[str]) -> tuple[str, ...]:
    """The terms of a prefix: the index holds stems alone, which may be shorter than what is typed.

    `embeddi*` must find `embeddings`, whose stem is `embed`.
    So besides the typed letters and their own stem (`happy*` finds `happi`)
    this takes the stem of each word that the letters become with a common ending,
    where that stem lies wholly within the letters and is not so short that it would match a lot.
    """
    typed = plain_form(text)[:_LONGEST_TERM], *stems
    terms = set(typed)
    for language in languages:
        for ending in _rests(language):
            (stem, *_) = terms_of(text + ending, (language,))[0]
            if len(stem) >= 3 and any(form.startswith(stem) for form in typed):
                terms.add(stem)
    # A term that begins with another one matches nothing more.
    return tuple(sorted(term for term in terms if not term.startswith(_others(term, terms))))


def _others(term: str, terms: set[str]) -> tuple[str, ...]:
    return tuple(other for other in terms if other != term)


@lru_cache(maxsize=32)
def _rests(language: str) -> tuple[str, ...]:
    """What may be left of a word's ending when the typing stops within it."""
    endings = _ENDINGS.get(language, "").split()
    return tuple(sorted({ending[at:] for ending in endings for at in range(len(ending))}))
