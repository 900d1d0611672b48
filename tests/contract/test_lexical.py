"""The `Retrieval` port by words: matching, clauses and frequencies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import phrase, prepared, put, word
from twolane.model import FIELDS, Batch, Heading, Stems
from twolane.ports import Store
from twolane.scopes import Clause, Either, InField, Phrase, Scope, Word


def found(store: Store, *words: Word, every: bool = True, limit: int = 100) -> set[str]:
    """Ids of the documents that hold the words."""
    return {each.id for each in store.lexical(words, Scope(), every=every, limit=limit)}


def meeting(store: Store, clause: Clause) -> set[str]:
    """Ids of the documents that meet the clause."""
    scope = Scope(clause=clause)
    return {each.id for each in store.lexical([], scope, every=True, limit=100)}


class TestWords:
    """Which documents hold which words."""

    def test_every_or_any(self, store: Store) -> None:
        """With `every` all words must be there, else one is enough."""
        put(store, prepared("a", "ant bee"), prepared("b", "bee cat"), prepared("c", "dog"))
        ant, bee, cat = word("ant"), word("bee"), word("cat")
        assert found(store, ant, bee) == {"a"}
        assert found(store, ant, cat) == set()
        assert found(store, ant, cat, every=False) == {"a", "b"}

    def test_words_may_stand_in_different_fields(self, store: Store) -> None:
        """A document holds every word even if each is in another field."""
        put(store, prepared("a", "ant", title="Bee", tags=("cat",)))
        assert found(store, word("ant"), word("bee"), word("cat")) == {"a"}

    @pytest.mark.parametrize("field", FIELDS)
    def test_every_field_counts(self, store: Store, field: str) -> None:
        """A word is found in whichever field it stands."""
        held = replace(prepared("a"), stems=replace(Stems(), **{field: " ant  bee "}))
        put(store, held, prepared("b", "cat"))
        assert found(store, word("bee")) == {"a"}
        assert meeting(store, InField(field, phrase("ant bee"))) == {"a"}
        others = tuple(InField(name, phrase("ant")) for name in FIELDS if name != field)
        assert meeting(store, Either(others)) == set()

    def test_stems_match_whole(self, store: Store) -> None:
        """A stem is not found by a part of it, unless the word is a prefix."""
        put(store, prepared("a", "beetle"), prepared("b", "bee"))
        assert found(store, word("bee")) == {"b"}
        assert found(store, word("eetle")) == set()
        assert found(store, word("bee", prefix=True)) == {"a", "b"}
        assert found(store, word("eetle", prefix=True)) == set()

    def test_any_of_a_words_terms_will_do(self, store: Store) -> None:
        """The terms of one word are alternatives, as prefixes too."""
        put(store, prepared("a", "ant"), prepared("b", "bee"), prepared("c", "cat bee"))
        assert found(store, Word("x", ("ant", "cat"))) == {"a", "c"}
        assert found(store, Word("x", ("ant", "cat")), word("bee")) == {"c"}
        assert found(store, Word("x", ("an", "ca"), prefix=True)) == {"a", "c"}

    @pytest.mark.parametrize("stem", ["c++", "c#", "and", "or", "not", "near", "東京", "·", "елк"])
    def test_any_stem_can_be_found(self, store: Store, stem: str) -> None:
        """Signs, other scripts and an engine's own key words are stems like any other."""
        put(store, replace(prepared("a"), stems=Stems(body=f" ant  {stem}  bee ")))
        put(store, replace(prepared("b"), stems=Stems(body=" ant  c  bee ")))
        assert found(store, Word(stem, (stem,))) == {"a"}
        assert found(store, Word(stem, (stem,)), word("ant")) == {"a"}
        assert meeting(store, Phrase((word("ant"), Word(stem, (stem,)), word("bee")))) == {"a"}

    @pytest.mark.parametrize("term", ['"', "'", "*", "%", "_", "a*", "(", "ant OR bee"])
    def test_odd_terms_find_nothing(self, store: Store, term: str) -> None:
        """A term that is no stem of any document finds nothing and breaks nothing."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        assert found(store, Word(term, (term,))) == set()

    def test_long_queries_are_answered(self, store: Store) -> None:
        """Hundreds of words are no more trouble than one."""
        put(store, prepared("a", "n250"), prepared("b", " ".join(f"n{n}" for n in range(300))))
        many = [word(f"n{number}") for number in range(300)]
        assert found(store, *many, every=False) == {"a", "b"}
        assert found(store, *many) == {"b"}

    def test_candidates_carry_stems_and_languages(self, store: Store) -> None:
        """A candidate brings along all that scoring needs, exactly as it was stored."""
        one = prepared(
            "a", "Ants\n\nbees", title="Cats", tags=("Work",), url="http://x.org",
            aliases=("Dogs",), description="elks", headings=(Heading(1, "Foxes", 1, 0),),
            languages=("ru", "en"),
        )  # fmt: skip
        put(store, one)
        (candidate,) = store.lexical([word("ant")], Scope(), every=True, limit=1)
        assert candidate.id == "a"
        assert candidate.languages == ("en", "ru")
        assert candidate.stems == one.stems

    def test_no_words_means_the_whole_scope(self, store: Store) -> None:
        """Without words the scope alone decides, whether `every` is set or not."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        for every in (True, False):
            held = store.lexical([], Scope(clause=phrase("ant")), every=every, limit=9)
            assert [each.id for each in held] == ["a"]
            assert len(store.lexical([], Scope(), every=every, limit=9)) == 2

    def test_limit_comes_after_the_scope(self, store: Store) -> None:
        """As many documents as asked come back if that many are in scope."""
        put(store, *(prepared(f"{n:02}", "ant " * (30 - n)) for n in range(30)))
        put(store, prepared("last", "bee ant"))
        for limit in (1, 7, 31, 99):
            assert len(found(store, word("ant"), limit=limit)) == min(limit, 31)
        scope = Scope(documents=("last", "29"))
        held = store.lexical([word("ant")], scope, every=True, limit=2)
        assert {each.id for each in held} == {"last", "29"}


class TestFrequencies:
    """What queries and scoring need to know of the whole index."""

    def test_tells_the_languages(self, store: Store) -> None:
        """The languages are those of documents that can be found, in the archive too."""
        assert store.languages() == frozenset()
        put(
            store,
            prepared("a", "one\n\ntwo", languages=("en", "ru")),
            prepared("b", "three", languages=("de",), archived=True),
            prepared("c", "four", languages=("fr",), deleted=True),
            prepared("d", "five", languages=()),
        )
        assert store.languages() == {"de", "en", "ru"}
        store.apply(Batch("notes", deletes=["b"]))
        assert store.languages() == {"en", "ru"}

    def test_counts_documents(self, store: Store) -> None:
        """Each term's count is of documents that hold it in any field, archived ones included."""
        put(
            store,
            prepared("a", "ant ant bee", title="ant"),
            prepared("b", "cat", title="bee", archived=True),
            prepared("c", "ant", deleted=True),
        )
        asked = [Word("x", ("ant", "bee")), word("yak")]
        known = store.frequencies(asked)
        assert known.documents == 2
        assert dict(known.containing) == {"ant": 1, "bee": 2, "yak": 0}

    def test_counts_prefixes(self, store: Store) -> None:
        """A prefix counts each document once, however many of its stems begin with it."""
        put(store, prepared("a", "bee beetle"), prepared("b", "beetle"), prepared("c", "be"))
        assert dict(store.frequencies([word("bee", prefix=True)]).containing) == {"bee": 2}
        assert dict(store.frequencies([word("bee")]).containing) == {"bee": 1}

    def test_counts_the_prefix_of_a_term_asked_both_ways(self, store: Store) -> None:
        """A term that is asked as a word and as a prefix gets the larger count."""
        put(store, prepared("a", "bee"), prepared("b", "beetle"))
        both = [word("bee"), word("bee", prefix=True)]
        assert dict(store.frequencies(both).containing) == {"bee": 2}
        assert dict(store.frequencies(both[::-1]).containing) == {"bee": 2}

    def test_averages_field_lengths(self, store: Store) -> None:
        """Lengths are numbers of stems per document, for every field."""
        put(
            store,
            prepared("a", "one two three", title="x", tags=("y", "z/w")),
            prepared("b", "four", title="x x", archived=True),
            prepared("c", "five six seven eight", deleted=True),
        )
        expected = dict.fromkeys(FIELDS, 0.0) | {"title": 1.5, "tags": 1.5, "body": 2.0}
        assert dict(store.frequencies([]).average_lengths) == pytest.approx(expected)

    def test_an_empty_store_has_no_lengths(self, store: Store) -> None:
        """Without documents every figure is zero."""
        known = store.frequencies([word("ant")])
        assert (known.documents, dict(known.containing)) == (0, {"ant": 0})
        assert dict(known.average_lengths) == dict.fromkeys(FIELDS, 0.0)
