"""Words of any language: tokens, stems, languages."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twolane.text import detection
from twolane.text.detection import language_of
from twolane.text.substrings import holds_literally, line, stands_as_written, stands_in
from twolane.text.tokens import (
    fold,
    is_function_word,
    read,
    stream,
    streams,
    terms_of,
    tokens,
    words_of,
)

LANGUAGES = ("en", "ru", "de", "fr", "es", "it", "pt", "nl", "sv", "uk", "zh", "ja", "ko")


def stems(text: str, language: str | None = None) -> list[str]:
    return stream(text, language).split()


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("run race", "running races", "en"),
        ("embedding", "Заметка про embeddings и поиск", "ru"),
        ("ёлка", "Елками украшали дом", "ru"),
        ("елка", "ёлки", "ru"),
        ("звезды", "Звёзд на небе", "ru"),
        ("cafe", "Café", "en"),
        ("age", "{{age:34}}", "en"),
        ("34", "{{age:34}}", "en"),
        ("Häuser", "Das Haus", "de"),
        ("don’t", "don't", "en"),
        ("dog", "the dog's bone", "en"),
        ("amour", "l'amour", "fr"),
        ("C++", "a book on c++", "en"),
        ("iphone", "my iPhone", "en"),
        ("useAuth", "call useAuth()", "en"),
        ("auth", "call useAuth()", "en"),
        ("замок", "за́мок", "ru"),
        ("ｆｕｌｌ", "full width", "en"),
        ("東京", "東京タワーに行く", "ja"),
    ],
)
def test_a_query_finds_other_forms(query: str, text: str, language: str) -> None:
    """A query's word and the text's other form of it meet in one stem."""
    held = set(stems(text, language))
    for word in words_of(query, {language}):
        assert held & set(word.terms), (word, held)


def test_scripts_decide_before_languages() -> None:
    """In one text each word is stemmed by its own script, then by the text's language."""
    assert stems("Эмбеддингами и embeddings", "ru") == ["эмбеддинг", "и", "embed"]
    assert stems("Häuser und Гнёзда", "de") == ["haus", "und", "гнезд"]


def test_unbroken_scripts_become_pairs() -> None:
    """Text without word breaks is cut into overlapping pairs, a single sign stays alone."""
    assert stems("東京都", "zh") == ["東京", "京都"]
    assert stems("茶", "zh") == ["茶"]


def test_a_query_word_is_stemmed_in_every_held_language() -> None:
    """A token's terms hold its stem in each language: the text's need not be known."""
    (terms,) = terms_of("organisation", ("de", "en"))
    assert set(terms) == set(stems("organisation", "de") + stems("organisation", "en"))


def test_long_words_are_cut() -> None:
    """A blob of letters cannot bloat the index."""
    assert max(map(len, stems("x" * 10_000))) <= 64


def test_tokens_know_their_place() -> None:
    """Offsets point at the token as written."""
    text = "Don't stop, ёжик_2!"
    assert [text[token.start : token.end] for token in tokens(text)] == [
        "Don't",
        "stop",
        "ёжик",
        "2",
    ]


@given(st.text())
def test_any_text_becomes_a_clean_stream(text: str) -> None:
    """Every stem stands between two spaces and holds none, whatever the text."""
    made = stream(text)
    assert made == "".join(f" {stem} " for stem in made.split())


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    """Folded text is its own folded form."""
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("written", "typed", "language"),
    [
        ("Œuvres", "oeuvre", "fr"),
        ("cœur", "coeurs", "fr"),
        ("Cæsar", "caesar", None),
        ("Łódź", "lodz", "pl"),
        ("Đà", "da", None),
        ("ılık", "ilik", "tr"),
        ("København", "kobenhavn", "da"),
    ],
)
def test_letters_that_other_keyboards_lack(written: str, typed: str, language: str | None) -> None:
    """A word is found as it can be typed: without accents and strokes, and with two for one."""
    assert stream(written, language) == stream(typed, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The train leaves at nine and we should be there before it is too late.", "en"),
        ("Поезд уходит в девять, и нам надо быть там раньше.", "ru"),
        ("Der Zug fährt um neun und wir müssen vorher da sein.", "de"),
        ("Le train part à neuf heures et nous devons être là avant.", "fr"),
        ("El tren sale a las nueve y tenemos que estar antes.", "es"),
        ("Потяг їде о дев'ятій, і нам треба бути там раніше.", "uk"),
        ("列车九点出发，我们得提前到。", "zh"),
        ("列車は九時に出るので、先に着かなければ。", "ja"),
        ("열차는 아홉 시에 떠난다.", "ko"),
        ("green tea", "en"),
        ("42 — 17", None),
        ("", None),
    ],
)
def test_language_of_a_passage(text: str, language: str | None) -> None:
    """Script, function words and a restricted detector name the language."""
    assert language_of(text, LANGUAGES) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Half marathon training, title: Half marathon in twelve weeks", "en"),
        ("Genres: comedy, drama Tags: adolescence, indie, quirky", "en"),
        ("John DiMaggio, John Kassir, Dee Bradley Baker", "en"),
        ("Tags: musical, vampires, vampire, fantasy, tom", "en"),
        ("sudo apt install ./tussock_4.2_amd64.deb", "en"),
        ("Rechnung Heizung Wartung bezahlt Freitag Termin Handwerker", "de"),
        ("Liste courses fromage pommes beurre lessive boulangerie", "fr"),
    ],
)
def test_a_short_text_is_foreign_only_where_that_is_sure(text: str, language: str) -> None:
    """Names, tags and commands are in the usual language; words that only one has decide."""
    assert language_of(text, LANGUAGES) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Einkaufsliste für Samstag", "de"),
        ("Notizen zur Besprechung am Montag", "de"),
        ("Randonnée dans les Alpes", "fr"),
        ("Cómo regar los tomates", "es"),
        ("Recept på äppelpaj med vaniljsås", "sv"),
        ("Boodschappenlijst voor zaterdag", "nl"),
        ("Индексы PostgreSQL", "ru"),
        ("Python asyncio заметки", "ru"),
        ("Borscht (борщ) recipe", "en"),
        ("Café notes", "en"),
        ("Zettelkasten method", "en"),
        ("Hotel in Porto", "en"),
        ("Crème brûlée recipe", "en"),
        ("Rio de Janeiro", "en"),
        ("Car insurance", "en"),
        ("TODO", "en"),
    ],
)
def test_a_few_words_tell_their_language(text: str, language: str) -> None:
    """A title in another language is told by its function words; names tell nothing."""
    assert language_of(text, LANGUAGES) == language


def test_plain_titles_need_no_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The detector's model, which is slow to load, is left alone by short texts without a sign."""
    monkeypatch.setattr(detection, "_detector", None)
    assert language_of("Car insurance in spring", LANGUAGES) == "en"


def test_a_short_passage_follows_its_surroundings() -> None:
    """Where a passage says little, the document's language is believed; a clear one is not bent."""
    assert language_of("Pasta al forno", LANGUAGES, usual="en") == "en"
    assert language_of("Das ist nicht der Hund und die Katze", LANGUAGES, usual="en") == "de"
    assert language_of("Привет", LANGUAGES, usual="en") == "ru"


@pytest.mark.parametrize(
    ("query", "languages", "spoken"),
    [
        ("как учёные ищут планеты", {"ru"}, True),
        ("green tea", {"en", "nl"}, True),
        ("the green tea", {"en"}, True),
        ("BX-4410", {"en", "nl"}, False),
        ("Einstein", {"en", "nl"}, False),
        ("ts_rank", {"en", "nl"}, False),
        ("useAuth", {"en", "nl"}, False),
        ("127.0.0.1", {"en", "nl"}, False),
        ("Postgres индекс", {"en", "nl", "ru"}, True),
    ],
)
def test_a_query_has_a_set_of_languages(query: str, languages: set[str], spoken: bool) -> None:
    """A query is given every plausible language that the index holds; codes and names have none."""
    reading = read(query, {"en", "nl", "ru"})
    assert (set(reading.languages), reading.spoken) == (languages, spoken)


def test_function_words() -> None:
    """Words that hold a sentence together are known in each language, however they are cased."""
    assert is_function_word("The", {"en"})
    assert is_function_word("Её", {"ru"})
    assert not is_function_word("planet", {"en", "ru"})
    assert not is_function_word("the", {"ru"})


@pytest.mark.parametrize(
    ("text", "literal", "held"),
    [
        ("Start  SLOWER\nthan", "start slower than", True),
        ("restart slower", "start slower", False),
        ("start slowers", "start slower", False),
        ("a (start) b", "(start)", True),
        ("art, start, art", "art", True),
        ("東京タワー", "京タ", True),
        ("anything", "", False),
    ],
)
def test_literal_phrases(text: str, literal: str, held: bool) -> None:
    """A literal counts letter by letter, between word boundaries where there are words."""
    assert holds_literally(text, literal) is held


_LETTERS = st.text(st.sampled_from("aAбБёеß́̈äﬁ'’ \n\u00a0.-日본ᄒ\u0345İς"), max_size=12)


@given(_LETTERS, _LETTERS)
@example("a\u0308 b", "a")
@example("x fi", "fi")
def test_a_quick_look_never_says_too_much(text: str, typed: str) -> None:
    """What stands in a text as it is written also stands in the folded text."""
    literal = line(typed)
    folded = " ".join(fold(text).split())
    if stands_as_written(text, literal):
        assert stands_in(folded, literal)
    assert holds_literally(text, literal) == stands_in(folded, literal)


@given(st.text(max_size=80), st.sampled_from([None, "de", "en", "ru"]))
def test_streams_of_pieces_join_to_the_stream(text: str, language: str | None) -> None:
    """Cut at its blanks, a text has the stems that it has whole, in the same order."""
    pieces = streams(text.split(" "), language)
    assert "".join(pieces).split() == stream(text, language).split()
    assert streams(text.split(" "), language) == pieces
