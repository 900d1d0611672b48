"""Clauses of a scope: phrases, quotations, distance, fields and their combinations."""

from __future__ import annotations

import pytest

from tests.builders import phrase, prepared, put, word
from twolane.model.document import Heading, Prepared
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without, Word
from twolane.ports import Stores


def meeting(store: Stores, clause: Clause) -> set[str]:
    """Ids of the documents that meet the clause."""
    scope = Scope(clause=clause)
    return {each.id for each in store.lexical.candidates([], scope, every=True, limit=100)}


class TestPhrases:
    """Words in a row, and quotations."""

    def test_words_stand_next_to_each_other(self, store: Stores) -> None:
        """A phrase needs its words in order, with nothing between them, anywhere in a field."""
        put(
            store,
            prepared("a", "dog ant bee"),
            prepared("b", "bee ant"),
            prepared("c", "ant x bee"),
        )
        assert meeting(store, phrase("ant bee")) == {"a"}
        assert meeting(store, phrase("ant")) == {"a", "b", "c"}
        assert meeting(store, phrase("bee dog")) == set()

    def test_a_phrase_stays_in_one_field(self, store: Stores) -> None:
        """The end of one field and the start of the next make no phrase."""
        put(store, prepared("a", "bee", description="ant", url="ant"))
        assert meeting(store, phrase("ant bee")) == set()

    def test_a_phrase_may_hold_alternatives_and_prefixes(self, store: Stores) -> None:
        """Each word of a phrase matches by any of its terms; a last word may be a prefix."""
        put(store, prepared("a", "ant beetle"), prepared("b", "cat bee"), prepared("c", "dog bee"))
        either = Word("x", ("ant", "cat"))
        assert meeting(store, Phrase((either, word("bee")))) == {"b"}
        assert meeting(store, Phrase((either, word("bee", prefix=True)))) == {"a", "b"}

    def test_a_quotation_matches_to_the_letter(self, store: Stores) -> None:
        """Stems alone are not enough for a quotation."""
        put(store, prepared("a", "two ants here"), prepared("b", "two ant here"))
        assert meeting(store, phrase("two ant")) == {"a", "b"}
        assert meeting(store, phrase("two ants", quoted=True)) == {"a"}
        assert meeting(store, phrase("two ant", quoted=True)) == {"b"}

    @pytest.mark.parametrize(
        ("text", "quotation"),
        [
            ("Two Ants", "two ants"),
            ("two ants", "TWO ANTS"),
            ("Ёлка стоит", "елка стоит"),
            ("елка стоит", "Ёлка стоит"),
            ("two\nants", "two ants"),
            ("two ants", "two  ants"),
            ("«two ants», he said", "two ants"),
            ("the _two ants_", "two ants"),
            ("STRASSE", "straße"),
        ],
    )
    def test_a_quotation_is_folded(self, store: Stores, text: str, quotation: str) -> None:
        """Case, ё, line breaks and the signs around it do not matter to a quotation."""
        put(store, prepared("a", text))
        assert meeting(store, phrase(quotation, quoted=True)) == {"a"}

    @pytest.mark.parametrize(
        "quotation",
        [
            "green tea from",
            "tea from far japan and",
            "and black coffee with",
            "with much sugar",
            "**green tea** from",
            "https://x.org/a-b",
        ],
    )
    def test_a_quotation_matches_what_a_reader_sees(self, store: Stores, quotation: str) -> None:
        """Signs of emphasis, targets of links and code do not come between words."""
        body = (
            "We like **green tea** from [[Japan|far Japan]] and "
            '[black coffee](https://x.org/a-b "x y") with _much_ `sugar`.\n\n* * *\n\nThe end.'
        )
        put(store, prepared("a", body), prepared("b", "green tea not from Japan"))
        assert meeting(store, phrase(quotation, quoted=True)) == {"a"}
        found = store.lexical.substring(quotation, Scope(), limit=9)
        assert [(one.id, one.field) for one in found] == [("a", "body")]
        store.maintenance.settle()
        assert len(store.lexical.substring(quotation, Scope(), limit=9)) == 1
        assert meeting(store, phrase("green tea with", quoted=True)) == set()
        assert store.lexical.substring("green tea with", Scope(), limit=9) == []

    def test_a_quotation_ends_where_words_end(self, store: Stores) -> None:
        """A quotation is not found inside longer words, even if its stems are there as well."""
        put(store, prepared("a", "two antsy; two ant"), prepared("b", "atwo ants; two ant"))
        put(store, prepared("c", "antsy two antsy two ants"))
        assert meeting(store, phrase("two ants", quoted=True)) == {"c"}

    @pytest.mark.parametrize(
        "held",
        [
            prepared("a", title="two ants"),
            prepared("a", aliases=("x", "two ants")),
            prepared("a", tags=("x", "two-ants", "two ants")),
            prepared("a", headings=(Heading(1, "x", 1, 0), Heading(2, "On two ants", 3, 9))),
            prepared("a", description="two ants"),
            prepared("a", summary="two ants"),
            prepared("a", url="two ants"),
            prepared("a", "two ants"),
        ],
        ids=["title", "aliases", "tags", "headings", "description", "summary", "url", "body"],
    )
    def test_a_quotation_is_found_in_any_text(self, store: Stores, held: Prepared) -> None:
        """Every text of a document can be quoted."""
        put(store, held, prepared("b", "two", title="ants"))
        assert meeting(store, phrase("two ants", quoted=True)) == {"a"}

    def test_a_quotation_in_a_field_is_read_in_that_field(self, store: Stores) -> None:
        """Inside a field, the letters must stand in that very field."""
        put(store, prepared("a", "two ants", title="Two ant"))
        assert meeting(store, InField("body", phrase("two ants", quoted=True))) == {"a"}
        assert meeting(store, InField("title", phrase("two ants", quoted=True))) == set()

    def test_signs_can_be_quoted(self, store: Stores) -> None:
        """A quotation without any word is found by its letters alone."""
        put(store, prepared("a", "x -> y"), prepared("b", "x - y"))
        assert meeting(store, phrase("->", quoted=True)) == {"a"}


class TestNear:
    """Phrases that stand close to each other."""

    def test_counts_the_words_between(self, store: Stores) -> None:
        """The distance is the number of words between two phrases, in either order."""
        put(store, prepared("a", "ant x y bee"), prepared("b", "bee x y z ant"))
        put(store, prepared("c", "ant bee"))
        both = (phrase("ant"), phrase("bee"))
        assert meeting(store, Near(both, 0)) == {"c"}
        assert meeting(store, Near(both, 1)) == {"c"}
        assert meeting(store, Near(both, 2)) == {"a", "c"}
        assert meeting(store, Near(both, 3)) == {"a", "b", "c"}

    def test_measures_from_end_to_start(self, store: Stores) -> None:
        """The words of a long first phrase do not count as distance."""
        put(store, prepared("a", "ant bee cat x dog"))
        assert meeting(store, Near((phrase("ant bee cat"), phrase("dog")), 1)) == {"a"}
        assert meeting(store, Near((phrase("ant bee cat"), phrase("dog")), 0)) == set()

    def test_spans_from_the_first_to_the_last_of_three(self, store: Stores) -> None:
        """Three phrases are near if the first and the last are, whatever lies between."""
        put(store, prepared("a", "ant x bee y cat"))
        three = (phrase("cat"), phrase("bee"), phrase("ant"))
        assert meeting(store, Near(three, 3)) == {"a"}
        assert meeting(store, Near(three, 2)) == set()

    def test_finds_the_closest_pair(self, store: Stores) -> None:
        """It is enough that one occurrence of each phrase is close."""
        put(store, prepared("a", "ant x x x x bee x x x x ant bee"))
        assert meeting(store, Near((phrase("ant"), phrase("bee")), 0)) == {"a"}

    def test_stays_in_one_field(self, store: Stores) -> None:
        """Phrases of different fields are never near, and a field can be demanded."""
        put(store, prepared("a", "bee", title="ant"), prepared("b", "ant bee", title="cat"))
        near = Near((phrase("ant"), phrase("bee")), 50)
        assert meeting(store, near) == {"b"}
        assert meeting(store, InField("body", near)) == {"b"}
        assert meeting(store, InField("title", near)) == set()

    def test_quotations_stay_quotations(self, store: Stores) -> None:
        """A quoted phrase must match to the letter here too."""
        put(store, prepared("a", "two ants x bee"), prepared("b", "two ant x bee"))
        near = Near((phrase("two ants", quoted=True), phrase("bee")), 5)
        assert meeting(store, near) == {"a"}


class TestCombinations:
    """Clauses inside clauses."""

    def test_all_either_without(self, store: Stores) -> None:
        """Each does what its name says."""
        put(store, prepared("a", "ant bee"), prepared("b", "bee"), prepared("c", "cat"))
        ant, bee, cat = phrase("ant"), phrase("bee"), phrase("cat")
        assert meeting(store, All((ant, bee))) == {"a"}
        assert meeting(store, Either((ant, cat))) == {"a", "c"}
        assert meeting(store, All((bee, Without(ant)))) == {"b"}
        assert meeting(store, Without(bee)) == {"c"}
        assert meeting(store, Without(Either((ant, cat)))) == {"b"}
        assert meeting(store, Either((ant, Without(bee)))) == {"a", "c"}
        assert meeting(store, Without(Without(ant))) == {"a"}

    def test_a_field_reaches_all_that_is_inside(self, store: Stores) -> None:
        """A field restricts every clause within it."""
        put(store, prepared("a", "bee", title="ant"), prepared("b", "ant bee", title="bee"))
        ant, bee = phrase("ant"), phrase("bee")
        assert meeting(store, InField("title", Either((ant, bee)))) == {"a", "b"}
        assert meeting(store, InField("title", All((ant, bee)))) == set()
        assert meeting(store, InField("title", Without(ant))) == {"b"}

    def test_fields_within_fields_only_narrow(self, store: Stores) -> None:
        """A clause that must be in two fields at once is in neither."""
        put(store, prepared("a", "ant", title="ant"))
        assert meeting(store, InField("title", InField("title", phrase("ant")))) == {"a"}
        assert meeting(store, InField("title", InField("body", phrase("ant")))) == set()

    def test_no_clauses_demand_nothing(self, store: Stores) -> None:
        """All of nothing is met by every document, and one of nothing by none."""
        put(store, prepared("a", "ant"))
        assert meeting(store, All(())) == {"a"}
        assert meeting(store, Either(())) == set()

    def test_a_clause_and_words_go_together(self, store: Stores) -> None:
        """Words find, the clause restricts."""
        put(store, prepared("a", "ant bee"), prepared("b", "ant cat"))
        scope = Scope(clause=Without(phrase("bee")))
        held = store.lexical.candidates([word("ant")], scope, every=True, limit=9)
        assert [each.id for each in held] == ["b"]
