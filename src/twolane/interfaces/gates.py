"""The gate that a golden set is: new vectors must answer it as well as those that serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twolane.embedding.pipeline.switching import Verdict
from twolane.evaluation.comparing import compare, passes
from twolane.evaluation.golden import Names, validate
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.runs import run_golden
from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.embedding.pipeline.switching import Gate
    from twolane.evaluation.golden import GoldenSet
    from twolane.library import Library
    from twolane.model.space import Generation

# What a ranking is judged by, here and in `twolane eval gate`.
MEASURE = "ndcg@10"


def golden_gate(library: Library, path: Path, tolerance: float) -> Gate:
    """A gate that asks both generations every query of the golden set.

    A mistake in the set is told at once, before anything is embedded.
    """
    golden = _checked(library, path)
    return lambda candidate, serving: _judged(library, golden, tolerance, candidate, serving)


def guard_by_settings(library: Library) -> None:
    """Give the library the gate that its settings name, if they name one.

    The golden set is read when it is needed: months may pass until there are new vectors, and a
    note that is renamed meanwhile keeps nobody from searching.
    A set that cannot be used then lets nothing through.
    """
    path, tolerance = library.settings.embedding.gate, library.settings.embedding.gate_tolerance
    if path is None:
        return

    def judge(candidate: Generation, serving: Generation) -> Verdict:
        try:
            golden = _checked(library, path)
        except BadInput as error:
            return Verdict(False, str(error))
        return _judged(library, golden, tolerance, candidate, serving)

    library.guard(judge)


def gate_problem(library: Library) -> str | None:
    """Why the gate of the settings could let nothing through now; None if it could."""
    if library.settings.embedding.gate is None:
        return None
    try:
        _checked(library, library.settings.embedding.gate)
    except BadInput as error:
        return str(error)
    return None


def _checked(library: Library, path: Path) -> GoldenSet:
    golden = load_golden(path)
    validate(golden, Names(library).known())
    return golden


def _judged(
    library: Library,
    golden: GoldenSet,
    tolerance: float,
    candidate: Generation,
    serving: Generation,
) -> Verdict:
    with (
        library.answering_from(serving.number) as old,
        library.answering_from(candidate.number) as new,
    ):
        found = compare(run_golden(golden, old), run_golden(golden, new), MEASURE)
    said = f"{MEASURE} {found.before:.3f} → {found.after:.3f} (tolerance {tolerance:g})"
    return Verdict(passes(found, tolerance), said)
