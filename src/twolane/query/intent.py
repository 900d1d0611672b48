"""What the shape of a query says about it, by rules; no model, no look at the index.

The base is the table of a search router that sent every query either to keywords alone or to
keywords and meaning (`Intent.keyword`); here an intent chooses how loud each lane speaks.
"""

from __future__ import annotations

import re
from enum import StrEnum

from twolane.text.languages import script_of
from twolane.text.tokens import tokens


class Intent(StrEnum):
    """The shape of a query."""

    EMPTY = "empty"
    QUOTED = "quoted"
    BOOLEAN = "boolean"
    DATE = "date"
    URL = "url"
    PATH = "path"
    SYMBOL = "symbol"
    SLUG = "slug"
    KEYWORDS = "keywords"
    QUESTION = "question"
    SENTENCE = "sentence"

    @property
    def keyword(self) -> bool:
        """Whether the shape speaks for exact words rather than for meaning."""
        return self not in (Intent.QUESTION, Intent.SENTENCE)


_QUOTES = {'"': '"', "'": "'", "«": "»", "“": "”", "„": "“"}
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)|\bNEAR\s*\(")
_DATE = re.compile(r"(?<!\d)\d{4}([-/])\d{2}\1\d{2}(?!\d)")
_URL = re.compile(r"https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?|www\.\S+", re.IGNORECASE)
_ENDING = r"\.(?:md|markdown|txt|py|js|ts|json|toml|yaml|sh)"
_FILE = re.compile(rf"{_ENDING}$")
_PATH = re.compile(rf"[^\s:]*/[^\s]*|[^\s/]+{_ENDING}")
_SLUG = re.compile(r"[^\W_A-Z]+(?:-[^\W_A-Z]+)+")
_SYMBOL = re.compile(
    r"\w*[a-zа-я][A-Z]\w*"  # camelCase
    r"|\w+_\w+(?:\(\))?"  # snake_case
    r"|\w+(?:\.\w+)+\(\)|\w+\(\)"  # calls
    r"|\w+::\w+(?:::\w+)*"  # scopes
    r"|--?[a-z][\w-]*"  # options
    r"|(?=[\w.-]*\d)(?=[\w.-]*[^\W\d_])[\w.-]+"  # BX-4410, v1.2
    r"|\d+(?:\.\d+)+"  # 3.14, 127.0.0.1
)
_FEW_WORDS = 2

# Where no spaces stand between words, about two signs are a word.
_UNBROKEN = ("han", "kana", "thai")
_FEW_SIGNS = 2 * _FEW_WORDS
_QUESTION_ENDS = ("?", "？")
_ASKING = re.compile(
    "什么|什麼|怎么|怎麼|怎样|怎樣|为什么|為什麼|为何|如何|哪|谁|誰|几|幾|多少|吗|嗎|呢$"
    "|なぜ|なに|何|どう|どこ|どの|どれ|いつ|だれ|いくら|か$|ですか|ますか"
    "|อะไร|ทำไม|อย่างไร|ที่ไหน|เมื่อไร|ใคร|ไหม|เท่าไร"
)

_QUESTION_WORDS = frozenset(
    """
    how what why when where which who whose whom can could should does do did is are will would
    как что почему зачем когда где куда откуда какой какая какое какие какую сколько кто чей чем
    чего кому можно нужно стоит
    """.split()
)


def classify(text: str) -> Intent:
    """The intent of a query; every text has one."""
    stripped = text.strip()
    if not stripped:
        return Intent.EMPTY
    if len(stripped) > 1 and _QUOTES.get(stripped[0]) == stripped[-1]:
        return Intent.QUOTED
    if _OPERATOR.search(stripped):
        return Intent.BOOLEAN
    if _DATE.search(stripped):
        return Intent.DATE
    if script_of(stripped) in _UNBROKEN:
        return _unbroken(stripped)
    if " " not in stripped:
        return _single(stripped)
    pieces = stripped.split()
    if len(pieces) <= _FEW_WORDS:
        symbols = all(_SYMBOL.fullmatch(piece) for piece in pieces)
        return Intent.SYMBOL if symbols else Intent.KEYWORDS
    return Intent.QUESTION if _asks(stripped) else Intent.SENTENCE


def _single(piece: str) -> Intent:
    if _URL.fullmatch(piece) and not _PATH.fullmatch(piece):
        return Intent.URL
    if piece.lower().startswith(("http://", "https://", "www.")):
        return Intent.URL
    if _PATH.fullmatch(piece):
        return Intent.URL if _URL.fullmatch(piece) and not _FILE.search(piece) else Intent.PATH
    if _SYMBOL.fullmatch(piece):
        return Intent.SYMBOL
    if _SLUG.fullmatch(piece):
        return Intent.SLUG
    return Intent.KEYWORDS


def _unbroken(text: str) -> Intent:
    """The intent of a text in a script that is written without spaces."""
    letters = sum(map(str.isalpha, text))
    if text.endswith(_QUESTION_ENDS) or (letters > _FEW_SIGNS and _ASKING.search(text)):
        return Intent.QUESTION
    # A name is a few signs long; with spaces it may be several names.
    longest = max(map(len, text.split()))
    return Intent.SENTENCE if longest > _FEW_SIGNS else Intent.KEYWORDS


def _asks(text: str) -> bool:
    if text.endswith(_QUESTION_ENDS):
        return True
    first = tokens(text)
    return bool(first) and first[0].text.lower().replace("ё", "е") in _QUESTION_WORDS
