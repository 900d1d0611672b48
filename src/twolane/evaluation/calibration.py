"""Calibration: which similarity separates answers from the rest, in this space, on these notes.

It belongs to one embedding space; another model needs a calibration of its own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from twolane import BadInput, Candidate, EmbedderUnavailable, Library, Mode, Settings, Space
from twolane.evaluation.golden import GoldenQuery, GoldenSet, Names, as_references
from twolane.evaluation.runs import store_measurement
from twolane.model.scope import EVERYBODY

# Documents beyond this rank are less similar than a thousand others; they are only counted.
DEEPEST = 1_000

QUANTILES = (0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99)
FORMAT = "twolane-calibration/3"

# How much of what is relevant a more careful threshold keeps.
CAREFUL = (0.99, 0.95, 0.90)
_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """What a library says about the queries of one golden set.

    Similarities are those of the best passage of each document for each query.
    Documents too far down to be looked at are counted in `unseen` (relevant, irrelevant).
    """

    golden: str
    queries: int
    corpus: str
    space: Space
    relevant: tuple[float, ...]
    irrelevant: tuple[float, ...]
    unseen: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A similarity, and the shares of relevant and irrelevant pairs that reach it."""

    similarity: float
    recall: float
    false_positives: float

    @property
    def j(self) -> float:
        """Youden's J: how much better than chance it separates the two."""
        return self.recall - self.false_positives


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything that was found out about one space.

    `histogram` is rows of (from, to, relevant pairs, irrelevant pairs); `quantiles` rows of
    (share, relevant, irrelevant). `careful` are thresholds that keep more of what is relevant.
    """

    space: Space
    samples: tuple[Sample, ...]
    histogram: tuple[tuple[float, float, int, int], ...]
    quantiles: tuple[tuple[float, float, float], ...]
    proposed: Threshold
    careful: tuple[Threshold, ...]


def open_settings(settings: Settings) -> Settings:
    """The settings under which every document has its similarity, however low."""
    return settings.changed(search={"min_similarity": -1.0}, experiment={"dense_pool": 0})


def sample(
    golden: GoldenSet,
    library: Library,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sample:
    """Ask the library, which `open_settings` opened, everything that calibration needs."""
    space = complete_space(library, "similarities cannot be calibrated")
    names = names_by_id(library)
    documents = library.status().stats.documents
    depth = min(max(documents, 1), DEEPEST)
    relevant: list[float] = []
    irrelevant: list[float] = []
    unseen = [0, 0]
    for number, query in enumerate(golden.queries):
        far = _nearest(library.candidates(query.query, mode=Mode.SEMANTIC, limit=depth), depth)
        marks = _marks(query, far, names)
        for candidate, answers in zip(far, marks, strict=True):
            (relevant if answers else irrelevant).append(candidate.similarity or 0.0)
        if len(far) == DEEPEST:
            missed = sum(grade >= 1 for grade in query.grades.values()) - sum(marks)
            unseen[0] += missed
            unseen[1] += documents - DEEPEST - missed
        progress(number + 1, len(golden.queries))
    return Sample(
        golden=golden.name,
        queries=len(golden.queries),
        corpus=library.digest(),
        space=space,
        relevant=tuple(relevant),
        irrelevant=tuple(irrelevant),
        unseen=(unseen[0], unseen[1]),
    )


def complete_space(library: Library, cannot: str) -> Space:
    """The space of a library's vectors; an error that begins so if any is missing."""
    status = library.status()
    if status.generation is None or status.degraded:
        reasons = "; ".join(one.reason for one in status.degraded)
        raise EmbedderUnavailable(f"{cannot} without vectors: {reasons}")
    if status.progress.missing:
        raise BadInput(
            f"{cannot} while {status.progress.missing} passages have no vector; "
            "complete them with `twolane embed`"
        )
    return status.generation.space


def calibrate(samples: Sequence[Sample], *, keep: float | None = None) -> Calibration:
    """What the samples say; they must come from one space.

    The proposed threshold is where Youden's J is largest,
    or the highest that keeps the share `keep` of the relevant pairs.
    """
    spaces = {one.space for one in samples}
    if len(spaces) != 1:
        raise BadInput("the golden sets were asked in different spaces; calibrate one at a time")
    found = [value for one in samples for value in one.relevant]
    others = [value for one in samples for value in one.irrelevant]
    if not (found and others):
        raise BadInput(
            "no query has both relevant and irrelevant documents in the index; "
            "give golden sets whose documents are indexed"
        )
    curve = thresholds(
        found,
        others,
        unseen=(sum(one.unseen[0] for one in samples), sum(one.unseen[1] for one in samples)),
    )
    proposed = separating(curve) if keep is None else keeping(curve, keep)
    return Calibration(
        space=spaces.pop(),
        samples=tuple(samples),
        histogram=tuple(histogram(found, others)),
        quantiles=tuple((at, quantile(found, at), quantile(others, at)) for at in QUANTILES),
        proposed=proposed,
        careful=tuple(keeping(curve, share) for share in CAREFUL),
    )


def thresholds(
    relevant: Sequence[float], irrelevant: Sequence[float], *, unseen: tuple[int, int] = (0, 0)
) -> list[Threshold]:
    """Every threshold at which the rates change, the lowest first.

    They are rounded down to three digits: a setting that people can read, and still at or below
    the similarity that it stands for.
    """
    found, others = sorted(relevant), sorted(irrelevant)
    all_found, all_others = len(found) + unseen[0], len(others) + unseen[1]
    return [
        Threshold(at, _reaching(found, at) / all_found, _reaching(others, at) / all_others)
        for at in sorted({math.floor(value * 1000) / 1000 for value in (*found, *others)})
    ]


def separating(curve: Sequence[Threshold]) -> Threshold:
    """The threshold with the largest J; among equals the lowest, which keeps more.

    W. J. Youden, Index for rating diagnostic tests, Cancer 3(1), 1950.
    """
    return max(curve, key=lambda one: (round(one.j, 12), -one.similarity))


def keeping(curve: Sequence[Threshold], share: float) -> Threshold:
    """The highest threshold that at least this share of the relevant pairs reach."""
    if not 0 < share <= 1:
        raise BadInput(
            f"a share of {share:g} cannot be kept; use one between 0 and 1, such as 0.99"
        )
    enough = [one for one in curve if one.recall >= share]
    return enough[-1] if enough else curve[0]


def histogram(
    relevant: Sequence[float], irrelevant: Sequence[float]
) -> list[tuple[float, float, int, int]]:
    """Both kinds counted in steps of .05 between the lowest and the highest similarity."""
    first = math.floor(min(*relevant, *irrelevant) / _STEP)
    last = math.floor(max(*relevant, *irrelevant) / _STEP)
    counts = {number: [0, 0] for number in range(first, last + 1)}
    for kind, values in enumerate((relevant, irrelevant)):
        for value in values:
            counts[math.floor(value / _STEP)][kind] += 1
    return [
        (round(number * _STEP, 2), round((number + 1) * _STEP, 2), found, others)
        for number, (found, others) in counts.items()
    ]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies, between neighbours by their distance."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def names_by_id(library: Library) -> Mapping[str, str]:
    """What golden sets call the documents of a library, by their ids."""
    names = Names(library)
    return {document.id: names.of(document) for document in library.documents(scope=EVERYBODY)}


def _nearest(candidates: Sequence[Candidate], depth: int) -> list[Candidate]:
    """The candidates that meaning brought, by similarity: the ranking looks at more than that."""
    brought = [one for one in candidates if one.similarity is not None]
    return sorted(brought, key=lambda one: (-(one.similarity or 0.0), one.id))[:depth]


def _marks(
    query: GoldenQuery, candidates: Sequence[Candidate], names: Mapping[str, str]
) -> list[bool]:
    """Whether each candidate is relevant."""
    grades = query.grades
    paths = as_references([names[candidate.id] for candidate in candidates], grades)
    return [grades.get(path, 0) >= 1 for path in paths]


def _reaching(ordered: Sequence[float], at: float) -> int:
    return len(ordered) - bisect_left(ordered, at)


# ------------------------------------------------------------------------------- files


def save_calibration(calibration: Calibration, folder: Path) -> Path:
    """Write the calibration into the folder under a name of its own."""
    label = f"calibration-{calibration.space.embedder}"
    return store_measurement(folder, label, FORMAT, as_json(calibration), indent=1)


def as_json(calibration: Calibration) -> dict[str, Any]:
    """What was found, in plain values."""
    space = calibration.space
    return {
        "space": {
            "fingerprint": space.fingerprint,
            "embedder": space.embedder,
            "model": space.model,
            "revision": space.revision,
            "dimensions": space.dimensions,
        },
        "sets": [
            {
                "name": one.golden,
                "queries": one.queries,
                "corpus": one.corpus,
                "relevant_pairs": len(one.relevant) + one.unseen[0],
                "irrelevant_pairs": len(one.irrelevant) + one.unseen[1],
                "unseen": list(one.unseen),
            }
            for one in calibration.samples
        ],
        "histogram": [
            {"from": low, "to": high, "relevant": found, "irrelevant": others}
            for low, high, found, others in calibration.histogram
        ],
        "quantiles": [
            {"share": share, "relevant": round(found, 6), "irrelevant": round(others, 6)}
            for share, found, others in calibration.quantiles
        ],
        "proposed": _threshold(calibration.proposed),
        "careful": [_threshold(one) for one in calibration.careful],
    }


def _threshold(one: Threshold) -> dict[str, float]:
    return {**asdict(one), "j": one.j}
