"""Words that mean the same in another language: the dictionary, and what the lane does with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import open_library
from twolane import Library
from twolane.model.answer import Lane
from twolane.model.candidate import Candidate, Frequencies
from twolane.model.scope import Word
from twolane.query.translation import with_translations
from twolane.ranking.bm25f import score
from twolane.text.tokens import stream
from twolane.text.translations import read_dictionary, translations, write_dictionary


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("bread", "хлеб"),
        ("sleep", "спать"),
        ("church", "церкви"),
        ("доход", "income"),
        ("лес", "forest"),
    ],
)
def test_the_dictionary_knows_usual_words(word: str, other: str) -> None:
    """A word of one language leads to the word of the other that means the same."""
    (term,), (wanted,) = stream(word).split(), stream(other).split()
    assert wanted in dict(translations(term))


def test_terms_without_an_entry_have_no_translation() -> None:
    """Nonsense, other scripts and broken text lead nowhere."""
    for term in ("", "zzzz", "面包", "\ud800", "хлебxyz", "a" * 1000):
        assert translations(term) == ()


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
        st.lists(st.floats(0, 1), max_size=3),
        max_size=20,
    )
)
def test_a_dictionary_survives_its_file(entries: dict[str, list[float]]) -> None:
    """What was written is read again, up to the grain of likeness."""
    names = sorted(entries)
    linked = {
        name: [(names[number % len(names)], one) for number, one in enumerate(entries[name])]
        for name in names
    }
    found = read_dictionary(write_dictionary(linked))
    for name in names:
        assert [(term, pytest.approx(one, abs=1 / 255)) for term, one in linked[name]] == found.of(
            name
        )
    assert found.of("not there at all") == []


def test_a_file_that_is_no_dictionary_is_refused() -> None:
    """Other bytes are not taken for words."""
    with pytest.raises(ValueError, match="not a dictionary"):
        read_dictionary(b"PK34 and so on")


def test_only_terms_that_documents_hold_are_added() -> None:
    """A translation that no document holds finds nothing, so it does not crowd out another."""
    bread = Word("bread", ("bread",))
    (word,) = with_translations([bread], lambda terms: {"хлеб"} & {*terms})
    assert word.own == ("bread",)
    assert [term for term, _ in word.kin] == ["хлеб"]
    assert 0.5 < word.likeness[0] <= 1
    assert with_translations([bread], lambda terms: ()) == (bread,)
    begun = Word("bre", ("bread",), prefix=True)
    assert with_translations([begun], lambda terms: terms) == (begun,)


def test_a_translation_counts_for_less_than_the_word() -> None:
    """The document with the word itself is before the one with what means the same."""
    word = Word("bread", ("bread", "хлеб"), likeness=(0.8,))
    candidates = [
        Candidate(name, ("en",), {term: (0, 0, 0, 0, 0, 0, 1)}, (0, 0, 0, 0, 0, 0, 1))
        for name, term in (("foreign", "хлеб"), ("own", "bread"))
    ]
    known = Frequencies(10, {"bread": 1, "хлеб": 1}, {"body": 1.0})
    own, foreign = score([word], candidates, known)
    assert (own.id, own.coverage) == ("own", pytest.approx(1.0))
    assert (foreign.id, foreign.coverage) == ("foreign", pytest.approx(0.8))


NOTES = {
    "хлеб.md": "# Хлеб\n\nТесто для хлеба стоит ночь в холодильнике, потом печь.\n",
    "лес.md": "# Лес\n\nОсенью в лесу много грибов и мало людей.\n",
    "river.md": "# River\n\nThe river is high in spring and the ferry does not go.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, "utf-8")
    library = open_library(tmp_path / "notes.db", "none")
    library.index(tmp_path)
    return library


def test_a_note_in_the_other_language_is_found_without_a_model(library: Library) -> None:
    """The dictionary alone leads an English question to a Russian note."""
    with library:
        answer = library.search("how long should the bread dough rest")
        assert [one.path for one in answer.results] == ["хлеб.md"]
        (said,) = answer.results[0].contributions
        assert (said.lane, said.abstained, said.matched[0]) == (Lane.LEXICAL, True, "bread")


def test_words_in_translation_are_marked(library: Library, tmp_path: Path) -> None:
    """The passage that holds most of them is shown, and they are marked like any other match."""
    with library:
        (shown,) = library.search("how long should the bread dough rest").results
        assert shown.title_html == "<mark>Хлеб</mark>"
        assert "для <mark>хлеба</mark> стоит" in shown.snippet
        parts = ("Летом у реки тихо.", "Хлеб пекут из теста ночью.", "Зимой в лесу холодно.")
        text = "# Разное\n\n" + "".join(
            f"## Часть {at}\n\n{one}\n\n" for at, one in enumerate(parts)
        )
        (tmp_path / "разное.md").write_text(text, "utf-8")
        library.index(tmp_path)
        found = library.search("how long should the bread dough rest").results
        (shown,) = (one for one in found if one.path == "разное.md")
        assert shown.heading == ("Часть 1",)
        assert "<mark>Хлеб</mark> пекут" in shown.snippet


def test_translation_can_be_switched_off_and_leaves_other_modes_alone(
    library: Library, tmp_path: Path
) -> None:
    """Words mode looks for the words that were typed, and so does all else with the setting 0."""
    question = "how long should the bread dough rest"
    with library:
        assert library.search(question, mode="lexical").results == ()
    with open_library(tmp_path / "notes.db", "none", ranking={"translation_weight": 0.0}) as other:
        assert other.search(question).results == ()
