"""Many golden sets at once: what a ranking is worth beyond the set that it was tried on.

A suite is a TOML or JSON file that names sets in groups; running it asks them all in one way.
The run is kept in one small file, as ids, grades and ranks: no text of any set is in it,
so it can be committed where the sets cannot. Two runs of a suite are compared query by query.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from twolane import BadInput
from twolane.evaluation.figures import change_with_interval, mean_with_interval, milliseconds
from twolane.evaluation.files import read_artefact, read_text, write_text
from twolane.evaluation.golden import GoldenSet, as_references, validate
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.metrics import auroc
from twolane.evaluation.metrics import measure as known_measure
from twolane.evaluation.runs import DEPTH, Run, percentile
from twolane.evaluation.significance import Interval, difference_interval, mean_interval, pooled

FORMAT = "twolane-suite-run/1"


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """One golden set of a suite: a file, or a BEIR folder."""

    group: str
    path: Path
    golden: GoldenSet


@dataclass(frozen=True, slots=True)
class Suite:
    """Golden sets in groups, in the order of the file.

    For fits: `weights` are what a set or a group counts, `together` sets that share documents,
    `chances` the groups that tell how likely results are, if not all do.
    """

    name: str
    sets: tuple[SuiteSet, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    together: tuple[frozenset[str], ...] = ()
    chances: frozenset[str] = frozenset()

    def weight(self, one: SuiteSet) -> float:
        """How much a set counts in a fit: what is said of it, or of its group, or 1."""
        return self.weights.get(one.golden.name, self.weights.get(one.group, 1.0))

    def tells_chances(self, one: SuiteSet) -> bool:
        """Whether the set tells how likely results are, beside their order."""
        return not self.chances or one.group in self.chances

    def only(self, names: Sequence[str]) -> Suite:
        """The suite with the sets and groups of these names alone; without names, all of it."""
        known = {name for one in self.sets for name in (one.group, one.golden.name)}
        if missing := [name for name in names if name not in known]:
            raise BadInput(f"no set or group {missing[0]!r}; there are {', '.join(sorted(known))}")
        kept = [one for one in self.sets if not names or {one.group, one.golden.name} & {*names}]
        return replace(self, sets=tuple(kept))


@dataclass(frozen=True, slots=True)
class QueryRanks:
    """One query as it was answered: where the judged documents stand, and nothing else.

    `judged` has grade and rank by document; the rank is None if it was not returned.
    `relevance` are the relevances of the first results, best first.
    """

    id: str
    judged: Mapping[str, tuple[int, int | None]]
    relevance: tuple[float | None, ...] = ()
    ms: float = 0.0

    def value(self, measure: str) -> float:
        """What the query scores in this measure."""
        grades = {id: grade for id, (grade, _) in self.judged.items()}
        depth = max((rank for _, rank in self.judged.values() if rank), default=0)
        # Names of results that are not judged; none of them can be the id of a document.
        ranking = [f"\0{rank}" for rank in range(1, depth + 1)]
        for id, (_, rank) in self.judged.items():
            if rank:
                ranking[rank - 1] = id
        return known_measure(measure).of(ranking, grades)


@dataclass(frozen=True, slots=True)
class SetRun:
    """One set of a suite as it was answered; `corpus` names what was asked."""

    name: str
    group: str
    corpus: str
    queries: tuple[QueryRanks, ...]

    def values(self, measure: str) -> dict[str, float]:
        """Query id → value, for the queries that have an answer."""
        return {query.id: query.value(measure) for query in self.queries if query.judged}

    @property
    def milliseconds(self) -> list[float]:
        """How long each query took."""
        return [query.ms for query in self.queries]


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """One pass of a suite through one configuration."""

    name: str
    mode: str
    settings: Mapping[str, Any]
    sets: tuple[SetRun, ...]
    created: str = ""
    space: str | None = None
    commit: str | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)

    def of(self, group: str | None) -> list[SetRun]:
        """The sets of a group, or all."""
        return [one for one in self.sets if group in (None, one.group)]


# ------------------------------------------------------------------------------- the suite's file


def load_suite(path: Path) -> Suite:
    """The suite in a TOML or JSON file, with all its sets read and checked.

    `[groups]` has lists of paths as seen from the file; they may hold `*` and `$VARIABLE`.
    """
    text = read_text(path)
    try:
        data = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise BadInput(f"{path} cannot be understood ({error}); correct it") from error
    groups = data.get("groups") if isinstance(data, dict) else None
    if not isinstance(groups, dict) or not groups:
        raise BadInput(f'{path} names no sets; write [groups] and name = ["golden/*.json"]')
    if unknown := set(data) - {"name", "groups", "weights", "together", "chances"}:
        told = ", ".join(sorted(unknown))
        raise BadInput(
            f"{path}: unknown {told}; it has name, groups, weights, together and chances"
        )
    sets = [
        SuiteSet(group, place, _checked(place))
        for group, patterns in groups.items()
        for place in _places(path, group, patterns)
    ]
    names = [one.golden.name for one in sets]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadInput(f"{path}: two sets are called {', '.join(sorted(twice))}; rename one")
    try:
        weights = {str(name): float(value) for name, value in data.get("weights", {}).items()}
        together = tuple(frozenset(map(str, names)) for names in data.get("together", []))
        chances = frozenset(map(str, data.get("chances", [])))
    except (AttributeError, TypeError, ValueError) as error:
        raise BadInput(
            f'{path}: write [weights] and name = 0.5, together = [["set", "set"]] ({error})'
        ) from error
    if missing := chances - groups.keys():
        raise BadInput(f"{path}: chances names no group {min(missing)!r}; correct it")
    return Suite(str(data.get("name") or path.stem), tuple(sets), weights, together, chances)


def _checked(place: Path) -> GoldenSet:
    golden = load_golden(place)
    validate(golden)
    return golden


def _places(path: Path, group: str, patterns: Any) -> Iterator[Path]:
    if not (isinstance(patterns, list) and all(isinstance(pattern, str) for pattern in patterns)):
        raise BadInput(f"{path}: the group {group!r} must be a list of paths")
    for pattern in patterns:
        place = Path(os.path.expandvars(pattern)).expanduser()
        if "$" in str(place):
            raise BadInput(f"{path}: {pattern!r} needs a variable that is not set; set it")
        whole = path.parent.resolve() / place
        found = sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
        if not found:
            raise BadInput(f"{path}: nothing is at {pattern!r}; correct or remove it")
        yield from found


# ------------------------------------------------------------------------------- running


def run_suite(suite: Suite, ask: Callable[[SuiteSet], Run]) -> SuiteRun:
    """Ask every set in turn; `ask` makes the library that a set needs, and asks it."""
    sets: list[SetRun] = []
    for one in suite.sets:
        run = ask(one)
        sets.append(_ranks(run, one.group))
    return SuiteRun(
        name=suite.name,
        mode=run.mode,
        settings=run.settings,
        sets=tuple(sets),
        created=run.created,
        space=run.space,
        commit=run.commit,
        machine=run.machine,
    )


def _ranks(run: Run, group: str) -> SetRun:
    rankings = run.rankings
    answered = {answer.id: answer for answer in run.asked}
    queries = []
    for query in run.golden.queries:
        one, grades = answered[query.id], query.grades
        places = {
            name: rank
            for rank, name in enumerate(as_references(rankings[query.id], grades), start=1)
        }
        judged = {id: (grade, places.get(id)) for id, grade in grades.items()}
        relevance = tuple(
            None if place.relevance is None else round(place.relevance, 3)
            for place in one.ranking[:DEPTH]
        )
        queries.append(QueryRanks(query.id, judged, relevance, one.ms))
    return SetRun(run.golden.name, group, run.corpus, tuple(queries))


# ------------------------------------------------------------------------------- figures


def set_mean(run: SetRun, measure: str) -> Interval | None:
    """The mean of a set over its queries; None if none of them has an answer."""
    values = list(run.values(measure).values())
    return mean_interval(values) if values else None


def set_change(before: SuiteRun | None, after: SetRun, measure: str) -> Interval | None:
    """The difference to the same set of a stored run, query by query; None if it has none."""
    values = _paired(before, after, measure)
    return difference_interval(*values) if values else None


def overall(run: SuiteRun, measure: str, group: str | None = None) -> Interval | None:
    """The mean over sets, of all groups or one; every set counts the same, however large it is."""
    sets = [list(one.values(measure).values()) for one in run.of(group)]
    return pooled([values for values in sets if values])


def overall_change(
    before: SuiteRun | None, after: SuiteRun, measure: str, group: str | None = None
) -> Interval | None:
    """The difference in the mean over those sets that both runs have."""
    pairs = [_paired(before, one, measure) for one in after.of(group)]
    return pooled(
        [
            [new - old for old, new in zip(*values, strict=True)]
            for values in pairs
            if values is not None
        ]
    )


def cells(run: SuiteRun, before: SuiteRun | None, measures: Sequence[str]) -> list[list[str]]:
    """The table of a suite: a head, a row for each set, then the mean of each group and of all."""

    def shown(write: Callable[[Interval], str], interval: Interval | None) -> str:
        return write(interval) if interval else ""

    first, compared = measures[0], [before] if before else []
    rows = [["", "n", *measures, *(f"Δ {first}" for _ in compared), "ms p50"]]
    for one in run.sets:
        means = [shown(mean_with_interval, set_mean(one, name)) for name in measures]
        deltas = [shown(change_with_interval, set_change(old, one, first)) for old in compared]
        ms = milliseconds(percentile(one.milliseconds, 0.5))
        rows.append([one.name, str(len(one.queries)), *means, *deltas, ms])
    groups = list(dict.fromkeys(one.group for one in run.sets))
    for group in [*(groups if len(groups) > 1 else ()), None]:
        means = [shown(mean_with_interval, overall(run, name, group)) for name in measures]
        deltas = [
            shown(change_with_interval, overall_change(old, run, first, group)) for old in compared
        ]
        rows.append([f"mean of {group or 'all sets'}", "", *means, *deltas, ""])
    return rows


def suite_auroc(run: SuiteRun) -> dict[str, float]:
    """How well the best relevance tells queries with an answer from those without, by set.

    A set of unanswerable queries is held against all queries over the same documents.
    """
    found = {}
    for one in run.sets:
        without = [_best(query) for query in one.queries if not query.judged]
        answered = [
            _best(query)
            for other in run.sets
            if other.corpus == one.corpus
            for query in other.queries
            if query.judged
        ]
        if without and answered:
            found[one.name] = auroc(answered, without)
    return found


def _best(query: QueryRanks) -> float:
    return (query.relevance[0] or 0.0) if query.relevance else 0.0


def _paired(
    before: SuiteRun | None, after: SetRun, measure: str
) -> tuple[list[float], list[float]] | None:
    """The values of a set then and now, query by query; None if there is nothing to compare."""
    known = {one.name: one for one in before.sets} if before else {}
    if after.name not in known:
        return None
    old, new = known[after.name].values(measure), after.values(measure)
    if old.keys() != new.keys():
        raise BadInput(
            f"{after.name} has other queries than in the stored run; run that again, too"
        )
    return ([old[id] for id in new], list(new.values())) if new else None


# ------------------------------------------------------------------------------- files


def save_suite_run(run: SuiteRun, path: Path) -> None:
    """Write the run, a line for each query; the file is complete or absent."""
    head = {"format": FORMAT, **asdict(run)}
    sets = head.pop("sets")
    lines = [json.dumps(head, ensure_ascii=False)[:-1] + ', "sets": [']
    for number, one in enumerate(sets):
        queries = one.pop("queries")
        lines.append(json.dumps(one, ensure_ascii=False)[:-1] + ', "queries": [')
        lines.append(",\n".join(json.dumps(query, ensure_ascii=False) for query in queries))
        lines.append("]}" if number == len(sets) - 1 else "]},")
    write_text(path, "\n".join([*lines, "]}"]) + "\n")


def load_suite_run(path: Path) -> SuiteRun:
    """Read a run of a suite, or say what is wrong with the file."""
    document = read_artefact(path, FORMAT, "suite")
    try:
        return msgspec.convert(document, SuiteRun)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path} is not a complete run: {error}; run it again") from error
