"""The `Retrieval` port by letters: substrings of all that a person sees, and names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import prepared, put
from tests.contract.adapters import Adapter
from tests.contract.strategies import COLLECTIONS, shelves
from tests.contract.test_scope import admits, scopes
from twolane.model import Batch, Collection, Heading, Prepared
from twolane.ports import Store
from twolane.scopes import Scope
from twolane.substrings import fields_of, spelled


def holding(store: Store, text: str, scope: Scope | None = None, *, limit: int = 99) -> list[str]:
    """Ids of the documents that hold the text, as the store offers them."""
    return [each.id for each in store.exact(text, scope or Scope(), limit=limit)]


@pytest.mark.parametrize("settled", [False, True])
class TestExact:
    """Which documents hold a text letter by letter, before trigrams are made and after."""

    def fill(self, store: Store, settled: bool, *documents: Prepared) -> None:
        """Store the documents, and settle them if that is asked for."""
        put(store, *documents)
        if settled:
            store.settle()

    def test_every_field_that_a_person_sees(self, store: Store, settled: bool) -> None:
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
    def test_spelling(self, store: Store, settled: bool, text: str, body: str) -> None:
        """Case, accents, `ё`, compatibility forms and the width of spaces do not matter."""
        self.fill(store, settled, prepared("a", body), prepared("b", "something else"))
        assert holding(store, text) == ["a"]

    def test_letters_must_stand_together(self, store: Store, settled: bool) -> None:
        """All trigrams of a text are not enough: it must stand there as a whole."""
        self.fill(
            store,
            settled,
            prepared("a", "abcd xbcde", title="abcd xbcde"),
            prepared("b", "abcde"),
        )
        assert holding(store, "abcde") == ["b"]

    def test_short_texts_begin_words(self, store: Store, settled: bool) -> None:
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
    def test_short_signs(self, store: Store, settled: bool, text: str, body: str) -> None:
        """One or two signs that are no word are found wherever they stand, names first."""
        self.fill(
            store, settled,
            prepared("a", body), prepared("b", "something else"), prepared("c", title=body),
        )  # fmt: skip
        assert holding(store, text) == ["c", "a"]

    def test_hostile_texts_find_nothing(self, store: Store, settled: bool) -> None:
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

    def test_hidden_documents_are_never_found(self, store: Store, settled: bool) -> None:
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

    def test_the_limit_comes_after_the_scope(self, store: Store, settled: bool) -> None:
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

    def test_a_match_says_where(self, store: Store, settled: bool) -> None:
        """The best place of the first field that holds it, and whether it is a word of its own."""
        self.fill(
            store, settled,
            prepared("a", "unteated tea", title="Untitled"), prepared("b", title="Steamed rice"),
        )  # fmt: skip
        found = {each.id: each for each in store.exact("tea", Scope(), limit=9)}
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
            store.add_collection(Collection(name))
            mine = [each for each in held if each.document.collection == name]
            store.apply(Batch(name, upserts=mine))
        if settled:
            store.settle()
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
def test_named(store: Store, settled: bool) -> None:
    """Names are found by pieces of them, at their beginning and end where that is asked for."""
    put(
        store,
        prepared("a", title="Sourdough bread", path="kitchen/sourdough.md"),
        prepared("b", title="Rye", aliases=("The other sourdough",), path="rye.md"),
        prepared("c", "sourdough", title="Salt", url="https://www.example.org/baking/Salt-Rising"),
        prepared("d", title="Sourdough", deleted=True),
    )
    if settled:
        store.settle()

    def named(*groups: list[str], **scope: tuple[str, ...]) -> set[str]:
        return {each.id for each in store.named(groups, Scope(**scope), limit=9)}  # type: ignore[arg-type]

    assert named(["sourdough"]) == {"a", "b"}
    assert named(["\nsourdough", "bread\n"]) == {"a"}
    assert named(["\nsourdough\n"], ["\nrye\n"]) == {"a", "b"}
    assert named(["\nkitchen", "sourdough"]) == {"a"}
    assert named(["\nsalt", "rising\n"]) == {"c"}
    assert named(["sourdough"], documents=("b",)) == {"b"}
    assert named(["zz"], []) == set()
    (found,) = store.named([["\nrye\n"]], Scope(), limit=9)
    assert (found.title, found.aliases, found.path) == ("Rye", ("The other sourdough",), "rye.md")
