"""Where words stand in a text: looking at few of its words finds what looking at all would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twolane.language import terms_of, words_of
from twolane.language.roots import root_of, root_of_beginning, small_letters
from twolane.mentions import mentions, sought
from twolane.scopes import Word

VAULTS = Path(__file__).parents[2] / "benchmarks" / "vaults"

# Words whose English stems are exceptions, or end in other letters than they do.
IRREGULAR = (
    "skis skies sky dying lying tying vying idly gently ugly early only singly news atlas bias"
    " cry cries cried tie ties tied hoping hopping hope ability possibility possible possibly"
    " relational conditional valency hesitancy organization operator feudalism decisiveness"
    " hopefulness formality sensitivity geology geologist agreed agreeing succeed proceed evening"
)
SUFFIXES = (
    "s es ies ied ed eed edly ing ingly ying y ly tional ency ancy ably ently izer ization ational"
    " ation ator alism ality ally fulness ously iveness ivity bility bly ogy ogist fully lessly"
    " icate ative alize icity ical ness ance able ible ement ment ism ate ous ive ize ion e l ble"
).split()
ENDINGS = "ами ого ему ующий ейше ость ованный нн ешь ть вшись и ь ю ями ях её".split()
# Signs that fold in every other way, that join words or part them, and that no stem holds.
SIGNS = [
    *"'’ʼ_-.,#+…№µЁёй́½ﬁé中あ",
    "\u0301",
    "\u3099",
    "Ｆ",
    "C++",
    "c#",
    "\xa0",
    "\xad",
    "Ґґ",
    "7",
]
WORDS = [*IRREGULAR.split(), "useAuth", "HTTPServer2beta", "o'clock", "l'eau", "dog's", "Wi-Fi"]
RUSSIAN = ["ёлка", "Елками", "за́мок", "дневник", "ДНЕВНИКОМ", "наилучший", "поёт", "github'ом"]

parts = st.sampled_from(SUFFIXES + ENDINGS + SIGNS + WORDS + RUSSIAN) | st.text(
    "abelyiко", max_size=4
)
words = st.lists(parts, min_size=1, max_size=3).map("".join)
texts = st.lists(words, max_size=25).map(" ".join)


@given(texts, st.lists(words, min_size=1, max_size=3), st.booleans())
@example("the skies of the possibilities", ["sky", "possible"], False)
@example("dying o'clock", ["die", "oclock"], False)
@example("he aяhoping", ["aяhope"], True)
@example("5 µm", ["μm"], False)
@example("useAuth2beta", ["beta"], False)
@example("PDFный github'ий", ["PDFный", "githubий"], False)
def test_passing_over_words_loses_no_mention(text: str, query: list[str], prefix: bool) -> None:
    """A text has the same mentions as where a foreign sign makes all of its words be looked at."""
    asked = [one for each in query for one in words_of(each, ["en", "ru"])]
    marks = [Word(one.text, one.terms, prefix) for one in asked]
    found = mentions(text, sought(marks), [None])
    everywhere = mentions(f"{text} ☃", sought(marks), [None])
    assert small_letters(f"{text} ☃") is None
    assert found == everywhere


@given(st.text("abcdeilnorstuyz", max_size=7), st.lists(st.sampled_from(SUFFIXES), max_size=2))
def test_an_english_word_begins_with_the_root_of_its_stem(base: str, ends: list[str]) -> None:
    """No rule of the English stemmer changes a letter of the root."""
    word = base + "".join(ends)
    for (stem,) in terms_of(word, ["en"]) if word else ():
        assert word.startswith(root_of(stem))
        for end in range(1, len(stem) + 1):
            assert word.startswith(root_of_beginning(stem[:end]))


@given(st.text("абвгдезийклнорстьюя", max_size=7), st.lists(st.sampled_from(ENDINGS), max_size=2))
def test_a_russian_word_begins_with_its_stem(base: str, ends: list[str]) -> None:
    """Russian stems are beginnings of words, so nothing has to be left off them."""
    word = (base + "".join(ends)).replace("ё", "е")
    for (stem,) in terms_of(word, ["ru"]) if word else ():
        assert word.startswith(stem)
        assert root_of(stem) == stem


@pytest.mark.parametrize("vault", sorted(path.name for path in VAULTS.iterdir()))
def test_every_word_of_the_sample_vaults_has_its_root(vault: str) -> None:
    """Each word of a real text begins with the root of its stem, irregular ones too."""
    texts = [path.read_text("utf-8") for path in (VAULTS / vault).rglob("*.md")]
    written = set(re.findall(r"[a-z]{2,}|[а-я]{2,}", " ".join([IRREGULAR, *texts]).lower()))
    assert len(written) > 1000
    for word in written:
        assert all(word.startswith(root_of(stem)) for (stem,) in terms_of(word, [None]))
