"""Slips: what was typed, what was meant, and when to leave a word alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COLLECTION, open_library, prepared, put
from twolane import Answer, Library, Settings
from twolane.model.document import Collection, Stems
from twolane.model.scope import Scope, Word
from twolane.ports.documents import PutCollection
from twolane.query import parse
from twolane.query.repair import TRUST, Vocabulary, repaired
from twolane.stores.memory import memory_stores
from twolane.text.spelling import in_cyrillic, is_usual, other_layout, rough
from twolane.text.tokens import stream

TEXT = """
    Привет, как растут помидоры в теплице? The greenhouse needs authentication tokens and
    Postgres backups. Velociraptor. Рассада чеснока. Part BX 4401. Food processor, bookmark.
    Мы любим путешествия. The renameByMoment helper.
"""
HELD = {"en", "ru"}


def vocabulary_of(terms: Iterable[str]) -> Vocabulary:
    """The vocabulary of a library that holds these terms."""
    stores = memory_stores()
    stores.documents.apply(PutCollection(Collection(COLLECTION)))
    body = "".join(f" {term} " for term in terms)
    put(stores, replace(prepared("a", title=""), stems=Stems(body=body)))
    return Vocabulary(stores.lexical, Scope())


VOCABULARY = vocabulary_of(sorted({*stream(TEXT, "en").split(), *stream(TEXT, "ru").split()}))


def known(word: Word) -> bool:
    return bool(VOCABULARY.known(word.terms))


@pytest.mark.parametrize(
    ("typed", "meant", "kind"),
    [
        ("ghbdtn", "привет", "layout"),
        ("gjvbljhs", "помидоры", "layout"),
        ("k.,bv", "любим", "layout"),
        ("зщыепкуы", "postgres", "layout"),
        ("pomidory", "помидоры", "transliteration"),
        ("chesnok", "чеснока", "transliteration"),
        ("puteshestviya", "путешествия", "transliteration"),
        ("постгрес", "postgres", "transliteration"),
        ("grenhouse", "greenhouse", "typo"),
        ("помедоры", "помидоры", "typo"),
        ("authnetication", "authentication", "typo"),
        ("velocirapotr", "velociraptor", "typo"),
        ("velociratpr", "velociraptor", "slips"),
        ("velocirap", "velociraptor", "beginning"),
        ("ciraptor", "velociraptor", "part"),
        ("foodprocessor", "food", "compound"),
        ("bx4401", "4401", "compound"),
        ("book mark", "bookmark", "compound"),
        ("momentRename", "moment", "symbol"),
    ],
)
def test_slips_are_repaired(typed: str, meant: str, kind: str) -> None:
    """A word that no document holds is taken for the one that was meant."""
    query, repairs = repaired(parse(typed, HELD), known, lambda: VOCABULARY, HELD)
    wanted = set(stream(meant).split())
    assert wanted & {term for repair in repairs for term in repair.terms}, repairs
    assert kind in {repair.kind for repair in repairs}
    assert any(wanted & set(word.terms) for word in query.words)
    assert max(word.weight for word in query.words if set(word.terms) & wanted) <= max(
        TRUST.values()
    )


@pytest.mark.parametrize("typed", ["greenhouse", "помидоров", "tokens for authentication", "a", ""])
def test_known_words_are_left_alone(typed: str) -> None:
    """Where every word is held, the vocabulary is not even looked at."""

    def never() -> Vocabulary:
        raise AssertionError("the vocabulary was asked for")

    query = parse(typed, HELD)
    assert repaired(query, lambda word: True, never, HELD) == (query, ())


def test_long_queries_keep_their_strange_words() -> None:
    """In a longer query a word that no note holds is a synonym more often than a slip."""
    query = parse("protecting tomatoes against grenhouse humidity damage", HELD)
    assert repaired(query, known, lambda: VOCABULARY, HELD)[1] == ()


def test_short_strange_words_are_not_guessed() -> None:
    """Three letters are too few to be recognised with a slip in them."""
    assert repaired(parse("xqz", HELD), known, lambda: VOCABULARY, HELD)[1] == ()


def test_numbers_are_never_repaired_by_distance() -> None:
    """4402 is not a misspelling of 4401."""
    assert repaired(parse("4402", HELD), known, lambda: VOCABULARY, HELD)[1] == ()


def test_meaning_follows_a_repaired_layout() -> None:
    """What is embedded is what was meant, where the right spelling is known."""
    query, _ = repaired(parse("ghbdtn", HELD), known, lambda: VOCABULARY, HELD)
    assert query.meaning == "привет"


@pytest.mark.parametrize(
    ("typed", "languages"),
    [
        ("ghbdtn", {"ru"}),
        ("зщыепкуы", {"en"}),
        ("pomidory", {"ru"}),
        ("ghbdtn greenhouse", {"en", "ru"}),
        ("постгрес", {"en", "ru"}),
        ("помидоры и постгрес", {"ru"}),
        ("кладовка постгрес", {"en", "ru"}),
        ("grenhouse", {"en"}),
    ],
)
def test_languages_are_those_of_what_was_meant(typed: str, languages: set[str]) -> None:
    """A slip of the layout does not make a query foreign to the notes that it was meant for."""
    query, repairs = repaired(parse(typed, HELD), known, lambda: VOCABULARY, HELD)
    assert repairs
    assert query.reading.languages == languages


def test_only_the_slip_is_written_anew() -> None:
    """Letters of other words that happen to be those of the slip stay as they were typed."""
    query, _ = repaired(parse("chesnokova (chesnok)", HELD), known, lambda: VOCABULARY, HELD)
    assert query.meaning == "chesnokova чеснок"
    query, _ = repaired(parse("zqx grenhouse-xz", HELD), known, lambda: VOCABULARY, HELD)
    assert {word.text for word in query.words if word.weight < 1} == {"grenhouse"}


@given(st.text(max_size=60))
def test_any_query_can_be_repaired(text: str) -> None:
    """No text raises, and a repaired query keeps its number of words."""
    query = parse(text, HELD)
    mended, _ = repaired(query, known, lambda: VOCABULARY, HELD)
    assert len(mended.words) == len(query.words)


@given(st.text("абвгдежзийклмнопрстуфхцчшщъыьэюяё", min_size=1))
def test_layouts_are_each_others_inverse(word: str) -> None:
    """The same keys pressed under the other layout and back give the word again."""
    assert other_layout(other_layout(word)) == word


def test_rough_spellings_meet() -> None:
    """Usual ways to write a Russian word in Latin letters share one rough spelling."""
    for latin in ("chashka", "chaschka"):
        assert rough(latin) == rough("чашка")
    assert rough("khrushchev") == rough("хрущев")
    assert in_cyrillic("zhizn") == "жизн"


def test_a_search_says_what_it_repaired(tmp_path: Path) -> None:
    """The answer names the repair, finds the note and marks the word in it."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("# A\n\nПомидоры в теплице.", "utf-8")
    (tmp_path / "vault" / "b.md").write_text("# B\n\nSomething else.", "utf-8")
    with open_library(tmp_path / "x.db", "none") as library:
        library.index(tmp_path / "vault")
        answer = library.search("gjvbljhs")
        assert [(one.typed, one.written, one.kind) for one in answer.repairs] == [
            ("gjvbljhs", "помидоры", "layout")
        ]
        assert [result.path for result in answer.results] == ["a.md"]
        assert "<mark>Помидоры</mark>" in answer.results[0].snippet
        assert library.search("помидоры").repairs == ()
    with open_library(tmp_path / "x.db", "none", search={"repair": False}) as literal:
        assert literal.search("gjvbljhs").results == ()


def test_a_slip_finds_what_the_right_spelling_finds(tmp_path: Path) -> None:
    """The first note, and which notes words can judge, do not depend on the layout."""
    vault = tmp_path / "vault"
    vault.mkdir()
    notes = [
        "The queue is read by a worker that prints hello, sleeps and reads it again.",
        "У забора петуния сорта Привет, бархатцы, лобелия.",
        *("Hi!", "Welcome!", "Good morning!", "Здравствуй!", "Приветик!", "Доброе утро!"),
    ]
    for number, text in enumerate(notes):
        (vault / f"{number}.md").write_text(text, "utf-8")
    with Library.open(settings=Settings(db=tmp_path / "x.db")) as library:
        library.index(vault)
        library.embed()
        for slip, right in (("руддщ", "hello"), ("ghbdtn", "привет"), ("privet", "привет")):
            found, wanted = library.search(slip), library.search(right)
            assert found.repairs and not found.degraded
            assert found.results[0].path == wanted.results[0].path
            assert _foreign(found) == _foreign(wanted)


def _foreign(answer: Answer) -> set[str]:
    """The documents that are taken for those of another language."""
    return {one.path for one in answer.results if one.foreign}


@pytest.mark.parametrize(
    ("typed", "held"),
    [("choose", "chose"), ("message", "massage"), ("contact", "contract"), ("weather", "leather")],
)
def test_a_usual_word_is_no_slip_of_another(typed: str, held: str) -> None:
    """A word that many people write is not taken for one that differs by a letter."""
    words = vocabulary_of(stream(held, "en").split())
    query = parse(typed, HELD)
    assert repaired(query, lambda _: False, lambda: words, HELD) == (query, ())


@pytest.mark.parametrize(("typed", "held"), [("церковь", "церкви"), ("theatre", "theater")])
def test_a_usual_word_still_finds_its_other_forms(typed: str, held: str) -> None:
    """Forms of one word that stemming keeps apart are brought together."""
    words = vocabulary_of([*stream(held, "en").split(), *stream(held, "ru").split()])
    _, repairs = repaired(parse(typed, HELD), lambda _: False, lambda: words, HELD)
    assert [repair.kind for repair in repairs] == ["typo"]


def test_a_usual_word_keeps_its_meaning() -> None:
    """`atmosphere` finds `атмосфера` and still means itself; `pomidor` can only be `помидор`."""
    words = vocabulary_of(["атмосфер", "помидор"])
    for typed, meant in (("atmosphere", "atmosphere"), ("pomidor", "помидор")):
        query, repairs = repaired(parse(typed, HELD), lambda _: False, lambda: words, HELD)
        assert [repair.kind for repair in repairs] == ["transliteration"]
        assert query.meaning == meant


@pytest.mark.parametrize(
    ("typed", "held"),
    [
        ("oil", "о"),
        ("nail", "на"),
        ("toe", "то"),
        ("пуля", "pull"),
        ("R", "К"),
        ("vs", "мы"),
        ("two", "твой"),
        ("sad", "сад"),
        ("hotel", "хотел"),
        ("вино", "win"),
        ("faucet", "facet"),
        ("statue", "status"),
        ("planet", "plane"),
        ("lightning", "light"),
        ("kotlin", "hotline"),
        ("exam", "example"),
        ("rain", "train"),
        ("moth", "grandmother"),
        ("snow", "снова"),
        ("brake", "в браке"),
        ("матрас", "матрос"),
        ("кашель", "каша ель"),
        ("гора", "выгорание"),
        ("carrot", "car rot"),
        ("passport", "pass port"),
    ],
)
def test_a_right_word_is_no_slip(typed: str, held: str) -> None:
    """A word of a language is not taken for one that only looks or sounds like it."""
    words = vocabulary_of([*stream(held, "en").split(), *stream(held, "ru").split()])
    query = parse(typed, HELD)
    assert repaired(query, lambda _: False, lambda: words, HELD) == (query, ())


@pytest.mark.parametrize(
    ("typed", "held", "kind"),
    [
        ("корзинка", "корзина", "typo"),
        ("щелчок", "щелчки", "typo"),
        ("lemon", "lemongrass", "beginning"),
        ("мотор", "motor", "transliteration"),
        ("student", "студенты", "transliteration"),
        ("докер", "docker", "transliteration"),
        ("privet", "привет", "transliteration"),
        ("borsch", "борщ", "transliteration"),
        ("borscht", "борщ", "transliteration"),
    ],
)
def test_a_right_word_is_widened_by_its_kin(typed: str, held: str, kind: str) -> None:
    """Other forms, compounds and the same word in the other script are found."""
    words = vocabulary_of([*stream(held, "en").split(), *stream(held, "ru").split()])
    _, repairs = repaired(parse(typed, HELD), lambda _: False, lambda: words, HELD)
    assert [repair.kind for repair in repairs] == [kind]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("барщ", "борщ"),
        ("карова", "корова"),
        ("wrok", "work"),
        ("cofee", "coffee"),
        ("grden", "garden"),
    ],
)
def test_short_words_are_known_by_their_consonants(typed: str, meant: str) -> None:
    """One wrong vowel, or a letter in the wrong place, is repaired in short words, too."""
    words = vocabulary_of([*stream(meant, "en").split(), *stream(meant, "ru").split()])
    _, repairs = repaired(parse(typed, HELD), lambda _: False, lambda: words, HELD)
    assert [repair.kind for repair in repairs] == ["typo"]


def test_short_words_are_not_guessed_among_several() -> None:
    """Where two words are as near, in names and where a consonant differs nothing is repaired."""
    words = vocabulary_of(["борщ", "бурщ", "дам", "дама", "крон"])
    for typed in ("барщ", "Дима", "крот", "брон"):
        query = parse(typed, HELD)
        assert repaired(query, lambda _: False, lambda: words, HELD) == (query, ())


def test_short_words_slip_together_with_long_ones() -> None:
    """Under the wrong layout short words are read with the long one beside them, not alone."""
    words = vocabulary_of(["мы", *stream("рассада", "ru").split()])
    query, _ = repaired(parse("vs hfccflf", HELD), lambda _: False, lambda: words, HELD)
    assert query.meaning == "мы рассада"


def test_words_are_usual_in_any_case_and_of_any_length() -> None:
    """The list is asked for whole words; slips and endless words are not there."""
    assert all(is_usual(word) for word in ("choose", "Choose", "выбрать", "ändern"))
    assert not any(is_usual(word) for word in ("telesco", "recieve", "", "x" * 200, "\ud800", "\n"))
