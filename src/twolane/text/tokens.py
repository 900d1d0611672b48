"""Words of any language: how text becomes tokens, stems and a language.

Index and query go through the same code, so that they can only agree.
A token is stemmed by its own script first and by the language of its text second,
so `embeddings` is stemmed as English inside a Russian note.
Stemming is Snowball's (PyStemmer); scripts without word breaks are cut into pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer

from twolane.model.scope import Word
from twolane.model.values import dataclass
from twolane.text.languages import FUNCTION_WORDS, USUAL, script_for, script_of

# Snowball's name for each language that we stem.
SNOWBALL: dict[str, str] = dict(
    pair.split("=")
    for pair in """
        ar=arabic ca=catalan da=danish de=german el=greek en=english es=spanish et=estonian
        eu=basque fi=finnish fr=french ga=irish hi=hindi hu=hungarian hy=armenian
        id=indonesian it=italian lt=lithuanian ne=nepali nl=dutch no=norwegian pt=portuguese
        ro=romanian ru=russian sr=serbian sv=swedish ta=tamil tr=turkish yi=yiddish
    """.split()
)

# Combining signs belong to their letter; Python's \w leaves them out.
_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0b82\u0bbe-\u0bcd\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_TOKEN = re.compile(rf"[A-Za-z](?:\+\+|\#)(?!\w)|[^\W_]+(?:[{_SIGNS}'’ʼ]+[^\W_]+)*[{_SIGNS}]*")
_UNBROKEN = re.compile(
    "[\u0e00-\u0e7f\u2e80-\u30ff\u3190-\u9fff\uf900-\ufaff\U00020000-\U00032000]+"
)
_ELIDED = frozenset(("l", "d", "j", "m", "t", "s", "c", "n", "qu", "un", "dell", "nell", "all"))
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})

# Letters that keyboards of other languages lack, and that Unicode does not take apart.
PLAIN_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae"}
_PLAIN = str.maketrans(PLAIN_LETTERS)

# Punctuation around a word; what stands inside one makes it a code.
_EDGES = re.compile(r"^[^\w]+|[^\w]+$")

# Where a small letter meets a capital inside a word: `useAuth`, `GitHub`.
_HUMP = re.compile(r"[a-z][A-Z]")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# A word longer than this is data, not language; it is cut so that it cannot bloat the index.
_LONGEST = 64


class Token(NamedTuple):
    """One word of a text: where it stands and how it is written there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a query say about its language.

    `languages` are plausible ones; `spoken` is False for names, codes and numbers,
    which belong to no language and to all.
    """

    languages: frozenset[str]
    spoken: bool


def fold(text: str) -> str:
    """The spelling under which two texts count as equal: compatibility forms, case and `ё`."""
    if text.isascii():
        # ASCII has no other forms, and no letters but these have a case.
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    # What is left of U+0301 after composition is a stress mark, as in `за́мок`.
    if "\u0301" in folded:
        folded = unicodedata.normalize("NFC", folded.replace("\u0301", ""))
    return folded.replace("’", "'").replace("ʼ", "'")


def is_edge(text: str, at: int) -> bool:
    """Whether no word goes on across this place in the text."""
    return not _joined(text[max(0, at - 1) : at], text[at : at + 1])


def tokens(text: str) -> list[Token]:
    """The words of a text in order, with their offsets."""
    return [Token(word.start(), word.end(), word.group()) for word in _TOKEN.finditer(text)]


def token_texts(text: str) -> list[str]:
    """The words of a text in order, without their places."""
    return _TOKEN.findall(text)


def stream(text: str, language: str | None = None) -> str:
    """The text's words as a stream of stems, each between two spaces."""
    words = _TOKEN.findall(text)
    if not words:
        return ""
    stems = _stems(language)
    return " " + "  ".join([stems[word] for word in words]) + " "


def streams(written: Sequence[str], language: str | None = None) -> list[str]:
    """The stream of each piece of a text that was cut at its blanks; joined, that of the text."""
    return list(map(_streams(language).__getitem__, written))


def terms_of(token: str, languages: Iterable[str | None]) -> tuple[tuple[str, ...], ...]:
    """The terms that a query token stands for, position by position.

    Each position holds the token's stem in every given language;
    a run of unbroken script gives several positions.
    """
    spellings = [_stems(language)[token].split() for language in languages]
    if not spellings:
        spellings = [_stems(None)[token].split()]
    width = max(map(len, spellings))
    rows = [row for row in spellings if len(row) == width]
    return tuple(tuple(sorted({row[place] for row in rows})) for place in range(width))


def words_of(text: str, index_languages: Collection[str]) -> tuple[Word, ...]:
    """The text's words as query words, stemmed in every held language of their script."""
    return tuple(
        Word(token.text, terms)
        for token in tokens(text)
        for terms in terms_of(token.text, stemming_languages(token.text, index_languages))
    )


# Before a language's code: every word is stemmed by that language, whatever its script.
_ONLY = "="


def only_stemmed_as(stemming: str) -> str | None:
    """The pseudo-language that a setting of one language for all words means, else None."""
    return None if stemming == "per-language" else _ONLY + stemming


def stemming_languages(token: str, index_languages: Collection[str]) -> list[str]:
    """The languages in whose stems the index may hold a token.

    Besides the held languages of its script that is the script's usual one,
    in which words of a foreign script are stemmed.
    """
    only = [language for language in index_languages if language.startswith(_ONLY)]
    if only:
        return only
    usual = USUAL.get(script_of(token))
    return sorted({*_of_script(token, index_languages), *([usual] if usual else [])})


def is_function_word(token: str, languages: Collection[str]) -> bool:
    """Whether the token only holds sentences together in one of the languages."""
    spelling = plain_form(token)
    return any(spelling in FUNCTION_WORDS.get(language, ()) for language in languages)


@lru_cache(maxsize=1 << 13)
def plain_form(token: str) -> str:
    """The folded token without accents and apostrophes, unstemmed."""
    return _without_accents(fold(token)).replace("'", "")


def read(text: str, index_languages: Collection[str]) -> Reading:
    """The languages that a query may be in, among those that the index holds.

    Short queries are easily mistaken, so this gives a set:
    all held languages of the query's scripts, narrowed only by function words.
    A name in another script makes no sentence one of another language, and numbers have none.
    """
    plausible: set[str] = set()
    votes: dict[str, int] = {}
    scripts = set()
    found = tokens(text)
    words = [token for token in found if any(map(str.isalpha, token.text))]
    for token in words or found:
        scripts.add(script_of(token.text))
        fitting = _of_script(token.text, index_languages) or stemming_languages(token.text, ())
        plausible.update(fitting)
        for language in fitting:
            if is_function_word(token.text, (language,)):
                votes[language] = votes.get(language, 0) + 1
    if votes:
        most = max(votes.values())
        plausible = {language for language in plausible if votes.get(language) == most}
    if "kana" in scripts and "ja" in plausible:
        # Japanese is written with Chinese characters, too, but Chinese never with kana.
        plausible.discard("zh")
    return Reading(frozenset(plausible), bool(plausible) and any(map(_is_prose, text.split())))


# ------------------------------------------------------------------------------------ stemming


# The words of a library never end, but few of them make most of every text.
_REMEMBERED = 1 << 14

# Words with the signs that cling to them are more (some 10 MB at most).
_PIECES_REMEMBERED = 1 << 16


class _Memory(dict[str, str]):
    """Text → the stems that are made of it; fills itself, and forgets all when too large."""

    __slots__ = ("_make", "_most")

    def __init__(self, make: Callable[[str], str], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, text: str) -> str:
        made = self._make(text)
        # What is longer is no word, or of a script without blanks, and will not come again.
        if len(text) <= _LONGEST:
            if len(self) > self._most:
                self.clear()
            self[text] = made
        return made


@cache
def _stems(language: str | None) -> _Memory:
    """Token → its stems as they stand in a stream."""
    return _Memory(lambda token: "  ".join(_spell(token, language)) or "·", _REMEMBERED)


@cache
def _streams(language: str | None) -> _Memory:
    """A word with the signs that cling to it → its stream."""
    return _Memory(lambda piece: stream(piece, language), _PIECES_REMEMBERED)


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    # Our own memory is larger and keyed by the token as written.
    return Stemmer.Stemmer(name, 0)


def _spell(token: str, language: str | None) -> list[str]:
    # A few signs fold into several words; a stem holds no space.
    folded = fold(token).replace(" ", "")
    if _UNBROKEN.search(folded):
        return _pairs(folded, language)
    head, _, tail = folded.partition("'")
    if tail and head in _ELIDED:
        folded = tail
    folded = folded.removesuffix("'s")
    folded = folded.replace("'", "")[:_LONGEST]
    whole = _without_accents(_stem(folded, language)) or folded
    # A symbol of a program is found whole, in any case, and by its parts.
    return [whole, *(one for part in symbol_parts(token) for one in _spell(part, language))]


def symbol_parts(token: str) -> list[str]:
    """The parts of `camelCase`, or none if the token is an ordinary word."""
    if len(token) > _LONGEST or not _HUMP.search(token):
        return []
    return _HUMPS.findall(token)


def _pairs(folded: str, language: str | None) -> list[str]:
    spelled: list[str] = []
    end = 0
    for run in _UNBROKEN.finditer(folded):
        if run.start() > end:
            spelled += _spell(folded[end : run.start()], language)
        chars = run.group()
        spelled += [chars[at : at + 2] for at in range(max(1, len(chars) - 1))]
        end = run.end()
    if end < len(folded):
        spelled += _spell(folded[end:], language)
    return spelled


def _stem(folded: str, language: str | None) -> str:
    script = script_of(folded)
    if language is not None and language.startswith(_ONLY):
        language = language.removeprefix(_ONLY)
    elif language is None or script_for(language) != script:
        language = USUAL.get(script)
    name = SNOWBALL.get(language) if language else None
    if name is None or any(char.isdigit() for char in folded):
        return folded
    return str(_stemmer(name).stemWord(folded))


def _without_accents(word: str) -> str:
    if word.isascii() or script_of(word) not in ("latin", "greek"):
        return word
    decomposed = unicodedata.normalize("NFD", word)
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare).translate(_PLAIN)


def _joined(one: str, other: str) -> bool:
    """Whether two neighbouring signs belong to one word."""
    if _UNBROKEN.match(one) or _UNBROKEN.match(other):
        return False
    return one.isalnum() and other.isalnum()


def _of_script(token: str, index_languages: Collection[str]) -> list[str]:
    script = script_of(token)
    return sorted(language for language in index_languages if script_for(language) == script)


def _is_prose(piece: str) -> bool:
    """Whether a piece of a query reads like a word of running text, not a name, code or number."""
    if _UNBROKEN.search(piece):
        return True
    letters = _EDGES.sub("", piece).translate(_APOSTROPHES).replace("'", "").replace("-", "")
    return len(letters) > 1 and letters.isalpha() and letters == letters.lower()


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
        AnalyzedWord(
            token.start, token.end, token.text, *_analyzed_word(token.text, index_languages)
        )
        for token in tokens(text)
    ]
    return Analysis(tuple(words), read(text, index_languages).languages)


@lru_cache(maxsize=1 << 16)
def _analyzed_word(word: str, languages: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    places = terms_of(word, stemming_languages(word, languages))
    stems = tuple(dict.fromkeys(stem for place in places for stem in place))
    return stems, is_function_word(word, languages)
