"""What may move a document after fusion: freshness, use, tags, and a floor for each kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from twolane import Library, Settings
from twolane.model.answer import Signal
from twolane.model.document import Kind
from twolane.model.draft import Draft

NOW = datetime.now(UTC)


def library(folder: Path, *drafts: Draft, **settings: object) -> Library:
    """A library by words alone, with these documents."""
    made = Library.open(
        settings=Settings(db=folder / "x.db", embedding={"embedder": "none"}).changed(**settings)
    )
    made.save_all(drafts)
    return made


def ids(found: Library, text: str, limit: int = 20) -> list[str]:
    """Ids of the results."""
    return [one.id for one in found.search(text, limit=limit).results]


@pytest.mark.parametrize(
    ("signal", "weight", "liked"),
    [
        (Signal.RECENCY, "ranking.recency_weight", {"updated": NOW}),
        (Signal.USE, "ranking.use_weight", {"used": NOW - timedelta(days=180)}),
        (Signal.USAGE, "ranking.usage_weight", {"uses": 10}),
        (Signal.TAGS, "ranking.tag_weight", {"tags": ("Tea",)}),
    ],
)
def test_a_signal_moves_what_it_speaks_for(
    tmp_path: Path, signal: Signal, weight: str, liked: dict[str, object]
) -> None:
    """Switched off it changes nothing; switched on it lifts a document, and the result says so."""
    old = {"updated": NOW - timedelta(days=3600)}
    drafts = [
        Draft("a", title="green tea", body="tea tea", **old),  # type: ignore[arg-type]
        Draft("b", title="about leaves", body="tea", **{**old, **liked}),  # type: ignore[arg-type]
    ]
    # A tag is also a field that the lexical lane reads, so only the score tells what it added.
    with library(tmp_path, *drafts) as plain:
        usual = {one.id: one.score for one in plain.search("tea").results}
        assert not any(one.boosts for one in plain.search("tea").results)
    with library(tmp_path, **{weight: 2.0}) as switched:
        found = {one.id: one for one in switched.search("tea").results}
        (boost,) = found["b"].boosts
        assert boost.signal == signal
        assert boost.value == pytest.approx(2.0 * boost.strength / (10 + 1))
        assert found["b"].score == pytest.approx(usual["b"] + boost.value)
        assert ids(switched, "tea")[0] == "b"
    expected = {Signal.RECENCY: 1.0, Signal.USE: 0.5, Signal.USAGE: 0.5, Signal.TAGS: 1.0}
    assert boost.strength == pytest.approx(expected[signal], abs=0.01)


def test_a_kind_is_not_crowded_out(tmp_path: Path) -> None:
    """A floor gives each kind that holds all words a place in the top, and no other kind one."""
    crowd = [
        Draft(f"b{number:04}", Kind.BOOKMARK, title=f"escrow account {number}", url=f"https://e.org/{number}")
        for number in range(300)
    ]  # fmt: skip
    notes = [
        Draft("note", title="the house", body="The notary holds the escrow account. " * 9),
        Draft("half", Kind.PROMPT, title="a prompt", body="About an account."),
    ]
    with library(tmp_path, *crowd, *notes, ranking={"kind_floor": 0}) as plain:
        assert "note" not in ids(plain, "escrow account")
    with library(tmp_path, ranking={"kind_floor": 1}) as floored:
        found = ids(floored, "escrow account")
        assert found.index("note") == 9
        assert "half" not in found
        assert len(found) == len(set(found)) == 20
        assert ids(floored, "escrow account", limit=3)[2] == "note"
        assert ids(floored, "escrow account kind:bookmark").count("note") == 0
        assert ids(floored, "escrow account", limit=1)[0].startswith("b")
