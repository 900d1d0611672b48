"""Copies: what tells them, and where they come in a ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COLLECTION, prepared, put
from twolane.library import Library
from twolane.model.candidate import Candidate
from twolane.model.document import Collection, Document
from twolane.ports.documents import PutCollection, Stored
from twolane.ranking.duplicates import are_copies, collapse_duplicates
from twolane.settings import Settings
from twolane.stores.memory import memory_stores
from twolane.text.shingles import resemblance, sketch
from twolane.text.tokens import stream

LETTER = (
    "The wheel of the tide mill was mended in the spring, when the water stood low, by two "
    "carpenters from the village above the weir, who were paid in flour and in salted herring."
)
OTHER = (
    "Bees that are kept near lime trees give a pale honey, which sets slowly and keeps for years "
    "in a cool cellar, while heather honey is dark, and has to be pressed out of the comb."
)
FORM = (
    "Who was there and who sent excuses? What was decided, and who does it by when? What was put "
    "off, and why? What is the mood, and what could be better the next time that we meet here?"
)


def told(body: str, title: str = "A note") -> Stored:
    document = Document("x", COLLECTION, title, body, content_hash=body)
    return Stored(document, "", sketch=sketch(stream(body, "en")))


def ranked(*ids: str) -> list[Candidate]:
    return [Candidate(id, score=1.0 / place) for place, id in enumerate(ids, start=1)]


def test_a_text_resembles_itself_and_no_other() -> None:
    """The share of common runs of words is 1 for the same text and 0 for another."""
    one, other = told(LETTER).sketch, told(OTHER).sketch
    assert resemblance(one, one) == 1.0
    assert resemblance(one, other) == 0.0
    assert sketch(stream("Too short to tell.", "en")) == b""


def test_the_resemblance_is_the_share_of_common_runs() -> None:
    """For texts that fit into a sketch it is the share itself."""
    words = [f"w{number}" for number in range(23)]
    one, other = " ".join(words[:20]), " ".join(words)
    assert resemblance(sketch(stream(one)), sketch(stream(other))) == 17 / 20


def test_copies_are_told_by_text_and_title() -> None:
    """A sentence more is a copy under the same title; under another title nothing may differ."""
    longer = f"{LETTER} Seen again."
    assert are_copies(told(LETTER), told(longer))
    assert are_copies(told(LETTER, "Tide mill"), told(longer, "tide mill (copy 2)"))
    assert are_copies(told(LETTER, "Tide mill"), told(LETTER, "Weir"))
    assert not are_copies(told(LETTER, "Pump KT-290"), told(longer, "Pump KT-209"))
    assert not are_copies(told(LETTER), told(OTHER))


def test_a_form_that_was_filled_in_twice_is_no_copy() -> None:
    """Notes that share a template say different things."""
    one, other = (told(f"{FORM} {text}", "Meeting") for text in (LETTER, OTHER))
    assert not are_copies(one, other)


def test_copies_come_after_what_is_wanted() -> None:
    """The best of those that are the same keeps its place and names the others."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    texts = {"a": LETTER, "b": OTHER, "c": LETTER, "d": FORM}
    put(store, *(prepared(id, text) for id, text in texts.items()))
    ranking = collapse_duplicates(store.documents, ranked("a", "c", "b", "d"), 2)
    assert [one.id for one in ranking] == ["a", "b", "c", "d"]
    assert ranking[0].copies == ("c",)
    assert ranking[2].copy_of == "a"
    assert collapse_duplicates(store.documents, ranked("a", "b"), 2) == ranked("a", "b")


@given(st.permutations("abcdefgh"), st.integers(1, 10))
def test_collapsing_loses_nothing(ids: list[str], wanted: int) -> None:
    """Every document is there once, and those that say something of their own keep their order."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    texts = dict(
        zip("abcdefgh", (LETTER, OTHER, LETTER, FORM, OTHER, LETTER, "x", ""), strict=True)
    )
    put(store, *(prepared(id, text) for id, text in texts.items()))
    ranking = collapse_duplicates(store.documents, ranked(*ids), wanted)
    assert sorted(one.id for one in ranking) == sorted(ids)
    distinct = [one.id for one in ranking if one.copy_of is None]
    assert distinct == [id for id in ids if id in distinct]
    assert len(distinct) == 5
    assert all(one.copy_of is None for one in ranking[: min(wanted, len(distinct))])


def test_a_search_shows_a_note_once() -> None:
    """Copies come last and say why; without folding they come where their words put them."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(
        store,
        prepared("mill", LETTER, title="Tide mill"),
        prepared("copied", LETTER, title="Tide mill"),
        prepared("honey", f"{OTHER} No tide here.", title="Honey"),
    )
    with Library(store, Settings(), None) as library:
        answer = library.search("tide mill")
        assert [one.id for one in answer.results] == ["copied", "honey", "mill"]
        assert answer.results[0].copies == ("mill",)
        assert answer.results[2].copy_of == "copied"
        why = library.why("tide mill", "mill")
        assert why.copy_of == "copied"
        assert "it is a copy of copied, and copies come later" in why.verdict
    with Library(store, Settings(ranking={"fold_copies": False}), None) as library:
        answer = library.search("tide mill")
        assert [one.id for one in answer.results] == ["copied", "mill", "honey"]
        assert answer.results[1].copy_of is None
