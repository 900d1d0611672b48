"""Calibration: what a similarity means in this space, on these notes.

Which similarity separates answers from the rest, and how likely a result with given features is
relevant. Both belong to one embedding space; another model needs a calibration of its own.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twolane import Answer, BadInput, EmbedderUnavailable, Library, Mode, Settings, Space, digest
from twolane.evaluation.files import store_new, write_text
from twolane.evaluation.fitting import Reliability, fit_logistic, reliability
from twolane.evaluation.golden import GoldenQuery, GoldenSet, Names, as_references
from twolane.evaluation.indexes import ranking_code
from twolane.evaluation.metrics import auroc
from twolane.evaluation.runs import DEPTH, machine
from twolane.model.answer import Signs
from twolane.ranking.relevance import Fit, Logistic, SpaceFits, fit_json, fits_text
from twolane.ranking.relevance_files import fits_in

# Documents beyond this rank are less similar than a thousand others; they are only counted.
DEEPEST = 1_000

QUANTILES = (0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99)
FORMAT = "twolane-calibration/2"

# How much of what is relevant a more careful threshold keeps.
CAREFUL = (0.99, 0.95, 0.90)
FOLDS = 5
# Of the queries that were answered, so many may be called unanswerable: what is wrongly called so
# is still shown, and a stricter bound would let most queries without an answer pass.
WRONGLY_DOUBTED = 0.05
_STEP = 0.05

# What an answer may rest on; a lane that cannot run leaves the other one alone.
BASES = (Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL)


@dataclass(frozen=True, slots=True)
class Judged:
    """A result as it would be shown, and whether it is relevant to its query."""

    query: str
    signs: Signs
    relevant: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """What a library says about the queries of one golden set.

    Similarities are those of the best passage of each document for each query.
    Documents too far down to be looked at are counted in `unseen` (relevant, irrelevant).
    `judged` are the results by the lanes that gave them: both, meaning alone, words alone.
    """

    golden: str
    queries: int
    corpus: str
    space: Space
    relevant: tuple[float, ...]
    irrelevant: tuple[float, ...]
    unseen: tuple[int, int]
    judged: Mapping[Mode, tuple[Judged, ...]]


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
class Rated:
    """A way to rate results, with what it was worth on queries that it was not fitted on.

    `answerable` is the chance that the best rating of a query that was answered is higher than
    that of one that was not; None where there are not both kinds.
    """

    name: str
    reliability: Reliability
    answerable: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything that was found out about one space.

    `histogram` is rows of (from, to, relevant pairs, irrelevant pairs); `quantiles` rows of
    (share, relevant, irrelevant). `careful` are thresholds that keep more of what is relevant.
    `rated` are all fits that were tried on results of both lanes, then the logistic ones for a
    lane alone; `fits` and `lexical` are made from all queries, the latter None where words alone
    found too little that is irrelevant.
    """

    space: Space
    samples: tuple[Sample, ...]
    histogram: tuple[tuple[float, float, int, int], ...]
    quantiles: tuple[tuple[float, float, float], ...]
    proposed: Threshold
    careful: tuple[Threshold, ...]
    rated: tuple[Rated, ...]
    fits: SpaceFits
    lexical: Fit | None


def open_settings(settings: Settings) -> Settings:
    """The settings under which every document has its similarity, however low."""
    return settings.changed(search={"min_similarity": -1.0}, experiment={"dense_pool": 0})


def sample(
    golden: GoldenSet,
    library: Library,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sample:
    """Ask the library, which `open_settings` opened, everything that calibration needs."""
    status = library.status()
    if status.generation is None or status.degraded:
        reasons = [one.reason for one in status.degraded]
        raise EmbedderUnavailable(
            f"similarities cannot be calibrated without vectors: {'; '.join(reasons)}"
        )
    if status.progress.pending or status.progress.failed:
        raise BadInput(
            f"{status.progress.pending + status.progress.failed} passages have no vector yet; "
            "complete them with `twolane embed`, then calibrate"
        )
    names = Names(library)
    depth = min(max(status.stats.documents, 1), DEEPEST)
    relevant: list[float] = []
    irrelevant: list[float] = []
    unseen = [0, 0]
    judged: dict[Mode, list[Judged]] = {mode: [] for mode in BASES}
    for number, query in enumerate(golden.queries):
        far = library.search(query.query, mode=Mode.SEMANTIC, limit=depth)
        _require_dense(far)
        marks = _marks(query, far, names)
        for result, answers in zip(far.results, marks, strict=True):
            similarity = result.contributions[0].score
            if similarity is not None:
                (relevant if answers else irrelevant).append(similarity)
        if len(far.results) == DEEPEST:
            missed = sum(grade >= 1 for grade in query.grades.values()) - sum(marks)
            unseen[0] += missed
            unseen[1] += status.stats.documents - DEEPEST - missed
        for mode in BASES:
            judged[mode] += _judged(golden, query, library, names, mode)
        progress(number + 1, len(golden.queries))
    return Sample(
        golden=golden.name,
        queries=len(golden.queries),
        corpus=library.digest(),
        space=status.generation.space,
        relevant=tuple(relevant),
        irrelevant=tuple(irrelevant),
        unseen=(unseen[0], unseen[1]),
        judged={mode: tuple(rows) for mode, rows in judged.items()},
    )


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
    judged = {mode: [row for one in samples for row in one.judged[mode]] for mode in BASES}
    hybrid, semantic = fitted(judged[Mode.HYBRID]), fitted(judged[Mode.SEMANTIC])
    lexical = _fitted_by_words(judged[Mode.LEXICAL])
    space = spaces.pop()
    return Calibration(
        space=space,
        samples=tuple(samples),
        histogram=tuple(histogram(found, others)),
        quantiles=tuple((at, quantile(found, at), quantile(others, at)) for at in QUANTILES),
        proposed=proposed,
        careful=tuple(keeping(curve, share) for share in CAREFUL),
        rated=(
            *compared(judged[Mode.HYBRID]),
            Rated(Mode.SEMANTIC.value, *semantic[1:]),
            *([Rated(Mode.LEXICAL.value, *lexical[1:])] if lexical else []),
        ),
        fits=SpaceFits(
            fingerprint=space.fingerprint,
            embedder=space.embedder,
            model=space.model,
            hybrid=hybrid[0],
            semantic=semantic[0],
        ),
        lexical=lexical[0] if lexical else None,
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


def compared(judged: Sequence[Judged]) -> list[Rated]:
    """Ways to rate results, each worth what it is on queries that it has not seen.

    The base rate, one number for all results, shows what knowing nothing is worth.
    """
    relevant = [row.relevant for row in judged]
    share = sum(relevant) / max(1, len(relevant))
    ratings = {
        "base rate": [share] * len(judged),
        "logistic": cross_predicted(judged, _logistic),
    }
    return [
        Rated(name, reliability(given, relevant), answered_auroc(judged, given))
        for name, given in ratings.items()
    ]


def fitted(judged: Sequence[Judged]) -> tuple[Fit, Reliability, float | None]:
    """The fit that searches use, made from all results, and what it is worth on unseen queries.

    Its threshold is the highest that doubts at most `WRONGLY_DOUBTED` of the answered queries.
    """
    given = cross_predicted(judged, _logistic)
    told = reliability(given, [row.relevant for row in judged])
    answered, _ = _best_ratings(judged, given)
    threshold = sorted(answered)[math.floor(WRONGLY_DOUBTED * len(answered))]
    return Fit(_logistic(judged), threshold), told, answered_auroc(judged, given)


def _fitted_by_words(judged: Sequence[Judged]) -> tuple[Fit, Reliability, float | None] | None:
    try:
        return fitted(judged)
    except BadInput:
        # On a few queries words alone may find nothing but what is relevant.
        return None


def cross_predicted(
    judged: Sequence[Judged],
    make: Callable[[Sequence[Judged]], Logistic],
    folds: int = FOLDS,
) -> list[float]:
    """What each result is rated by a fit that has seen no result of its query."""
    # By their digests the queries of one set or theme spread over the folds, each time alike.
    queries = sorted({row.query for row in judged}, key=digest)
    if len(queries) < folds:
        raise BadInput(
            f"{len(queries)} queries are too few to check a fit in {folds} parts; give more"
        )
    fold = {query: number % folds for number, query in enumerate(queries)}
    fits = [make([row for row in judged if fold[row.query] != one]) for one in range(folds)]
    return [fits[fold[row.query]].of(row.signs) for row in judged]


def answered_auroc(judged: Sequence[Judged], ratings: Sequence[float]) -> float | None:
    """How well the best rating of each query tells those with a relevant result from the rest."""
    answered, others = _best_ratings(judged, ratings)
    return auroc(answered, others) if answered and others else None


def _best_ratings(
    judged: Sequence[Judged], ratings: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The best rating of each query: of those with a relevant result, and of the others."""
    best: dict[str, float] = {}
    for row, rating in zip(judged, ratings, strict=True):
        best[row.query] = max(rating, best.get(row.query, 0.0))
    answered = {row.query for row in judged if row.relevant}
    return (
        [rating for query, rating in best.items() if query in answered],
        [rating for query, rating in best.items() if query not in answered],
    )


def _logistic(rows: Sequence[Judged]) -> Logistic:
    return fit_logistic([row.signs for row in rows], [row.relevant for row in rows])


def _judged(
    golden: GoldenSet, query: GoldenQuery, library: Library, names: Names, mode: Mode
) -> list[Judged]:
    """The results that a person would see."""
    answer = library.search(query.query, mode=mode, limit=DEPTH)
    _require_dense(answer)
    return [
        Judged(f"{golden.name} {query.id}", result.signs, answers)
        for result, answers in zip(answer.results, _marks(query, answer, names), strict=True)
        if result.signs is not None
    ]


def _marks(query: GoldenQuery, answer: Answer, names: Names) -> list[bool]:
    """Whether each result is relevant."""
    grades = query.grades
    paths = as_references([names.of(result) for result in answer.results], grades)
    return [grades.get(path, 0) >= 1 for path in paths]


def _require_dense(answer: Answer) -> None:
    if answer.degraded:
        first = answer.degraded[0]
        raise EmbedderUnavailable(f"{answer.query!r} was answered without vectors: {first.reason}")


def _reaching(ordered: Sequence[float], at: float) -> int:
    return len(ordered) - bisect_left(ordered, at)


# ------------------------------------------------------------------------------- files


def save_calibration(calibration: Calibration, folder: Path) -> Path:
    """Write the calibration into the folder under a name of its own."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    document = {
        "format": FORMAT,
        "created": created,
        "code": ranking_code(),
        "machine": dict(machine()),
        **as_json(calibration),
    }
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    label = f"calibration-{calibration.space.embedder}"
    return store_new(folder, label, created, lambda path: write_text(path, text))


def adopt(calibration: Calibration, file: Path) -> None:
    """Put the fits where searches find them, in place of those that the space had there."""
    fits = fits_in(file).with_space(calibration.fits, calibration.lexical)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, fits_text(fits))


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
                "results": len(one.judged),
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
        "reliability": {
            one.name: {**asdict(one.reliability), "answerable_auroc": one.answerable}
            for one in calibration.rated
        },
        "fits": {
            "hybrid": fit_json(calibration.fits.hybrid),
            "semantic": fit_json(calibration.fits.semantic),
            "lexical": fit_json(calibration.lexical) if calibration.lexical else None,
        },
    }


def _threshold(one: Threshold) -> dict[str, float]:
    return {**asdict(one), "j": one.j}
