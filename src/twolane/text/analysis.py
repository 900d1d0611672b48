"""How a text is read, word by word: what `twolane.analyze` tells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from twolane.text.tokens import is_function_word, read, stemming_languages, terms_of, tokens


@dataclass(frozen=True, slots=True)
class AnalyzedWord:
    """A word: where it stands, how it is written, and under which stems it is found.

    A function word only holds sentences together.
    """

    start: int
    end: int
    text: str
    stems: tuple[str, ...]
    function_word: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """The words of a text, and the languages that it may be in if it is a query."""

    words: tuple[AnalyzedWord, ...]
    languages: frozenset[str]


def analyze(text: str, languages: Collection[str] = ()) -> Analysis:
    """How the text is read in an index that holds these languages.

    A word has its stem in each of them that is written in its script, and in the usual one.
    """
    index_languages = frozenset(languages)
    words = [
        AnalyzedWord(token.start, token.end, token.text, *_read(token.text, index_languages))
        for token in tokens(text)
    ]
    return Analysis(tuple(words), read(text, index_languages).languages)


@lru_cache(maxsize=1 << 16)
def _read(word: str, languages: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    places = terms_of(word, stemming_languages(word, languages))
    stems = tuple(dict.fromkeys(stem for place in places for stem in place))
    return stems, is_function_word(word, languages)
