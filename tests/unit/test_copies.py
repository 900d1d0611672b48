"""Copies: what tells them, and where they come in a ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COLLECTION, prepared, put
from twolane.library import Library
from twolane.model.answer import Lane
from twolane.model.candidate import Fused, Hit
from twolane.model.document import Collection, Document
from twolane.ports.documents import PutCollection, Stored
from twolane.ranking.duplicates import are_copies, folded, originals
from twolane.ranking.fusion import Ranking, fuse
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


def fused(*ids: str) -> list[Fused]:
    return [Fused(id, 1.0 / place, ()) for place, id in enumerate(ids, start=1)]


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
    same = originals(store.documents, [fused("c", "b"), fused("b", "a", "d")])
    assert same == {"a": "c"}
    ranking = folded(fused("a", "c", "b", "d"), same, 2)
    assert [one.id for one in ranking] == ["a", "b", "c", "d"]
    assert ranking[0].copies == ("c",)
    assert ranking[2].copy_of == "a"
    assert folded(fused("a", "b"), {}, 2) == fused("a", "b")


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from("efgh")),
    st.integers(1, 10),
)
def test_folding_loses_nothing(ids: list[str], same: dict[str, str], wanted: int) -> None:
    """Every document is there once, and those that say something of their own keep their order."""
    ranking = folded(fused(*ids), same, wanted)
    assert sorted(one.id for one in ranking) == sorted(ids)
    distinct = [one.id for one in ranking if one.copy_of is None]
    assert distinct == [id for id in ids if id in distinct]
    assert all(one.copy_of is None for one in ranking[: min(wanted, len(distinct))])


def test_copies_share_a_rank() -> None:
    """Copies push nothing down in any lane, and each keeps its own vote."""
    hits = [Hit("a", ("en",), 0.9), Hit("copy", ("en",), 0.9), Hit("b", ("en",), 0.8, vote=0.5)]
    ranked = fuse([Ranking(Lane.LEXICAL, 1.0, hits)], k=10, same={"copy": "a"})
    assert {one.id: one.contributions[0].rank for one in ranked} == {"a": 1, "copy": 1, "b": 2}
    assert {one.id: one.score for one in ranked} == {"a": 1 / 11, "copy": 1 / 11, "b": 0.5 / 12}


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
