"""What a floor for each kind is worth, on notes among a thousand bookmarks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library, Settings
from twolane.evaluation.golden_formats import load_golden
from twolane.model.document import Kind
from twolane.model.draft import Draft

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CROWD = 1000


def hits(library: Library, queries: dict[str, str]) -> float:
    """The share of queries whose answer is among the first ten."""
    found = sum(
        answer in {one.path or one.id for one in library.search(text, limit=10).results}
        for text, answer in queries.items()
    )
    return found / len(queries)


@pytest.mark.slow
def test_the_default_is_what_the_mixed_set_says(tmp_path: Path) -> None:
    """Notes are lost in a crowd of bookmarks with the same words, and a floor brings them back.

    Bookmarks that are looked for themselves lose nothing by it.
    """
    golden = load_golden(BENCHMARKS / "golden" / "lexical.dev.json").queries
    notes = {one.query: next(iter(one.relevant)) for one in golden if one.relevant}
    dice = random.Random(7)
    texts = list(notes)
    crowd = [
        Draft(
            f"b{number}",
            Kind.BOOKMARK,
            title=f"{texts[number % len(texts)]} page {number}",
            url=f"https://example.org/{number}",
            description=" ".join(dice.sample(texts, 2)),
        )
        for number in range(CROWD)
    ]
    own = {f"{one.title}": one.id for one in dice.sample(crowd, 60)}
    shares: dict[int, tuple[float, float]] = {}
    for floor in (0, 1):
        with open_library(tmp_path / "x.db", "none", ranking={"kind_floor": floor}) as library:
            if not floor:
                library.index(BENCHMARKS / "vaults" / "desk")
                library.save_all(crowd)
            shares[floor] = hits(library, notes), hits(library, own)
    assert shares[1][0] > shares[0][0] + 0.1
    assert shares[1][1] >= shares[0][1]
    assert Settings().ranking.kind_floor == 1
