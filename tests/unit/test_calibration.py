"""Calibration: thresholds, and what they are made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.small_sets import NOTES, QUERIES, quick, small_set
from twolane import Library
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.evaluation import calibration as module
from twolane.evaluation.calibration import (
    Sample,
    calibrate,
    histogram,
    keeping,
    open_settings,
    quantile,
    sample,
    save_calibration,
    separating,
    thresholds,
)
from twolane.evaluation.indexes import bench
from twolane.model.errors import BadInput, EmbedderUnavailable

SIMILARITIES = st.lists(st.floats(-1, 1), min_size=1, max_size=30)
SPACE = HashingEmbedder().space


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """The small vault under the settings that calibration needs."""
    file, golden = small_set(tmp_path)
    with bench(golden, file, open_settings(quick()), tmp_path / "kept") as opened:
        yield opened


class TestThresholds:
    """Where to cut."""

    def test_a_clean_gap_is_found(self) -> None:
        """Between two heaps the cut keeps all of one and none of the other."""
        best = separating(thresholds([0.5, 0.6, 0.7], [-0.1, 0.0, 0.2]))
        assert (best.similarity, best.recall, best.false_positives, best.j) == (0.5, 1.0, 0.0, 1.0)

    def test_an_overlap_is_weighed(self) -> None:
        """Where the heaps overlap the cut is where the difference of the shares is largest."""
        best = separating(thresholds([0.1, 0.5, 0.6, 0.7], [0.0, 0.1, 0.2, 0.55]))
        assert (best.similarity, best.recall, best.false_positives) == (0.5, 0.75, 0.25)

    def test_among_equals_the_lowest(self) -> None:
        """Two cuts that separate alike: the one that keeps more is proposed."""
        best = separating(thresholds([0.2, 0.4], [0.1, 0.3]))
        assert best.similarity == 0.2

    @given(SIMILARITIES, SIMILARITIES)
    def test_rates_are_what_they_say(self, relevant: list[float], irrelevant: list[float]) -> None:
        """The shares at a threshold are those of the pairs that reach it, and never rise."""
        curve = thresholds(relevant, irrelevant)
        for one in curve:
            reaching = sum(value >= one.similarity for value in relevant)
            assert one.recall == pytest.approx(reaching / len(relevant))
        assert curve[0].recall == curve[0].false_positives == 1.0
        assert [one.recall for one in curve] == sorted((one.recall for one in curve), reverse=True)

    @given(SIMILARITIES, SIMILARITIES, st.floats(0.01, 1))
    def test_a_share_is_kept(
        self, relevant: list[float], irrelevant: list[float], share: float
    ) -> None:
        """The careful threshold keeps the share, and the next higher one does not."""
        curve = thresholds(relevant, irrelevant)
        kept = keeping(curve, share)
        assert kept.recall >= share
        higher = [one for one in curve if one.similarity > kept.similarity]
        assert all(one.recall < share for one in higher)

    @pytest.mark.parametrize("share", [0.0, -1.0, 1.5])
    def test_an_impossible_share_is_refused(self, share: float) -> None:
        """Keeping nothing, or more than all, makes no sense."""
        with pytest.raises(BadInput, match="between 0 and 1"):
            keeping(thresholds([0.5], [0.1]), share)

    def test_what_was_not_looked_at_counts(self) -> None:
        """Documents too far down are part of the shares, below every threshold."""
        curve = thresholds([0.5], [0.1, 0.2], unseen=(1, 98))
        assert curve[0].recall == 0.5
        assert curve[0].false_positives == pytest.approx(0.02)

    @given(SIMILARITIES, SIMILARITIES)
    def test_the_histogram_counts_everything(
        self, relevant: list[float], irrelevant: list[float]
    ) -> None:
        """Every similarity is in one step, and steps adjoin."""
        found = histogram(relevant, irrelevant)
        assert sum(row[2] for row in found) == len(relevant)
        assert sum(row[3] for row in found) == len(irrelevant)
        assert all(one[1] == other[0] for one, other in pairwise(found))

    def test_quantiles_by_hand(self) -> None:
        """The median of an even number lies between the middle two."""
        assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
        assert (quantile([1.0, 2.0], 0.0), quantile([1.0, 2.0], 1.0)) == (1.0, 2.0)
        assert quantile([7.0], 0.99) == 7.0


def test_a_sample_sees_every_pair(library: Library, tmp_path: Path) -> None:
    """Each query meets each document once, with the similarity of its best passage."""
    _, golden = small_set(tmp_path)
    found = sample(golden, library)
    assert len(found.relevant) + len(found.irrelevant) == len(QUERIES) * len(NOTES)
    assert len(found.relevant) == sum(len(query.grades) for query in QUERIES)
    assert found.unseen == (0, 0)
    assert sum(found.relevant) / len(found.relevant) > 0.2
    assert abs(sum(found.irrelevant) / len(found.irrelevant)) < 0.1
    assert min(found.irrelevant) <= 0


def test_deep_libraries_are_counted_not_read(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond a depth documents are only counted; all pairs are still accounted for."""
    _, golden = small_set(tmp_path)
    monkeypatch.setattr(module, "DEEPEST", 2)
    found = sample(golden, library)
    assert len(found.relevant) + len(found.irrelevant) == 2 * len(QUERIES)
    assert len(found.relevant) + found.unseen[0] == sum(len(query.grades) for query in QUERIES)
    assert sum(found.unseen) == (len(NOTES) - 2) * len(QUERIES)


def test_a_calibration_proposes_a_sensible_threshold(library: Library, tmp_path: Path) -> None:
    """The threshold keeps most of what is relevant and little else."""
    _, golden = small_set(tmp_path)
    found = calibrate([sample(golden, library)])
    assert found.space == SPACE
    assert 0 < found.proposed.similarity < 0.5
    # Two of the nine relevant pairs cross languages, which this embedder cannot.
    assert found.proposed.recall == pytest.approx(7 / 9)
    assert found.proposed.false_positives < 0.1
    for one, share in zip(found.careful, (0.99, 0.95, 0.9), strict=True):
        assert one.recall >= share
    careful = calibrate(found.samples, keep=0.99)
    assert careful.proposed == found.careful[0]


def test_the_artefact_belongs_to_its_space(library: Library, tmp_path: Path) -> None:
    """What is stored names its space and the threshold, and no folder of this machine."""
    _, golden = small_set(tmp_path)
    found = calibrate([sample(golden, library)])
    path = save_calibration(found, tmp_path / "runs")
    stored = json.loads(path.read_text("utf-8"))
    assert stored["space"]["fingerprint"] == SPACE.fingerprint
    assert stored["proposed"]["similarity"] == found.proposed.similarity
    assert str(tmp_path) not in path.read_text("utf-8")


def test_different_spaces_do_not_mix() -> None:
    """Similarities of two models say nothing about each other."""
    one = Sample("a", 1, "", SPACE, (0.5,), (0.1,), (0, 0))
    with pytest.raises(BadInput, match="different spaces"):
        calibrate([one, replace(one, space=replace(SPACE, model="other"))])


def test_nothing_relevant_in_the_index_is_refused() -> None:
    """Without a relevant pair there is nothing to separate."""
    one = Sample("a", 1, "", SPACE, (), (0.1,), (0, 0))
    with pytest.raises(BadInput, match="relevant and irrelevant documents"):
        calibrate([one])


def test_without_vectors_there_is_nothing_to_calibrate(tmp_path: Path) -> None:
    """No embedder, or passages that wait for a vector, are named with what to do."""
    file, golden = small_set(tmp_path)
    by_words = open_settings(quick(embedding={"embedder": "none"}))
    with (
        bench(golden, file, by_words, tmp_path / "kept") as words,
        pytest.raises(EmbedderUnavailable, match="without vectors"),
    ):
        sample(golden, words)
    with bench(golden, file, open_settings(quick()), tmp_path / "kept") as library:
        (tmp_path / "vault" / "new.md").write_text("# New\n\nNot embedded yet.\n", "utf-8")
        library.index(tmp_path / "vault")
        with pytest.raises(BadInput, match="1 passages have no vector"):
            sample(golden, library)
