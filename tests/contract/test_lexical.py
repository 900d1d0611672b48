"""The `LexicalIndex` port: words and their counts, terms, letters and names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import names_in, phrase, prepared, put, word
from tests.contract.adapters import Adapter
from tests.contract.strategies import COLLECTIONS, shelves
from tests.contract.test_scope import admits, scopes
from twolane.model.document import FIELDS, Batch, Collection, Heading, Prepared, Stems
from twolane.model.scope import Clause, Either, InField, Phrase, Scope, Word
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.lexical import Likeness
from twolane.text.substrings import fields_of, spelled


def found(store: Stores, *words: Word, every: bool = True, limit: int = 100) -> set[str]:
    """Ids of the documents that hold the words."""
    return {each.id for each in store.lexical.candidates(words, Scope(), every=every, limit=limit)}


def meeting(store: Stores, clause: Clause) -> set[str]:
    """Ids of the documents that meet the clause."""
    scope = Scope(clause=clause)
    return {each.id for each in store.lexical.candidates([], scope, every=True, limit=100)}


class TestWords:
    """Which documents hold which words."""

    def test_every_or_any(self, store: Stores) -> None:
        """With `every` all words must be there, else one is enough."""
        put(store, prepared("a", "ant bee"), prepared("b", "bee cat"), prepared("c", "dog"))
        ant, bee, cat = word("ant"), word("bee"), word("cat")
        assert found(store, ant, bee) == {"a"}
        assert found(store, ant, cat) == set()
        assert found(store, ant, cat, every=False) == {"a", "b"}

    def test_words_may_stand_in_different_fields(self, store: Stores) -> None:
        """A document holds every word even if each is in another field."""
        put(store, prepared("a", "ant", title="Bee", tags=("cat",)))
        assert found(store, word("ant"), word("bee"), word("cat")) == {"a"}

    @pytest.mark.parametrize("field", FIELDS)
    def test_every_field_counts(self, store: Stores, field: str) -> None:
        """A word is found in whichever field it stands."""
        held = replace(prepared("a"), stems=replace(Stems(), **{field: " ant  bee "}))
        put(store, held, prepared("b", "cat"))
        assert found(store, word("bee")) == {"a"}
        assert meeting(store, InField(field, phrase("ant bee"))) == {"a"}
        others = tuple(InField(name, phrase("ant")) for name in FIELDS if name != field)
        assert meeting(store, Either(others)) == set()

    def test_stems_match_whole(self, store: Stores) -> None:
        """A stem is not found by a part of it, unless the word is a prefix."""
        put(store, prepared("a", "beetle"), prepared("b", "bee"))
        assert found(store, word("bee")) == {"b"}
        assert found(store, word("eetle")) == set()
        assert found(store, word("bee", prefix=True)) == {"a", "b"}
        assert found(store, word("eetle", prefix=True)) == set()

    def test_any_of_a_words_terms_will_do(self, store: Stores) -> None:
        """The terms of one word are alternatives, as prefixes too."""
        put(store, prepared("a", "ant"), prepared("b", "bee"), prepared("c", "cat bee"))
        assert found(store, Word("x", ("ant", "cat"))) == {"a", "c"}
        assert found(store, Word("x", ("ant", "cat")), word("bee")) == {"c"}
        assert found(store, Word("x", ("an", "ca"), prefix=True)) == {"a", "c"}

    @pytest.mark.parametrize("stem", ["c++", "c#", "and", "or", "not", "near", "東京", "·", "елк"])
    def test_any_stem_can_be_found(self, store: Stores, stem: str) -> None:
        """Signs, other scripts and an engine's own key words are stems like any other."""
        put(store, replace(prepared("a"), stems=Stems(body=f" ant  {stem}  bee ")))
        put(store, replace(prepared("b"), stems=Stems(body=" ant  c  bee ")))
        assert found(store, Word(stem, (stem,))) == {"a"}
        assert found(store, Word(stem, (stem,)), word("ant")) == {"a"}
        assert meeting(store, Phrase((word("ant"), Word(stem, (stem,)), word("bee")))) == {"a"}

    @pytest.mark.parametrize("term", ['"', "'", "*", "%", "_", "a*", "(", "ant OR bee"])
    def test_odd_terms_find_nothing(self, store: Stores, term: str) -> None:
        """A term that is no stem of any document finds nothing and breaks nothing."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        assert found(store, Word(term, (term,))) == set()

    def test_long_queries_are_answered(self, store: Stores) -> None:
        """Hundreds of words are no more trouble than one."""
        put(store, prepared("a", "n250"), prepared("b", " ".join(f"n{n}" for n in range(300))))
        many = [word(f"n{number}") for number in range(300)]
        assert found(store, *many, every=False) == {"a", "b"}
        assert found(store, *many) == {"b"}

    def test_candidates_carry_counts_lengths_and_languages(self, store: Stores) -> None:
        """A candidate brings along all that scoring needs: counts by field, and lengths."""
        one = prepared(
            "a", "Ants\n\nbees ant", title="Ant cats", tags=("Work",), url="http://x.org",
            aliases=("Dogs",), description="elks", headings=(Heading(1, "Foxes", 1, 0),),
            languages=("ru", "en"),
        )  # fmt: skip
        put(store, one)
        asked = [word("ant"), word("yak")]
        (candidate,) = store.lexical.candidates(asked, Scope(), every=False, limit=1)
        assert (candidate.id, candidate.languages) == ("a", ("en", "ru"))
        assert {term: list(counts) for term, counts in candidate.frequencies.items()} == {
            "ant": [1, 0, 0, 0, 0, 0, 2]
        }
        assert list(candidate.lengths) == [2, 1, 1, 1, 1, 3, 3]

    def test_other_words_may_be_counted(self, store: Stores) -> None:
        """Those that pick candidates are not always those that score them; prefixes count too."""
        put(store, prepared("a", "ant bee beetle"))
        count = [word("bee"), word("bee", prefix=True)]
        (found,) = store.lexical.candidates(
            [word("ant")], Scope(), every=True, limit=1, count=count
        )
        counts = {key: counts[-1] for key, counts in found.frequencies.items()}
        assert counts == {"bee": 1, "bee*": 2}

    def test_counts_do_not_depend_on_how_many_are_asked_for(self, store: Stores) -> None:
        """Many terms are counted as one is."""
        put(store, prepared("a", "ant bee beetle ant"))
        few = [word("ant"), word("bee", prefix=True)]
        many = [*few, *(word(f"n{number}") for number in range(50))]
        (some,), (all_,) = (
            store.lexical.candidates([word("ant")], Scope(), every=True, limit=1, count=words)
            for words in (few, many)
        )
        assert some == all_

    def test_term_frequencies_of_documents(self, store: Stores) -> None:
        """Known documents are told in the same way, by any words or all; hidden ones are not."""
        put(store, prepared("a", "ant bee ant", title="x"), prepared("b", "cat", archived=True))
        put(store, prepared("h", "ant", deleted=True))
        found = store.lexical.term_frequencies(["a", "b", "h", "ghost"], [word("ant")])
        assert set(found) == {"a", "b"}
        assert list(found["a"].frequencies["ant"]) == [0, 0, 0, 0, 0, 0, 2]
        assert not found["b"].frequencies
        (all_,) = store.lexical.term_frequencies(["a"]).values()
        assert {term: sum(counts) for term, counts in all_.frequencies.items()} == {
            "ant": 2,
            "bee": 1,
            "x": 1,
        }
        assert store.lexical.term_frequencies([], [word("ant")]) == {}

    def test_no_words_means_the_whole_scope(self, store: Stores) -> None:
        """Without words the scope alone decides, whether `every` is set or not."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        for every in (True, False):
            held = store.lexical.candidates([], Scope(clause=phrase("ant")), every=every, limit=9)
            assert [each.id for each in held] == ["a"]
            assert len(store.lexical.candidates([], Scope(), every=every, limit=9)) == 2

    def test_limit_comes_after_the_scope(self, store: Stores) -> None:
        """As many documents as asked come back if that many are in scope."""
        put(store, *(prepared(f"{n:02}", "ant " * (30 - n)) for n in range(30)))
        put(store, prepared("last", "bee ant"))
        for limit in (1, 7, 31, 99):
            assert len(found(store, word("ant"), limit=limit)) == min(limit, 31)
        scope = Scope(documents=("last", "29"))
        held = store.lexical.candidates([word("ant")], scope, every=True, limit=2)
        assert {each.id for each in held} == {"last", "29"}


class TestFrequencies:
    """What queries and scoring need to know of the whole index."""

    def test_tells_the_languages(self, store: Stores) -> None:
        """The languages are those of documents that can be found, in the archive too."""
        assert set(names_in(store, Scope()).languages) == set()
        put(
            store,
            prepared("a", "one\n\ntwo", languages=("en", "ru")),
            prepared("b", "three", languages=("de",), archived=True),
            prepared("c", "four", languages=("fr",), deleted=True),
            prepared("d", "five", languages=()),
        )
        assert set(names_in(store, Scope()).languages) == {"de", "en", "ru"}
        store.documents.apply(Batch("notes", deletes=["b"]))
        assert set(names_in(store, Scope()).languages) == {"en", "ru"}

    def test_counts_documents(self, store: Stores) -> None:
        """Each term's count is of documents that hold it in any field, archived ones included."""
        put(
            store,
            prepared("a", "ant ant bee", title="ant"),
            prepared("b", "cat", title="bee", archived=True),
            prepared("c", "ant", deleted=True),
        )
        asked = [Word("x", ("ant", "bee")), word("yak")]
        known = store.lexical.document_frequencies(asked, Scope())
        assert known.documents == 2
        assert dict(known.document_frequency) == {"ant": 1, "bee": 2, "yak": 0}

    def test_counts_prefixes(self, store: Stores) -> None:
        """A prefix counts each document once, and has a name of its own."""
        put(store, prepared("a", "bee beetle"), prepared("b", "beetle"), prepared("c", "be"))
        both = [word("bee"), word("bee", prefix=True)]
        known = store.lexical.document_frequencies(both, Scope())
        assert dict(known.document_frequency) == {"bee": 1, "bee*": 2}

    def test_averages_field_lengths(self, store: Stores) -> None:
        """Lengths are numbers of stems per document, for every field."""
        put(
            store,
            prepared("a", "one two three", title="x", tags=("y", "z/w")),
            prepared("b", "four", title="x x", archived=True),
            prepared("c", "five six seven eight", deleted=True),
        )
        expected = dict.fromkeys(FIELDS, 0.0) | {"title": 1.5, "tags": 1.5, "body": 2.0}
        assert dict(
            store.lexical.document_frequencies([], Scope()).average_lengths
        ) == pytest.approx(expected)

    def test_an_empty_store_has_no_lengths(self, store: Stores) -> None:
        """Without documents every figure is zero."""
        known = store.lexical.document_frequencies([word("ant")], Scope())
        assert (known.documents, dict(known.document_frequency)) == (0, {"ant": 0})
        assert dict(known.average_lengths) == dict.fromkeys(FIELDS, 0.0)


class TestSimilarTerms:
    """Terms that are like another."""

    def fill(self, store: Stores) -> None:
        """Store documents of two owners."""
        put(store, prepared("a", "borscht bort bore", title="x", owner="ann"))
        put(store, prepared("b", "boreal board boar борщ", title="x", owner="bob"))
        put(store, prepared("h", "bored", title="x", owner="bob", deleted=True))

    @pytest.mark.parametrize(
        ("term", "likeness", "expected"),
        [
            ("bor", Likeness.PREFIX, ["bore", "bort", "boreal", "borscht"]),
            ("oar", Likeness.PART, ["boar", "board"]),
            ("bore", Likeness.EDITS, ["bore", "bort", "boar"]),
            ("borsch", Likeness.SOUND, ["борщ"]),
            ("yak", Likeness.PREFIX, []),
        ],
    )
    def test_each_likeness(
        self, store: Stores, term: str, likeness: Likeness, expected: list[str]
    ) -> None:
        """By prefix and part the shortest come first, by edits the nearest, ties by the term."""
        self.fill(store)
        edits = 2 if term == "bore" else 1
        found = store.lexical.similar_terms(term, Scope(), likeness, edits=edits, limit=9)
        if likeness == Likeness.EDITS:
            found = [one for one in found if len(one) == 4]
        assert found == expected

    def test_the_limit_takes_the_likest(self, store: Stores) -> None:
        """No more than asked for come back."""
        self.fill(store)
        found = store.lexical.similar_terms("bor", Scope(), Likeness.PREFIX, limit=2)
        assert found == ["bore", "bort"]

    def test_nothing_of_others(self, store: Stores) -> None:
        """An owner is told the terms of their own documents, as they are now."""
        self.fill(store)
        ann = Scope(owner="ann")
        found = store.lexical.similar_terms("bor", ann, Likeness.PREFIX, limit=9)
        assert found == ["bore", "bort", "borscht"]
        put(store, prepared("a", "borax", title="x", owner="ann"))
        assert store.lexical.similar_terms("bor", ann, Likeness.PREFIX, limit=9) == ["borax"]


# ------------------------------------------------------------------------- letters


def holding(store: Stores, text: str, scope: Scope | None = None, *, limit: int = 99) -> list[str]:
    """Ids of the documents that hold the text, as the store offers them."""
    return [each.id for each in store.lexical.substring(text, scope or Scope(), limit=limit)]


@pytest.mark.parametrize("settled", [False, True])
class TestExact:
    """Which documents hold a text letter by letter, before trigrams are made and after."""

    def fill(self, store: Stores, settled: bool, *documents: Prepared) -> None:
        """Store the documents, and settle them if that is asked for."""
        put(store, *documents)
        if settled:
            store.maintenance.settle()

    def test_every_field_that_a_person_sees(self, store: Stores, settled: bool) -> None:
        """Names, addresses, tags, descriptions, headings and bodies are looked through."""
        self.fill(
            store,
            settled,
            prepared("title", title="An xylophone"),
            prepared("alias", aliases=("The xylophone",)),
            prepared("path", path="xylophone/one.md"),
            prepared("url", url="https://example.org/xylophones"),
            prepared("tag", tags=("my/xylophone",)),
            prepared("description", description="About xylophones"),
            prepared("summary", summary="A xylophone"),
            prepared("heading", headings=(Heading(1, "Xylophones", 1, 0),)),
            prepared("argument", arguments=("xylophone",)),
            prepared("body", "two xylophones here"),
            prepared("property", properties={"note": "xylophone"}),
            prepared("none", "a phone"),
        )
        found = holding(store, "ylophon")
        assert set(found[:5]) == {"title", "alias", "path", "url", "tag"}
        assert set(found[5:]) == {"description", "summary", "heading", "argument", "body"}

    @pytest.mark.parametrize(
        ("text", "body"),
        [
            ("USEAUTH", "call useAuth() here"),
            ("seAu", "call useAuth() here"),
            ("ts_rank", "by ts_rank_cd"),
            ("hub.com/anthro", "see https://github.com/anthropics"),
            ("елк", "Ёлки и палки"),
            ("ЁЛК", "елки и палки"),
            ("cafe cre", "a Café crème"),
            ("cafe\u0301", "CAFÉ"),
            ("ﬁle", "profile"),
            ("rd wo", "third\n\nword"),
            ("a -> b", "from a -> b"),
            ('say "hi"', 'to say "hi"'),
            ("50%", "at 50% off"),
            ("天文学", "大天文学者"),
            ("🍞 and", "bread 🍞 and butter"),
            ("strasse", "Hauptstraße 5"),
            ("d'oeuvre", "un chef-d’Œuvre"),
            ("da nang", "in Đà Nẵng"),
        ],
    )
    def test_spelling(self, store: Stores, settled: bool, text: str, body: str) -> None:
        """Case, accents, `ё`, compatibility forms and the width of spaces do not matter."""
        self.fill(store, settled, prepared("a", body), prepared("b", "something else"))
        assert holding(store, text) == ["a"]

    def test_letters_must_stand_together(self, store: Stores, settled: bool) -> None:
        """All trigrams of a text are not enough: it must stand there as a whole."""
        self.fill(
            store,
            settled,
            prepared("a", "abcd xbcde", title="abcd xbcde"),
            prepared("b", "abcde"),
        )
        assert holding(store, "abcde") == ["b"]

    def test_short_texts_begin_words(self, store: Stores, settled: bool) -> None:
        """One or two signs are found at the beginning of words alone."""
        self.fill(
            store,
            settled,
            prepared("a", "go on"),
            prepared("b", "a mango"),
            prepared("c", "gone"),
            prepared("d", "文学"),
        )
        assert set(holding(store, "go")) == {"a", "c"}
        assert set(holding(store, "G")) == {"a", "c"}
        assert holding(store, "文学") == ["d"]
        assert holding(store, "->") == []

    @pytest.mark.parametrize(
        ("text", "body"),
        [
            (":=", "the walrus := is an operator"),
            ("->", "a->b"),
            ("🎉", "She comes in October 🎉"),
            ("☕", "Tea or ☕?"),
            ("€", "It was €120."),
            ("_x", "call foo_x()"),
            ("🎉\ufe0f", "a party 🎉\ufe0f"),
        ],
    )
    def test_short_signs(self, store: Stores, settled: bool, text: str, body: str) -> None:
        """One or two signs that are no word are found wherever they stand, names first."""
        self.fill(
            store, settled,
            prepared("a", body), prepared("b", "something else"), prepared("c", title=body),
        )  # fmt: skip
        assert holding(store, text) == ["c", "a"]

    def test_hostile_texts_find_nothing(self, store: Stores, settled: bool) -> None:
        """Whatever is asked for, nothing is raised."""
        self.fill(store, settled, prepared("a", "plain text"))
        for text in (
            "",
            " ",
            '"',
            "'",
            '"""',
            "* OR *",
            "NEAR(a b)",
            "\0\0\0",
            "\ud800abc",
            "a" * 5000,
        ):
            assert holding(store, text) == []

    def test_hidden_documents_are_never_found(self, store: Stores, settled: bool) -> None:
        """What must not be found is not, whatever its letters."""
        self.fill(
            store,
            settled,
            prepared("a", "xylophone", deleted=True),
            prepared("b", "xylophone", encrypted=True),
            prepared("c", "xylophone", searchable=False),
            prepared("d", "xylophone", archived=True),
        )
        assert holding(store, "xylophone") == []
        assert holding(store, "xylophone", Scope(archived=True)) == ["d"]

    def test_the_limit_comes_after_the_scope(self, store: Stores, settled: bool) -> None:
        """As many are found as there are in scope, up to the limit, and names come first."""
        many = [prepared(f"{number:03}", "a xylophone") for number in range(40)]
        self.fill(
            store, settled, *many,
            prepared("y", "a xylophone", tags=("mine",)), prepared("z", title="Xylophone"),
        )  # fmt: skip
        assert holding(store, "xylophone", Scope(tags=("mine",)), limit=1) == ["y"]
        assert holding(store, "xylophone", limit=1) == ["z"]
        assert len(holding(store, "xylophone", limit=10)) == 10
        assert len(holding(store, "xylophone")) == 42

    def test_a_match_says_where(self, store: Stores, settled: bool) -> None:
        """The best place of the first field that holds it, and whether it is a word of its own."""
        self.fill(
            store, settled,
            prepared("a", "unteated tea", title="Untitled"), prepared("b", title="Steamed rice"),
        )  # fmt: skip
        found = {each.id: each for each in store.lexical.substring("tea", Scope(), limit=9)}
        assert (found["a"].field, found["a"].at, found["a"].whole) == ("body", 9, True)
        assert (found["b"].field, found["b"].at, found["b"].whole) == ("title", 1, False)
        assert found["a"].languages == ("en",)


PIECES = (
    "-",
    "e:",
    "ant",
    "nts",
    "ee",
    "eetl",
    "bee",
    "b",
    "ёлк",
    "ЁЛКА",
    "e b",
    "work/",
    "one.md",
    "notes/",
)


@settings(max_examples=60, deadline=None)
@given(
    held=shelves(),
    asked=st.lists(st.tuples(st.sampled_from(PIECES), scopes()), min_size=1, max_size=6),
    settled=st.booleans(),
)
def test_exact_equals_looking_through_everything(
    adapter: Adapter, held: list[Prepared], asked: list[tuple[str, Scope]], settled: bool
) -> None:
    """What is found in a scope is what a plain look at every document in it finds."""
    with adapter.fresh() as store:
        for name in COLLECTIONS:
            store.documents.apply(PutCollection(Collection(name)))
            mine = [each for each in held if each.document.collection == name]
            store.documents.apply(Batch(name, upserts=mine))
        if settled:
            store.maintenance.settle()
        for text, scope in asked:
            needle = spelled(text)
            expected = {
                each.document.id
                for each in held
                if not each.document.hidden and admits(scope, each) and holds(each, needle)
            }
            assert set(holding(store, text, scope)) == expected
            assert len(holding(store, text, scope, limit=2)) == min(2, len(expected))


def holds(given: Prepared, needle: str) -> bool:
    """Whether the document holds the needle; a short one where a word begins."""
    texts = [
        spelled(text)
        for name, said in fields_of(given.document)
        if len(needle) > 2 or name != "path"
        for text in said
    ]
    if len(needle) > 2:
        return any(needle in text for text in texts)
    return any(word.startswith(needle) for text in texts for word in words_in(text))


def words_in(text: str) -> list[str]:
    """The words of a text of the small vocabulary."""
    return "".join(sign if sign.isalnum() else " " for sign in text).split()


@pytest.mark.parametrize("settled", [False, True])
def test_named(store: Stores, settled: bool) -> None:
    """Names are found by pieces of them, at their beginning and end where that is asked for."""
    put(
        store,
        prepared("a", title="Sourdough bread", path="kitchen/sourdough.md"),
        prepared("b", title="Rye", aliases=("The other sourdough",), path="rye.md"),
        prepared("c", "sourdough", title="Salt", url="https://www.example.org/baking/Salt-Rising"),
        prepared("d", title="Sourdough", deleted=True),
    )
    if settled:
        store.maintenance.settle()

    def named(*groups: list[str], **scope: tuple[str, ...]) -> set[str]:
        return {each.id for each in store.lexical.named(groups, Scope(**scope), limit=9)}  # type: ignore[arg-type]

    assert named(["sourdough"]) == {"a", "b"}
    assert named(["\nsourdough", "bread\n"]) == {"a"}
    assert named(["\nsourdough\n"], ["\nrye\n"]) == {"a", "b"}
    assert named(["\nkitchen", "sourdough"]) == {"a"}
    assert named(["\nsalt", "rising\n"]) == {"c"}
    assert named(["sourdough"], documents=("b",)) == {"b"}
    assert named(["zz"], []) == set()
    (found,) = store.lexical.named([["\nrye\n"]], Scope(), limit=9)
    assert (found.title, found.aliases, found.path) == ("Rye", ("The other sourdough",), "rye.md")
