"""Two runs side by side: what changed, how surely, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.run_builders import GOLDEN, PERFECT, run_of
from twolane.evaluation.comparing import circumstances, compare, passes
from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.model.errors import BadInput

WORSE = {**PERFECT, "q1": ("c.md", "a.md", "b.md"), "q2": ("a.md", "b.md")}


def test_the_delta_is_that_of_the_means() -> None:
    """Before, after, difference and interval belong together."""
    found = compare(run_of(WORSE), run_of(), "mrr")
    assert found.before == pytest.approx((0.5 + 0 + 1) / 3)
    assert found.after == 1.0
    assert found.delta == pytest.approx(found.interval.estimate)
    assert found.interval.low <= found.delta <= found.interval.high
    # Two of three queries changed the same way: 2 of the 8 exchanges, and each counts on two sides.
    assert found.p == pytest.approx(0.5)


def test_what_changed_most_comes_first() -> None:
    """Better and worse queries are apart, the largest change first, the unchanged left out."""
    found = compare(run_of(), run_of(WORSE), "mrr")
    assert [change.id for change in found.worse] == ["q2", "q1"]
    assert found.better == ()
    turned = compare(run_of(WORSE), run_of(), "mrr")
    assert [change.id for change in turned.better] == ["q2", "q1"]
    assert len(turned.changes) == 2


def test_why_a_query_changed() -> None:
    """A change tells where the right answers stood and stand, and why the first is there."""
    lost, moved = compare(run_of(), run_of(WORSE), "mrr").worse
    assert (moved.was_at, moved.now_at) == (1, 2)
    assert (moved.ranks_before, moved.ranks_after) == ((1, 2), (2, 3))
    assert moved.was is not None and moved.was.path == "a.md"
    assert moved.now is not None and moved.now.shares["bm25f"] == 1.0
    assert (lost.was_at, lost.now_at, lost.now, lost.ranks_after) == (1, None, None, ())


def test_references_are_spelt_as_golden_sets_spell_them() -> None:
    """An answer that is named as a page of a site is recognised by its path."""
    golden = GoldenSet("site", queries=(GoldenQuery("q", "x", relevant=("/c",)),))
    before = run_of({"q": ("a.md", "c.md")}, golden=golden)
    after = run_of({"q": ("c.md", "a.md")}, golden=golden)
    (change,) = compare(before, after, "mrr").better
    assert (change.was_at, change.now_at) == (2, 1)


def test_only_like_is_compared_with_like() -> None:
    """Other queries, other judgments and nothing to score are refused."""
    fewer = replace(GOLDEN, queries=GOLDEN.queries[:2])
    with pytest.raises(BadInput, match="different queries"):
        compare(run_of(), run_of(golden=fewer))
    judged = replace(GOLDEN.queries[0], relevant=("a.md",))
    other = replace(GOLDEN, queries=(judged, *GOLDEN.queries[1:]))
    with pytest.raises(BadInput, match="other judgments"):
        compare(run_of(), run_of(golden=other))
    nothing = GoldenSet("u", queries=(GoldenQuery("u", "u", unanswerable=True),))
    with pytest.raises(BadInput, match="no answerable query"):
        compare(run_of({"u": ()}, golden=nothing), run_of({"u": ()}, golden=nothing))


def test_the_gate_is_as_wide_as_its_tolerance() -> None:
    """A loss passes up to the tolerance and not beyond; a gain always passes."""
    lost = compare(run_of(), run_of(WORSE), "mrr")
    assert lost.delta == pytest.approx(-0.5)
    assert passes(lost, 0.51) and not passes(lost, 0.49)
    assert passes(compare(run_of(WORSE), run_of(), "mrr"), 0.0)
    assert passes(compare(run_of(), run_of()), 0.0)


def test_circumstances_name_what_differs() -> None:
    """Settings, mode, space, notes, commit and machine are told if they differ, else not."""
    before = run_of()
    assert circumstances(before, run_of()) == []
    after = run_of(
        mode="semantic",
        settings={"ranking.rrf_k": 2.5, "index.languages": ["en", "ru"]},
        commit=None,
        machine={"system": "Linux", "processor": "x86_64", "cores": 8},
    )
    assert circumstances(before, after) == [
        ("mode", "hybrid", "semantic"),
        ("commit", "abc1234", "(none)"),
        ("ranking.rrf_k", "60", "2.5"),
        ("embedding.embedder", "hashing", "(none)"),
        ("index.languages", "(none)", "en, ru"),
        ("cores", "2", "8"),
    ]
