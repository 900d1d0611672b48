"""Sentences: how a passage is cut into them, kept in few bits, and compared with a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import COLLECTION, embed, prepared, put, space, unit
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.pipeline import fill
from twolane.embedding.sentence_codes import (
    coded,
    nearest_sentences,
    sentence_part,
    silent,
)
from twolane.ingest.chunking import embedded_sentences
from twolane.ingest.chunking.splitting import sentence_at, sentences
from twolane.model.answer import Feature, Lane
from twolane.model.candidate import Candidate
from twolane.model.document import Collection
from twolane.model.errors import EmbedderError
from twolane.model.scope import Scope
from twolane.model.space import Space
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.ranking.background import Usual
from twolane.ranking.lanes import DenseLane
from twolane.stores.sqlite import open_stores

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix

X, Y = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
EVERY = slice(0, 4)


class TestCutting:
    """Sentences and lines, none too short and not too many."""

    @given(
        st.lists(
            st.sampled_from(
                [
                    "A word.",
                    " no. 5 ",
                    "So?!",
                    "\n",
                    "\n\n",
                    ".\n",
                    "文。",
                    "…",
                    "long enough to stay",
                ]
            ),
            max_size=90,
        ).map("".join)
    )
    def test_one_is_found_without_reading_the_rest(self, text: str) -> None:
        """The sentence at a place is that of all sentences, however much of the text is read."""
        cut = sentences(text)
        assert [sentence_at(text, place) for place in range(len(cut))] == cut
        assert sentence_at(text, len(cut)) is None

    def test_sentences_and_lines(self) -> None:
        """A full stop and a line end both end a sentence, in any script."""
        text = (
            "The hive stands in the shade. Is it dry below? Yes!\n"
            "Зимой улей утепляют сверху, а не снизу.\n"
            "蜂箱应该放在阴凉的地方，避免阳光直射，保持通风和干燥。冬天要在上面加盖保温材料，防止冷凝水滴落到蜂群上。"
        )
        assert sentences(text) == [
            "The hive stands in the shade.",
            "Is it dry below? Yes! Зимой улей утепляют сверху, а не снизу.",
            "蜂箱应该放在阴凉的地方，避免阳光直射，保持通风和干燥。",
            "冬天要在上面加盖保温材料，防止冷凝水滴落到蜂群上。",
        ]

    def test_a_short_end_joins_what_is_before_it(self) -> None:
        """A last word alone is no sentence."""
        assert sentences("A sentence that is long enough to stand.\nOr so.") == [
            "A sentence that is long enough to stand. Or so."
        ]

    @pytest.mark.parametrize(
        "kept",
        [
            "Dr. Smith paid 3.5 pounds for the old wooden boat, e.g. in cash.",
            "Ask Mr. Jones, i.e. the boss of the yard, about release 1.2.3 of it.",
            "See vol. 2 and fig. 7 of the book by J. R. Hartley on fly fishing.",
            "Купил у А. С. Пушкина за 3,5 тыс. руб. старую лодку, и т. д. без конца.",
            "Die Kiste, z.B. aus Holz, wiegt ca. 3 Kilo und steht im Keller.",
        ],
    )
    def test_abbreviations_initials_and_decimals(self, kept: str) -> None:
        """A full stop inside a sentence does not end it."""
        before, after = "The one before it is a sentence.", "Another one follows after it, too."
        assert sentences(f"{before} {kept} {after}") == [before, kept, after]

    def test_items_of_lists(self) -> None:
        """Items of a list are apart, and the number of one is no sentence."""
        items = ["- one item of a list that is long", "2. Numbered, and long enough, too"]
        assert sentences("\n".join(items)) == items

    @given(st.text(alphabet="ab .!?\n。", max_size=3000))
    def test_nothing_is_lost(self, text: str) -> None:
        """All words are there in order, in at most 24 sentences."""
        found = sentences(text)
        assert "".join("".join(found).split()) == "".join(text.split())
        assert len(found) <= 24

    def test_each_stands_under_the_breadcrumb(self) -> None:
        """What is embedded for a sentence says which note and section it is from."""
        text = "The first one is about queens. The second one is about *drones*."
        assert embedded_sentences("Bees", ("Castes",), text) == [
            "Bees > Castes\n\nThe first one is about queens.",
            "Bees > Castes\n\nThe second one is about drones.",
        ]

    def test_a_single_sentence_is_its_passage(self) -> None:
        """It is not embedded a second time."""
        assert embedded_sentences("Bees", (), "One sentence that says it all.") == []


class TestCodes:
    """Four bits a number are enough to find the nearest sentence."""

    def test_an_eighth_of_the_room(self) -> None:
        """512 numbers take 256 bytes."""
        assert len(coded(np.eye(3, 512, dtype=np.float32))) == 3 * 256

    def test_the_nearest_sentence_of_each_passage(self) -> None:
        """Similarities are those of the vectors, but for rounding; none is not a number."""
        random = np.random.default_rng(7)
        rows = random.normal(size=(7, 512)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        query = rows[5]
        found, _ = nearest_sentences([coded(rows[:3]), b"", coded(rows[3:])], query)
        assert np.isnan(found[1])
        assert found[0] == pytest.approx(float((rows[:3] @ query).max()), abs=0.03)
        assert found[2] == pytest.approx(1.0, abs=0.03)

    def test_which_sentence_is_nearest(self) -> None:
        """The place of the best sentence within its passage, the first of equals, -1 for none."""
        codes = [coded(np.stack([Y, X, X])), b"", coded(np.stack([X, Y]))]
        assert nearest_sentences(codes, X)[1] == [1, -1, 0]
        assert nearest_sentences(codes, Y)[1] == [0, -1, 1]
        assert nearest_sentences([b""], X)[1] == [-1]

    def test_a_silent_one_is_never_the_nearest(self) -> None:
        """Not even where every other one points away from the query."""
        codes = silent(4) + coded(np.stack([-X])) + silent(4)
        best, which = nearest_sentences([codes, coded(np.stack([X]))], X)
        assert which == [1, 0]
        assert best[0] < -0.9

    def test_no_sentences_at_all(self) -> None:
        """Passages without sentences are told as such."""
        assert np.isnan(nearest_sentences([b"", b""], X)[0]).all()

    @pytest.mark.parametrize(("policy", "part"), [("none", None), ("0:512", slice(0, 512))])
    def test_the_space_says_where_they_are(self, policy: str, part: slice | None) -> None:
        """The dimensions of sentences are part of the space's identity."""
        assert sentence_part(replace(space(), sentences=policy)) == part


@pytest.fixture
def store(tmp_path: Path) -> Stores:
    """An empty store."""
    opened = open_stores(tmp_path / "x.db")
    opened.documents.apply(PutCollection(Collection("notes")))
    return opened


class TestLane:
    """The dense lane looks closer at what it found."""

    def test_passages_order_and_sentences_are_told(self, store: Stores) -> None:
        """The nearest passage ranks; the nearest sentence and the mean of all are features."""
        whole, part = prepared("whole", "ant"), prepared("part", "bee")
        put(store, whole, part)
        generation = store.vectors.open_generation(replace(space(), sentences="0:4"))
        embed(store, generation.number, whole, unit(0.7, 0.51**0.5, 0, 0))
        chunk = part.chunks[0]
        codes = coded(np.stack([Y, X]))
        new = NewVector(chunk.content_hash, unit(0.6, 0.8, 0, 0), codes)
        store.vectors.add(generation.number, [new])
        lane = DenseLane(store.vectors, generation, X, Scope(), Usual(0.1, 0.5))
        found = lane.candidates(9)
        assert [(one.id, one.ranks) for one in found] == [
            ("whole", {Lane.DENSE: 1}),
            ("part", {Lane.DENSE: 2}),
        ]
        rounded = 4 * 0.02 * (512 / 4) ** 0.5
        told = {feature: round(value, 2) for feature, value in found[1].features.items()}
        assert told == {
            Feature.PASSAGE: round((0.6 - 0.1) / 0.5, 2),
            Feature.SENTENCE: round((rounded - 0.1) / 0.5, 2),
            Feature.DOCUMENT: round((0.6 - 0.1) / 0.5, 2),
        }
        # A passage without sentences is its own nearest sentence.
        assert found[0].features[Feature.SENTENCE] == found[0].features[Feature.PASSAGE]
        assert found[1].sentence == 1

    def test_measures_what_other_lanes_found(self, store: Stores) -> None:
        """A candidate that meaning did not bring gets its features; one without vectors none."""
        near, far, bare = prepared("near", "ant"), prepared("far", "bee"), prepared("bare", "cat")
        put(store, near, far, bare)
        generation = store.vectors.open_generation(space())
        embed(store, generation.number, near, X)
        embed(store, generation.number, far, Y)
        lane = DenseLane(store.vectors, generation, X, Scope(), Usual(0.0, 1.0))
        candidates = [*lane.candidates(1), Candidate("far"), Candidate("bare")]
        lane.measure(candidates)
        similarities = [one.features.get(Feature.PASSAGE) for one in candidates]
        assert similarities == [1.0, 0.0, None]
        assert [one.similarity for one in candidates] == [1.0, 0.0, None]


class ReadingEmbedder(HashingEmbedder):
    """The hashing embedder with sentences, which it can be told to get wrong."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__()
        self.read: list[str] = []
        self._broken = broken

    @property
    def space(self) -> Space:
        """The same space with sentences in all of its dimensions."""
        plain = super().space
        return replace(plain, sentences=f"0:{plain.dimensions}")

    def embed_sentences(self, texts: Sequence[str]) -> Matrix:
        """What the passages' method says, or an error."""
        if self._broken:
            raise EmbedderError("cannot read")
        self.read += texts
        return self.embed_passages(texts)


class TogetherEmbedder(ReadingEmbedder):
    """The same, reading passages along with their sentences."""

    calls = 0

    def embed_together(
        self, texts: Sequence[str], sentences: Sequence[Sequence[str]]
    ) -> tuple[Matrix, Matrix]:
        """What the other two methods say."""
        self.calls += 1
        read = [one for each in sentences for one in each]
        return self.embed_passages(texts), self.embed_sentences(read)


TWO = "The first sentence is about ants. The second sentence is about bees."


class TestPipeline:
    """Sentences are embedded along with their passage."""

    def test_stored_with_the_vector(self, store: Stores) -> None:
        """A passage that is ready has its sentences; a space without them asks for none."""
        embedder = ReadingEmbedder()
        put(store, prepared("a", TWO), prepared("b", "One."))
        filled = fill(store, embedder)
        assert (filled.embedded, len(embedder.read)) == (2, 2)
        asked = embedder.embed_query("bees")
        found = store.vectors.nearest(
            filled.generation, asked, Scope(), limit=9, floor=-1, detail=1
        )
        width = embedder.space.dimensions // 2
        held = {one.id: len(one.chunks[0].sentences) // width for one in found}
        assert held == {"a": 2, "b": 0}

    def test_read_along_with_the_passage(self, store: Stores, tmp_path: Path) -> None:
        """An embedder that reads passages and sentences at once fills the store like any other."""
        apart, together = ReadingEmbedder(), TogetherEmbedder()
        other = open_stores(tmp_path / "other.db")
        other.documents.apply(PutCollection(Collection(COLLECTION)))
        documents = [prepared("a", TWO), prepared("b", "One."), prepared("c", TWO + " Third one.")]
        held = []
        for each, embedder in ((store, apart), (other, together)):
            put(each, *documents)
            number = fill(each, embedder).generation
            found = each.vectors.get(number, ["a", "b", "c"])
            held.append(
                {id: [(one.vector.tolist(), one.sentences) for one in found[id]] for id in found}
            )
        other.maintenance.close()
        assert together.calls == 1
        assert sorted(together.read) == sorted(apart.read)
        assert held[0] == held[1]
        assert len(held[0]) == 3

    def test_a_failure_is_the_passages(self, store: Stores) -> None:
        """A passage whose sentences cannot be embedded has failed, and is not half there."""
        put(store, prepared("a", TWO), prepared("b", "One."))
        filled = fill(store, ReadingEmbedder(broken=True))
        assert (filled.embedded, filled.failed) == (1, 1)
        failed = store.queue.progress(filled.generation, detail=True).failures
        assert {id: one.reason for id, one in failed.items()} == {"a": "cannot read"}
