"""The gate that a golden set is: new vectors must answer it as well as those that serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twolane.evaluation.comparing import compare, passes
from twolane.evaluation.golden import load_golden, validate
from twolane.evaluation.naming import Names
from twolane.evaluation.running import run_golden
from twolane.pipeline.switching import Verdict

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model import Generation
    from twolane.pipeline.switching import Gate

# What a ranking is judged by, here and in `twolane eval gate`.
MEASURE = "ndcg@10"


def golden_gate(library: Library, path: Path, tolerance: float) -> Gate:
    """A gate that asks both generations every query of the golden set.

    A mistake in the set is told at once, before anything is embedded.
    """
    golden = load_golden(path)
    validate(golden, Names(library).known())

    def judge(candidate: Generation, serving: Generation) -> Verdict:
        with (
            library.answering_from(serving.number) as old,
            library.answering_from(candidate.number) as new,
        ):
            found = compare(run_golden(golden, old), run_golden(golden, new), MEASURE)
        passed = passes(found, tolerance)
        said = f"{MEASURE} {found.before:.3f} → {found.after:.3f} (tolerance {tolerance:g})"
        return Verdict(passed, said)

    return judge
