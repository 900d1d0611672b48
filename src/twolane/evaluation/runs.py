"""Runs: a golden set asked of a library, kept as an artefact, and what it comes to.

A run keeps the settings, the space, the corpus' digest, the commit, the machine,
and for each query the ranking with its contributions and its time,
so that any figure can be computed again, and any two runs compared, without running anything.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

import twolane
from twolane import Answer, BadInput, Library, Mode, Scope, Settings
from twolane.evaluation.files import read_artefact, store_new, write_text
from twolane.evaluation.golden import GoldenSet, Names, as_references
from twolane.evaluation.golden_formats import as_json, read_json
from twolane.evaluation.indexes import ranking_code
from twolane.evaluation.metrics import MEASURES, Table, auroc, tabulate
from twolane.evaluation.significance import Interval, mean_interval
from twolane.model.scope import EVERYBODY
from twolane.settings import OLD_NAMES

FORMAT = "twolane-run/1"

# Rankings are kept to this depth: beyond every usual cut-off, short enough to store.
DEPTH = 20

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a ranking; `shares` are what its features gave it, in log-odds."""

    path: str
    score: float
    relevance: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """One query as it was answered."""

    id: str
    ms: float
    ranking: tuple[Place, ...]
    answerable: bool | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a golden set through one configuration."""

    name: str
    golden: GoldenSet
    mode: str
    settings: Mapping[str, Any]
    asked: tuple[Asked, ...]
    created: str = ""
    space: str | None = None
    corpus: str = ""
    commit: str | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)
    megabytes: float | None = None

    def table(self, measures: Sequence[str] = MEASURES) -> Table:
        """What each query scored."""
        return tabulate(self.golden, self.rankings, measures)

    @property
    def rankings(self) -> dict[str, list[str]]:
        """Query id → documents, best first."""
        return {answer.id: [place.path for place in answer.ranking] for answer in self.asked}

    @property
    def milliseconds(self) -> list[float]:
        """How long each query took, in order."""
        return [answer.ms for answer in self.asked]


# ------------------------------------------------------------------------------- running


def run_golden(
    golden: GoldenSet,
    library: Library,
    *,
    name: str = "",
    mode: Mode = Mode.HYBRID,
    scope: Scope = EVERYBODY,
    depth: int = DEPTH,
    progress: Progress = lambda done, total: None,
) -> Run:
    """Ask the library every query of the set, in the scope, and keep `depth` results of each."""
    names = Names(library, scope=scope)
    if golden.queries:
        # The first search loads the model and the vectors, which is no part of a query's time.
        library.search(golden.queries[0].query, scope=scope, mode=mode, limit=depth)
    asked = []
    for number, query in enumerate(golden.queries):
        started = time.perf_counter()
        answer = library.search(query.query, scope=scope, mode=mode, limit=depth)
        asked.append(_asked(query.id, answer, names, (time.perf_counter() - started) * 1000))
        progress(number + 1, len(golden.queries))
    status = library.status(scope=scope)
    return Run(
        name=name or golden.name,
        golden=golden,
        mode=str(mode),
        settings=plain_settings(library.settings),
        asked=tuple(asked),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        space=status.generation.space.fingerprint if status.generation else None,
        corpus=library.digest(),
        commit=_commit(),
        machine=machine(),
        megabytes=_resident_megabytes(),
    )


def plain_settings(settings: Settings) -> Mapping[str, Any]:
    """The settings as JSON can hold them; places and secrets are nobody's business."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in settings.flat().items()
        if isinstance(value, str | int | float | tuple)
    }


def machine() -> Mapping[str, Any]:
    """What the run ran on."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "twolane": twolane.__version__,
    }


def _asked(id: str, answer: Answer, names: Names, ms: float) -> Asked:
    ranking = tuple(
        Place(
            names.of(result),
            result.score,
            result.relevance,
            {str(one.feature): round(one.share, 3) for one in result.contributions},
        )
        for result in answer.results
    )
    degraded = tuple(f"{degradation.lane}: {degradation.reason}" for degradation in answer.degraded)
    return Asked(id, round(ms, 3), ranking, answer.answerable, degraded)


def _commit() -> str | None:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - the user's own git
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() or None


def _resident_megabytes() -> float | None:
    """The most memory this process has held, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return round(peak / (1024 if platform.system() == "Linux" else 1024 * 1024), 1)


# ------------------------------------------------------------------------------- files


def save_run(run: Run, path: Path) -> None:
    """Write the run; the file is complete or absent."""
    document = {"format": FORMAT, **asdict(run), "golden": as_json(run.golden)}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def store_run(run: Run, folder: Path, *, label: str = "") -> Path:
    """Write the run into the folder under a name of its own; nothing is overwritten, ever.

    The name is `<label>-<mode>-<yyyymmdd-hhmmss>.json`; the label is the run's name by default.
    """
    stem = f"{(label or run.name).strip('/. ') or 'run'}-{run.mode}"
    return store_new(folder, stem, run.created, lambda path: save_run(run, path))


def store_measurement(
    folder: Path, label: str, format: str, content: Mapping[str, Any], *, indent: int | None = None
) -> Path:
    """Write a measurement under a name of its own, with the code and the machine that made it."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    document = {
        "format": format,
        "created": created,
        "code": ranking_code(),
        "machine": dict(machine()),
        **content,
    }
    text = json.dumps(document, ensure_ascii=False, indent=indent) + "\n"
    return store_new(folder, label, created, lambda path: write_text(path, text))


def write_trec(run: Run, ranking: Path, qrels: Path) -> None:
    """Write the run and its judgments for `trec_eval`; blanks in ids become `%20`.

    A rank, not the fused score, is what orders the documents of a run here.
    """
    grades = {query.id: query.grades for query in run.golden.queries}
    lines = [
        f"{quote(id)} Q0 {quote(name)} {rank} {1 / rank:.6f} {quote(run.name)}\n"
        for id, paths in run.rankings.items()
        for rank, name in enumerate(as_references(paths, grades[id]), start=1)
    ]
    write_text(ranking, "".join(lines))
    judged = [
        f"{quote(id)} 0 {quote(document)} {grade}\n"
        for id, judgments in grades.items()
        for document, grade in judgments.items()
    ]
    write_text(qrels, "".join(judged))


def load_run(path: Path) -> Run:
    """Read a run, or say what is wrong with the file."""
    document = read_artefact(path, FORMAT, "run")
    try:
        golden = read_json(json.dumps(document.pop("golden")), path.name, path.stem)
        asked = msgspec.convert(document.pop("asked"), tuple[Asked, ...])
        # Runs that were stored before settings had groups are compared with later ones.
        stored = dict(document["settings"])
        settings = {OLD_NAMES.get(name) or name: value for name, value in stored.items()}
        return Run(golden=golden, asked=asked, **{**document, "settings": settings})
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is not a complete run: {error}; run it again") from error


# ------------------------------------------------------------------------------- summaries


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the answers to unanswerable queries said about themselves."""

    unanswerable: int
    answerable: int
    not_judged: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one run.

    `intervals` belong to the means over all queries, in the order of the table's measures;
    there are none where no query is answerable.
    `degraded` counts the queries that were answered without a lane, by reason.
    """

    run: Run
    table: Table
    intervals: tuple[Interval, ...]
    p50: float
    p95: float
    degraded: tuple[tuple[str, int], ...]
    verdicts: Verdicts | None


def summarise(run: Run, measures: Sequence[str] = MEASURES) -> Summary:
    """The figures of a run in these measures."""
    table = run.table(measures)
    intervals = [mean_interval(table.column(name)) for name in table.measures if table.queries]
    reasons = Counter(reason for answer in run.asked for reason in answer.degraded)
    return Summary(
        run=run,
        table=table,
        intervals=tuple(intervals),
        p50=percentile(run.milliseconds, 0.50),
        p95=percentile(run.milliseconds, 0.95),
        degraded=tuple(sorted(reasons.items())),
        verdicts=_verdicts(run),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    if not values:
        raise BadInput("a run without queries has no times; ask at least one query")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def relevance_auroc(runs: Sequence[Run]) -> float | None:
    """How well the best result's relevance tells answerable from unanswerable queries.

    The queries may come from several golden sets asked in the same way.
    None if there are not both kinds, or no result has a relevance: this stage is not calibrated.
    """
    if not calibrated(runs):
        return None
    values: dict[bool, list[float]] = {True: [], False: []}
    for run in runs:
        unanswerable = _unanswerable(run)
        for answer in run.asked:
            values[answer.id in unanswerable].append(_best_relevance(answer))
    return auroc(values[False], values[True]) if values[True] and values[False] else None


def calibrated(runs: Sequence[Run]) -> bool:
    """Whether any result of the runs has a relevance."""
    return any(
        place.relevance is not None
        for run in runs
        for answer in run.asked
        for place in answer.ranking
    )


def _best_relevance(one: Asked) -> float:
    """The relevance of the first result; where there is none, nothing is relevant."""
    return (one.ranking[0].relevance or 0.0) if one.ranking else 0.0


def _unanswerable(run: Run) -> frozenset[str]:
    return frozenset(query.id for query in run.golden.queries if query.unanswerable)


def _verdicts(run: Run) -> Verdicts | None:
    unanswerable = _unanswerable(run)
    if not unanswerable:
        return None
    said = Counter(answer.answerable for answer in run.asked if answer.id in unanswerable)
    return Verdicts(said[False], said[True], said[None])
