"""What words and quotations make of a query, and what it means."""

from __future__ import annotations

import pytest

from tests.unit.queries import HELD, q, query, texts
from twolane.model.scope import All, Clause, Phrase, Word
from twolane.query import Filters
from twolane.text.tokens import words_of


class TestWords:
    """Words that may be relaxed."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("green tea", ["green", "tea"]),
            ("  green \t\n tea  ", ["green", "tea"]),
            ("ts_rank", ["ts", "rank"]),
            ("foo-bar", ["foo", "bar"]),
            ("3.14", ["3", "14"]),
            ("user@host", ["user", "host"]),
            ("C++ C# useAuth", ["C++", "C#", "useAuth"]),
            ("по-русски", ["русски"]),
            ("{{age:34}}", ["age", "34"]),
            ("age:34", ["age", "34"]),
            ("12:30", ["12", "30"]),
            ("https://tea.org/green", ["https", "tea", "org", "green"]),
            ("c:\\tea", ["c", "tea"]),
            ("f(x) print(y", ["f", "x", "print", "y"]),
            ("(green tea) leaves", ["green", "tea", "leaves"]),
            ("tea & honey — 🍯", ["tea", "honey"]),
            ("--prune ->leaf - --", ["prune", "leaf"]),
            ("(tea)-leaf", ["tea", "leaf"]),
            ("Hello :) world", ["Hello", "world"]),
            ("天文学", ["天文学", "天文学"]),
            ("", []),
            ("   ", []),
            ("?! … -- ()", []),
            ("🍯", []),
        ],
    )
    def test_plain_words(self, text: str, expected: list[str]) -> None:
        """Without syntax there are words and nothing else, whatever stands between them."""
        found = query(text)
        assert texts(found.words) == expected
        assert found.marks == found.words
        assert found.clause is None
        assert found.filters == Filters()

    def test_terms_come_from_the_language(self) -> None:
        """A word carries the stems that the index may hold, folded."""
        assert query("Ёлки RUNNING").words == words_of("Ёлки RUNNING", HELD)
        assert query("ёлка").words[0].terms == query("ЕЛКА").words[0].terms

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("how to grow the tomatoes", ["grow", "tomatoes"]),
            ("как вырастить помидоры", ["вырастить", "помидоры"]),
            ("and or not", ["and", "or", "not"]),
            ("to be or not to be", ["to", "be", "or", "not"]),
            ("to-do list", ["to", "do", "list"]),
            ("in-memory and/or disk", ["memory", "disk"]),
            ("the* cat", ["the", "cat"]),
            ("kind:note who", ["who"]),
            ('"green tea" who', []),
            ("title:tea who", []),
            ("who -tea", ["who"]),
        ],
    )
    def test_function_words_are_left_out(self, text: str, expected: list[str]) -> None:
        """They count only where nothing else is wanted, or as parts of a compound."""
        found = query(text)
        assert texts(found.words) == expected
        assert set(found.words) <= set(found.marks)

    def test_words_count_once(self) -> None:
        """The same terms twice are one word, in words and in marks."""
        found = query('Cats cat "cat" CATS dog')
        assert texts(found.words) == ["Cats", "dog"]
        assert found.marks == found.words

    def test_the_first_sixty_four_words_count(self) -> None:
        """A pasted page does not become a query of a thousand terms."""
        found = query(" ".join(f"the w{number}" for number in range(1000)))
        assert texts(found.words) == [f"w{number}" for number in range(64)]

    def test_a_lone_character_is_the_beginning_of_a_pair(self) -> None:
        """Scripts without word breaks are indexed in pairs, so one character is a prefix."""
        assert query("猫").words == (Word("猫", ("猫",), prefix=True),)
        assert query("a b").words[-1].prefix is False


class TestPrefixes:
    """Words with a star."""

    @pytest.mark.parametrize(
        ("text", "finds"),
        [
            ("embeddi*", "embeddings"),
            ("embed*", "embeddings"),
            ("happy*", "happy"),
            ("happine*", "happiness"),
            ("running*", "running"),
            ("universit*", "universities"),
            ("помидо*", "помидорами"),
            ("бегающ*", "бегающий"),
            ("naïv*", "naïve"),
            ("l'embeddi*", "l'embedding"),
            ("O'Reil*", "O'Reilly"),
            ("20*", "2024"),
        ],
    )
    def test_a_prefix_finds_the_stem_of_a_longer_word(self, text: str, finds: str) -> None:
        """The index holds stems; a prefix must begin one of them all the same."""
        (word,) = query(text).words
        (stem,) = {term for position in words_of(finds, ()) for term in position.terms}
        assert word.prefix
        assert stem.startswith(word.terms)

    def test_a_prefix_stays_narrow(self) -> None:
        """Stems that a prefix is widened by are not so short that they match a lot."""
        (word,) = query("doi*").words
        assert word.terms == ("doi",)

    @pytest.mark.parametrize("text", ["a*", "*", "**bold**", "*word*", "wo*rd", "** x", "word *"])
    def test_other_stars_are_nothing(self, text: str) -> None:
        """A star is a prefix only after two letters and at the end of a token without others."""
        assert not any(word.prefix for word in query(text).words)

    def test_the_last_part_of_a_token_is_the_prefix(self) -> None:
        """`ts_ra*` asks for `ts` and for words that begin with `ra`; a comma ends it."""
        found = query("ts_ra*, tea")
        assert [(word.text, word.prefix) for word in found.words] == [
            ("ts", False),
            ("ra", True),
            ("tea", False),
        ]
        assert found.meaning == "ts_ra tea"


class TestQuotations:
    """Phrases that must occur to the letter."""

    @pytest.mark.parametrize(
        ("text", "clause"),
        [
            ('"green tea"', q("green tea")),
            ("'green tea'", q("green tea")),
            ("«green tea»", q("green tea")),
            ("“green tea”", q("green tea")),
            ("„green tea“", q("green tea")),
            ("„green tea”", q("green tea")),
            ("‘green tea’", q("green tea")),
            ('"one"', q("one")),
            ('"  Green \t TEA "', q("Green TEA", "green tea")),
            ('"Ёлка"', q("Ёлка", "елка")),
            ('"to be"', q("to be")),
            ("'don't stop'", q("don't stop")),
            ('"a AND b"', q("a AND b", "a and b")),
            ('"title:x"', q("title:x")),
            ('"->"', Phrase((), "->")),
            ('"green tea" "black tea"', All((q("green tea"), q("black tea")))),
            ('""', None),
            ('"  "', None),
        ],
    )
    def test_quotes(self, text: str, clause: Clause | None) -> None:
        """What stands between quotes is a hard demand, folded, with its function words."""
        found = query(text)
        assert found.clause == clause
        assert found.words == ()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('"green tea', ["green", "tea"]),
            ('green tea"', ["green", "tea"]),
            ("don't 'tis", ["tis"]),
            ("dogs' cats'", ["dogs", "cats"]),
            ('5" disk 3" tape', ["5", "disk", "3", "tape"]),
            ('class="green tea"', ["class", "green", "tea"]),
            ("«green tea", ["green", "tea"]),
        ],
    )
    def test_other_quotes_are_characters(self, text: str, expected: list[str]) -> None:
        """A quote that is not closed, or stands within a token, quotes nothing."""
        found = query(text)
        assert texts(found.words) == expected
        assert found.clause is None

    def test_words_beside_a_quotation_may_be_relaxed(self) -> None:
        """Only the quotation is demanded; marks keep the order of typing."""
        found = query('leaves "green tea" the cup')
        assert texts(found.words) == ["leaves", "cup"]
        assert found.clause == q("green tea")
        assert texts(found.marks) == ["leaves", "green", "tea", "cup"]
        assert found.meaning == "leaves green tea the cup"

    def test_a_long_quotation_is_compared_in_full(self) -> None:
        """Its first words look it up, and all of its letters must match."""
        text = " ".join(f"w{number}" for number in range(100))
        clause = query(f'"{text}"').clause
        assert isinstance(clause, Phrase)
        assert len(clause.words) == 64
        assert clause.literal == text


class TestMeaning:
    """What is embedded, and what is said about its language."""

    @pytest.mark.parametrize(
        ("text", "meaning"),
        [
            ("what is  RRF?", "what is RRF?"),
            ("cats & dogs — 🐾", "cats & dogs — 🐾"),
            ("Pros AND Cons", "Pros Cons"),
            ('"green tea" OR (cup -milk)', "green tea cup"),
            ("NEAR(green tea, 5) title:cup body:(a b)", "green tea cup a b"),
            ("embeddi* kind:note #work", "embeddi"),
            ("tea NOT (milk OR NOT sugar)", "tea"),
            ("?!", ""),
            ("kind:note ?", ""),
        ],
    )
    def test_meaning(self, text: str, meaning: str) -> None:
        """The words as typed, with what stands between them, and no syntax."""
        assert query(text).meaning == meaning

    def test_the_reading_is_of_the_meaning(self) -> None:
        """Filters and exclusions say nothing about the language of a query."""
        assert query("помидоры").reading.languages == {"ru"}
        assert query("помидоры -tomatoes kind:note").reading == query("помидоры").reading

    def test_text_is_as_typed(self) -> None:
        """The text is composed and trimmed; characters that nothing can take are replaced."""
        assert query("  cafe\u0301  AND tea ").text == "café  AND tea"
        assert query("a\x00b\ud800").text == "a b\ufffd"
