"""Finding the query's words in a text, and cutting the piece that shows them."""

from __future__ import annotations

import html
import re
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twolane.model.scope import Word
from twolane.results.highlighting import (
    Mention,
    count_words,
    highlighted,
    mentions,
    one_line,
    snippet,
    sought,
)
from twolane.text.tokens import terms_of, tokens, words_of

HOSTILE = [
    "<script>alert('x')</script>",
    "<mark>",
    "</mark>",
    "&lt;mark&gt;",
    '"quoted"',
    "\x00",
    "\x1b[31m",
    "\u202eoverride\u202c",
    "\u2066isolated\u2069",
    "\ud800",
    "\ufdfa",
    "\n",
    "\u2028",
    "…",
]
WORDS = [
    "run",
    "Running",
    "race-day",
    "помидорами",
    "Ёлка",
    "naïve",
    "l'eau",
    "C++",
    "東京都庁",
    "iPhone手机",
    "ภาษาไทยคำ",
    "snake_case",
    "A sentence ends.",
]
QUERIES = ["run", "race day", "помидор ёлки", "naive eau", "C++ 東京", "手机 iphone ไทย", ""]

texts = st.lists(st.sampled_from(HOSTILE + WORDS) | st.text(max_size=12), max_size=60).map(" ".join)
queries = st.sampled_from(QUERIES) | st.text(max_size=12)


def marked(text: str, query: str, *, language: str | None = "en", held: str = "en") -> str:
    """The text with the words of the query marked."""
    words = sought(words_of(query, held.split()))
    return highlighted(text, mentions(text, words, [language]))


def cut(text: str, query: str, length: int) -> str:
    """The snippet of the text for the query."""
    words = sought(words_of(query, ["en", "ru"]))
    return snippet(text, mentions(text, words, ["en"]), length)


def visible(markup: str) -> str:
    """What a reader sees of the HTML."""
    return html.unescape(re.sub("</?mark>", "", markup))


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("run", "I was running late", "I was <mark>running</mark> late"),
        ("running", "Run, runs!", "<mark>Run</mark>, <mark>runs</mark>!"),
        ("помидор", "суп с помидорами", "суп с <mark>помидорами</mark>"),
        ("елка", "Ёлку привезли", "<mark>Ёлку</mark> привезли"),
        ("ёлка", "елки стоят", "<mark>елки</mark> стоят"),
        ("cafe", "the Café at noon", "the <mark>Café</mark> at noon"),
        ("naïve", "a naive plan", "a <mark>naive</mark> plan"),
        ("eau", "boire de l'eau", "boire de <mark>l&#x27;eau</mark>"),
        ("race day", "the race-day bag", "the <mark>race</mark>-<mark>day</mark> bag"),
        ("case", "a snake_case name", "a snake_<mark>case</mark> name"),
        ("C++", "C and C++ and C#", "C and <mark>C++</mark> and C#"),
        ("東京", "明日東京都へ", "明日<mark>東京</mark>都へ"),
        ("東京都", "明日東京都へ", "明日<mark>東京都</mark>へ"),
        ("iphone", "新しいiPhone手机だ", "新しい<mark>iPhone</mark>手机だ"),
        ("ไทย", "ภาษาไทย", "ภาษา<mark>ไทย</mark>"),
        ("ที่นี่", "คนที่นี่ดี", "คน<mark>ที่นี่</mark>ดี"),
        ("embeddings", "это embedding текста", "это <mark>embedding</mark> текста"),
    ],
)
def test_marks_the_words_own_forms(query: str, text: str, expected: str) -> None:
    """A word is marked in the form that the text has, whole and as it is written."""
    assert marked(text, query, held="en ru") == expected


@pytest.mark.parametrize("text", ["to prune a tree", "runes", "overrun", "", "東"])
def test_leaves_other_words_alone(text: str) -> None:
    """A word that only contains a sought one is not marked."""
    assert marked(text, "run 東京") == text


def test_stems_in_the_language_of_the_text() -> None:
    """A German text is read as German, so that its plurals are found."""
    assert marked("alte Häusern", "Haus", language="de", held="de") == "alte <mark>Häusern</mark>"
    assert marked("alte Häusern", "Haus", language=None, held="de") == "alte Häusern"


def test_stems_in_the_usual_language_too() -> None:
    """A foreign word in a German text is found as the usual language of its script stems it."""
    words = sought([Word("happiness", ("happi",))])
    assert mentions("über happiness", words, ["de"])


def test_prefix_word_marks_whatever_begins_with_it() -> None:
    """A prefix word marks every word whose stem begins with it, and no other."""
    words = sought([Word("emb", ("emb",), prefix=True)])
    text = "Embedding, embers, member"
    found = mentions(text, words, ["en"])
    assert [text[one.start : one.end] for one in found] == ["Embedding", "embers"]


def test_single_character_is_marked_alone() -> None:
    """Scripts without spaces are stored in pairs, but only what is sought is marked."""
    words = sought([Word("猫", ("猫",), prefix=True)])
    assert highlighted("黒い猫が好き", mentions("黒い猫が好き", words, ["ja"])) == (
        "黒い<mark>猫</mark>が好き"
    )
    words = sought([Word("i", ("i",), prefix=True)])
    assert highlighted("iPhone手机", mentions("iPhone手机", words, ["zh"])) == (
        "<mark>iPhone</mark>手机"
    )


def test_a_repeated_word_is_one_word() -> None:
    """A word that the query says twice counts once."""
    words = sought(words_of("run runs", ["en"]))
    assert len(words.needles) == 1


def test_short_text_is_shown_whole() -> None:
    """A text that fits is not cut."""
    assert cut("A run in the rain.", "run", 18) == "A <mark>run</mark> in the rain."


def test_without_mentions_shows_the_beginning() -> None:
    """Without a sought word the text begins at its beginning and ends between words."""
    assert cut("one two three four", "run", 10) == "one two…"
    assert cut("one two three four", "run", 7) == "one two…"


def test_shows_the_cluster_with_most_distinct_words() -> None:
    """Three different words together beat many occurrences of one."""
    text = "run run run run. " + "filler " * 60 + "a run and a race day here. " + "filler " * 60
    shown = cut(text, "run race day", 80)
    assert "<mark>run</mark> and a <mark>race</mark> <mark>day</mark>" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_words_side_by_side_are_preferred() -> None:
    """Among clusters with the same words the phrase is shown."""
    text = "day by day the race. " + "filler " * 60 + "on race day we rest. " + "filler " * 60
    assert "<mark>race</mark> <mark>day</mark> we rest" in cut(text, "race day", 60)


def test_first_of_equal_clusters_is_shown() -> None:
    """Among clusters that show as much the first is taken."""
    text = "filler " * 40 + "run first. " + "filler " * 40 + "run last. " + "filler " * 40
    assert "<mark>run</mark> first" in cut(text, "run", 60)


def test_words_that_do_not_fit_together_do_not_count_together() -> None:
    """Only what fits into one snippet makes a cluster."""
    gap = "filler " * 40
    text = f"the race {gap} one day by day {gap} a race of the day {gap}"
    assert "<mark>race</mark> of the <mark>day</mark>" in cut(text, "race day", 60)
    text = f"on race day {gap} race, so day, or day {gap}"
    assert cut(text, "race day", 60).startswith("on <mark>race</mark> <mark>day</mark>")


def test_begins_with_the_text_if_the_words_are_near() -> None:
    """Words near the beginning are shown with the beginning, even if a sentence ends between."""
    assert cut("It rains. We run. " + "filler " * 40, "run", 60).startswith("It rains. We ")


def test_a_word_across_the_cut_is_marked_as_far_as_it_is_shown() -> None:
    """A mark begins and ends inside the piece that is shown."""
    found = [Mention(0, 5, 1), Mention(6, 11, 1)]
    assert highlighted("abcde fghij", found, 3, 8) == "<mark>de</mark> <mark>fg</mark>"


def test_begins_with_the_sentence() -> None:
    """A snippet starts where the sentence of its words starts, if that is near."""
    text = "filler " * 40 + "It ends. Then we run home. " + "filler " * 40
    assert cut(text, "run", 60).startswith("…Then we <mark>run</mark> home. filler")


def test_uses_its_length_at_the_end_of_the_text() -> None:
    """Words at the very end are shown with what stands before them, from a word boundary."""
    shown = visible(cut("filler " * 40 + "we run", "run", 60))
    assert shown.endswith("filler we run")
    assert shown.startswith("…filler")
    assert len(shown) > 50


def test_cuts_where_there_is_no_boundary() -> None:
    """A text without spaces is cut all the same."""
    shown = cut("東京" + "字" * 500, "東京", 30)
    assert visible(shown) == "東京" + "字" * 28 + "…"


def test_endless_word_is_cut_inside_its_mark() -> None:
    """A marked word that is longer than the snippet does not make the snippet longer."""
    endless = "x" * 5_000
    assert len(visible(cut(f"see {endless} there", endless, 40))) <= 42


@given(texts, queries, st.integers(1, 120))
def test_snippet_is_safe_and_true(text: str, query: str, length: int) -> None:
    """Any snippet is escaped, its marks are balanced, and it is a bounded part of the text."""
    line = one_line(text)
    shown = cut(line, query, length)
    assert not set(re.sub("</?mark>", "", shown)) & set("<>\"'")
    assert re.fullmatch("([^<]*<mark>[^<]+</mark>)*[^<]*", shown)
    seen = visible(shown)
    assert any(part in line for part in (seen, seen[1:], seen[:-1], seen[1:-1]))
    assert len(seen) <= length + 2
    assert cut(line, query, length) == shown


@given(texts, queries)
def test_mentions_are_apart_and_in_order(text: str, query: str) -> None:
    """Mentions never overlap, so marks can never be nested, and each names a sought word."""
    words = sought(words_of(query, ["en", "ru"]))
    found = mentions(text, words, ["en", "de", None])
    ends = [0] + [one.end for one in found]
    assert all(one.start >= end for one, end in zip(found, ends, strict=False))
    assert all(one.start < one.end <= len(text) for one in found)
    assert all(0 < one.words < 1 << len(words.needles) for one in found)


@given(texts)
def test_one_line_shows_the_text_and_nothing_else(text: str) -> None:
    """Nothing that steers a display gets through, and no word of the text is lost."""
    line = one_line(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in line)
    assert not set(line) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert "  " not in line
    assert line == line.strip()
    assert re.findall(r"[^\W_]+", line) == re.findall(r"[^\W_]+", text)


def test_a_long_text_takes_linear_time() -> None:
    """A text that is nothing but sought words is cut in time that grows with its length only."""
    began = time.process_time()
    cut("run " * 50_000, "run race day", 240)
    assert time.process_time() - began < 5


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
# Signs that fold in every other way, that join any_words or part them, and that no stem holds.
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
ODD_WORDS = [*IRREGULAR.split(), "useAuth", "HTTPServer2beta", "o'clock", "l'eau", "dog's", "Wi-Fi"]
RUSSIAN = ["ёлка", "Елками", "за́мок", "дневник", "ДНЕВНИКОМ", "наилучший", "поёт", "github'ом"]

parts = st.sampled_from(SUFFIXES + ENDINGS + SIGNS + ODD_WORDS + RUSSIAN) | st.text(
    "abelyiко", max_size=4
)
any_words = st.lists(parts, min_size=1, max_size=3).map("".join)
word_texts = st.lists(any_words, max_size=25).map(" ".join)


@given(word_texts, st.lists(any_words, min_size=1, max_size=3), st.booleans())
@example("the skies of the possibilities", ["sky", "possible"], False)
@example("dying o'clock", ["die", "oclock"], False)
@example("he aяhoping", ["aяhope"], True)
@example("5 µm", ["μm"], False)
@example("useAuth2beta", ["beta"], False)
@example("PDFный github'ий", ["PDFный", "githubий"], False)
def test_every_word_with_a_sought_stem_is_found(text: str, query: list[str], prefix: bool) -> None:
    """The mentions of a text are its tokens with a stem that was sought, each of them."""
    asked = [one for each in query for one in words_of(each, ["en", "ru"])]
    wanted = sought([Word(one.text, one.terms, prefix) for one in asked])
    expected = {
        (token.start, token.end)
        for token in tokens(text)
        if any(wanted.answered_by(stem) for (stem,) in terms_of(token.text, [None]))
    }
    found = mentions(text, wanted, [None])
    covered = {(one.start, one.end) for one in found}
    # In scripts without spaces a mention is a part of a token.
    assert {span for span in expected if not _overlaps(span, covered)} == set()
    assert {span for span in covered if not _overlaps(span, expected)} == set()


def _overlaps(span: tuple[int, int], spans: set[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)


@given(texts, queries, st.sampled_from([None, "en", "ru", "ja"]))
def test_words_are_counted_as_they_are_marked(text: str, query: str, language: str | None) -> None:
    """A text holds as many of the words as its mentions show."""
    words = sought(words_of(query, ["en", "ru"]))
    bits = 0
    for mention in mentions(text, words, [language]):
        bits |= mention.words
    assert count_words(text, words, [language]) == bits.bit_count()


@given(texts)
def test_a_line_is_what_its_signs_leave(text: str) -> None:
    """Nothing that steers a display is left, and every other sign but blanks is."""
    shown = re.sub(
        "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+", " ", text
    )
    assert one_line(text) == " ".join(shown.split())
