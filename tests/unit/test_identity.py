"""The identity lane: documents that are called what was typed."""

from __future__ import annotations

import pytest

from tests.builders import COLLECTION, prepared, put
from twolane.model.answer import Feature
from twolane.model.candidate import Candidate, Names
from twolane.model.document import Collection
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ranking.identity import named_candidates
from twolane.stores.memory import memory_stores
from twolane.text.names import key, keys, lines


@pytest.fixture(scope="module")
def store() -> Stores:
    """A few documents with names of all sorts."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(
        store,
        prepared("bread", title="Sourdough bread for beginners", path="kitchen/sourdough.md"),
        prepared("hello", title="Привет, мир"),
        prepared("tomato", title="Помидоры в теплице", aliases=("Томаты",)),
        prepared("kt-290", title="Thermostat KT-290", path="parts/kt-290.md"),
        prepared("kt-209", title="Thermostat KT-209", path="parts/kt-209.md"),
        prepared("link", title="A link", url="https://www.example.org/blog/tide-mills/"),
    )
    return store


def hits(store: Stores, text: str) -> list[Candidate]:
    return named_candidates(store.lexical, text, Scope(), limit=10)


@pytest.mark.parametrize(
    ("typed", "id"),
    [
        ("Sourdough bread for beginners", "bread"),
        ("sourdough", "bread"),
        ("sourdough.md", "bread"),
        ("kitchen/sourdough.md", "bread"),
        ("kitchen sourdough.md", "bread"),
        ("sourdough-bread-for-beginners", "bread"),
        ("sourdough bread", "bread"),
        ("Sourdough bread for begi", "bread"),
        ("sourdoguh bread for begginers", "bread"),
        ("souddough", "bread"),
        ("soudrough", "bread"),
        ("томтаы", "tomato"),
        ("томаты", "tomato"),
        ("gjvbljhs d ntgkbwt", "tomato"),
        ("pomidory v teplitse", "tomato"),
        ("ghbdtn vbh", "hello"),
        ("thermostat kt-290", "kt-290"),
        ("kt-209", "kt-209"),
        ("example.org/blog/tide-mills", "link"),
        ("tide-mills", "link"),
    ],
)
def test_names_find_their_document(store: Stores, typed: str, id: str) -> None:
    """Title, alias, path, slug and address: whole, begun, mistyped, in other letters."""
    assert hits(store, typed)[0].id == id


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "  ",
        "!?",
        "how do I bake bread for my friends at home",
        "bread",
        "so",
        "thermostat kt-299",
        "example",
        "x" * 1000,
        '"\\n',
    ],
)
def test_what_is_no_name_finds_nothing(store: Stores, typed: str) -> None:
    """A question, a word, another number and nonsense name no document."""
    assert hits(store, typed) == []


def test_nearer_is_surer(store: Stores) -> None:
    """A whole name counts in full, a begun one by its share, a slip costs something."""
    whole, begun, slipped, layout = (
        hits(store, typed)[0].features[Feature.NAME]
        for typed in (
            "Sourdough bread for beginners",
            "Sourdough bread",
            "Sourdough bread for begimners",
            "gjvbljhs d ntgkbwt",
        )
    )
    assert whole == 1
    assert begun == pytest.approx(15 / 29)
    assert slipped == pytest.approx(0.9)
    assert layout == pytest.approx(0.95)


def test_a_beginning_of_many_names_is_no_name() -> None:
    """Where too many names begin alike the beginning tells nothing; a whole name still does."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, *(prepared(f"{n:03}", title=f"Meeting {n:03}") for n in range(80)))
    put(store, prepared("only", title="Meeting"))
    assert [hit.id for hit in hits(store, "meeting")] == ["only"]
    assert hits(store, "meeti") == []


def test_few_documents_are_looked_at_for_a_slip() -> None:
    """Documents whose names hold a piece elsewhere do not crowd out the one that was meant."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    others = [prepared(f"{number:03}", title=f"My soup, {number}") for number in range(100)]
    put(store, *others, prepared("meant", title="Souffle"))
    assert [hit.id for hit in hits(store, "soufle")] == ["meant"]


def test_the_scope_is_obeyed(store: Stores) -> None:
    """A document out of scope is not found by its name."""
    assert named_candidates(store.lexical, "sourdough", Scope(documents=("hello",)), limit=10) == []


def test_keys() -> None:
    """Case, accents, signs and the ending of a note do not make another name."""
    assert key("Kitchen — Café_Crème.md") == "kitchen cafe creme"
    names = Names("a", (), "T", ("Other",), "one/two/three.md", "https://www.x.org/a/b-c/")
    assert list(keys(names)) == [
        "t",
        "other",
        "one two three",
        "two three",
        "three",
        "x org a b c",
        "b c",
    ]
    assert "\nthree\n" in lines(names)
    assert "\none two three md\n" in lines(names, ("tag/x",))
    assert "\ntag x\n" in lines(names, ("tag/x",))
