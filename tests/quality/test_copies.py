"""What folding copies is worth, on a vault in which every note is there four times."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library, Mode
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.metrics import ndcg

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COPY = re.compile(r" \(copy \d\)(?=\.md$)")


def copied(vault: Path, folder: Path) -> Path:
    """The vault with three copies of each note, the later ones with a sentence more."""
    root = folder / vault.name
    shutil.copytree(vault, root)
    for file in sorted(root.rglob("*.md")):
        text = file.read_text("utf-8").rstrip()
        for number in range(3):
            added = "\n\nChecked again in spring." * number
            file.with_stem(f"{file.stem} (copy {number})").write_text(f"{text}{added}\n", "utf-8")
    return root


def quality(library: Library, golden: Path) -> float:
    """nDCG@10 of words alone, where a note that was shown before counts nothing."""
    scores = []
    for query in load_golden(golden).queries:
        found = library.search(query.query, mode=Mode.LEXICAL, limit=10).results
        shown: list[str] = []
        for one in found:
            path = COPY.sub("", one.path or "")
            # A copy takes its place and answers nothing.
            shown.append(one.id if path in shown else path)
        gains = {**dict.fromkeys(query.partial, 1), **dict.fromkeys(query.relevant, 2)}
        scores.append(ndcg(shown, gains, 10))
    return sum(scores) / len(scores)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["short", "long"])
def test_copies_cost_nothing(tmp_path: Path, name: str) -> None:
    """With copies of every note the answers are as good as without, and worse if not folded."""
    golden = BENCHMARKS / "golden" / f"{name}.dev.json"
    vault = BENCHMARKS / "vaults" / name
    found = {}
    for label, root in (("once", vault), ("copied", copied(vault, tmp_path))):
        for fold in (True, False):
            with open_library(
                tmp_path / f"{label}.db", "none", ranking={"fold_copies": fold}
            ) as library:
                library.index(root)
                found[label, fold] = quality(library, golden)
    assert found["once", True] == found["once", False]
    assert found["copied", True] == pytest.approx(found["once", True], abs=0.005)
    assert found["copied", False] < found["copied", True] - 0.02
