"""The ranking model is fitted: from judged queries to weights, and what they are worth.

Weights are learned from pairs, a relevant document and one that is less so, with the loss of
RankNet (Burges et al., ICML 2005) and the weights of LambdaRank (Burges, Ragno, Le, NIPS 2006):
a pair counts by how much nDCG would change if the two changed places. They are at least 0.
A straight line then makes chances of scores (Platt, 1999).
What the weights are worth is told by leaving out each set, with all that share its documents.
Pure functions over numbers; fitting needs NumPy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isinf, log2
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from twolane import BadInput, Candidate
from twolane.evaluation.metrics import measure
from twolane.model.answer import Feature, Lane
from twolane.ranking.model import WORDING_WEIGHTS, LanguageWeights, Scorer, Weights
from twolane.settings.machine import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# What each kind of document is judged by; others are missing for it.
# A title or a list of words says nothing across languages; a file may have a name of any.
WORDS = (
    Feature.BM25F,
    Feature.PASSAGE_COVERAGE,
    Feature.TITLE,
    Feature.PAIRS,
    Feature.ALL_WORDS,
)
FOREIGN_WORDS = (Feature.BM25F, Feature.COVERAGE, Feature.PAIRS)
LETTERS = (Feature.NAME, Feature.EXACT)
MEANING = (Feature.PASSAGE, Feature.SENTENCE, Feature.DOCUMENT)
# What optional stages measure, where they ran.
STAGES = (*WORDING_WEIGHTS, Feature.RERANK)

# Of the documents that are less relevant, the best ones and some of the others are compared.
_BEST_OTHERS, _MORE_OTHERS = 20, 6

# Keeps weights finite; a third and three times as much gave the same order.
_RIDGE = 1e-3

# How strongly weights are held to those that they start from, in judged queries.
_PRIOR_QUERIES = 60.0

# Of these one is chosen by what it is worth on queries that the fit has not seen, in so many parts;
# fewer queries than this say nothing about a dozen weights.
_HOLDS = (_PRIOR_QUERIES, 250.0, 1000.0)
# Held like this nothing moves but the weights of stages, which no prior knows.
_FIRM = 1e9
# A stage costs time and may be poor, so its gain must be beyond doubt, in standard errors.
_SURE = 2.0
_PARTS = 5
_FEWEST = 10

# What Bayes' rule says without a fit, and moves all documents of a query alike.
_KNOWN = {Feature.SMALL_LIBRARY: 1.0}

# In log-odds: what is written in another language comes first only if it is clearly likelier.
# Whoever has notes in two languages looks for those in the one that they typed; this costs sets
# where each text is in one of them as much as it gains in those of two collections in one index.
_CLEARLY = 0.12

# Results that people see, of which chances are told.
_SHOWN = 20

_ROUNDS = 2
_MOST_STEPS = 40


@dataclass(frozen=True, slots=True)
class Basis:
    """What answers rest on: words and meaning, or one of them."""

    name: str
    own: tuple[Feature, ...]
    foreign: tuple[Feature, ...]
    lanes: frozenset[Lane]


BASES = (
    Basis(
        "hybrid",
        (*WORDS, *LETTERS, *MEANING),
        (*FOREIGN_WORDS, *LETTERS, *MEANING),
        frozenset(Lane),
    ),
    Basis(
        "lexical", (*WORDS, *LETTERS), (*FOREIGN_WORDS, *LETTERS), frozenset(Lane) - {Lane.DENSE}
    ),
    Basis("semantic", MEANING, MEANING, frozenset({Lane.DENSE})),
)
HYBRID, LEXICAL, SEMANTIC = BASES


def with_stages(bases: Sequence[Basis], sets: Sequence[FitSet]) -> tuple[Basis, ...]:
    """The bases with the features of optional stages that any candidate has."""
    held = {
        name
        for one in sets
        for query in one.queries
        for candidate in query.candidates
        for name in STAGES
        if name in candidate.features
    }
    more = tuple(name for name in STAGES if name in held)
    return tuple(
        replace(one, own=(*one.own, *more), foreign=(*one.foreign, *more)) for one in bases
    )


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """The candidates of a query with their grades; `ideal` are all its grades, also of others."""

    id: str
    candidates: Sequence[Candidate]
    grades: Mapping[str, int]

    @property
    def ideal(self) -> list[int]:
        """The grades of its relevant documents, highest first, whether they were found or not."""
        return sorted((grade for grade in self.grades.values() if grade > 0), reverse=True)

    def grade(self, candidate: Candidate) -> int:
        """The grade of a candidate; some collections have grades below 0 for what is irrelevant."""
        return max(0, self.grades.get(candidate.id, 0))


@dataclass(frozen=True, slots=True)
class FitSet:
    """Judged queries over the same documents; `weight` is how much the set counts in a fit.

    Unless it `tells_chances`, it has a part in the order of results, and none in how likely they
    are: queries that were made up to be hard, or easy, say nothing about that.
    """

    name: str
    queries: tuple[JudgedQuery, ...]
    weight: float = 1.0
    group: str = ""
    tells_chances: bool = True


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What weights that never saw a set, nor its documents, are worth on it.

    `error` is the expected calibration error of the results that people see.
    """

    name: str
    group: str
    queries: int
    ndcg: float
    error: float


@dataclass(frozen=True, slots=True)
class Report:
    """The weights of one basis, and what leaving out each set says of them."""

    basis: str
    weights: LanguageWeights
    held_out: tuple[HeldOut, ...] = field(default=())

    def mean(self, group: str | None = None) -> float:
        """The mean nDCG@10 over sets, of a group or of all."""
        values = [one.ndcg for one in self.held_out if group in (None, one.group)]
        return sum(values) / len(values) if values else 0.0


def fit_report(
    sets: Sequence[FitSet], basis: Basis, together: Sequence[Collection[str]] = ()
) -> Report:
    """The weights fitted on all sets, and what each set says of weights that never saw it.

    `together` are names of sets that share documents: where one is left out, so are the others.
    A set without which nothing is left to fit on is not judged.
    A stage gets a weight only if sets that were left out surely gain by it.
    """
    plain = _without_stages(basis)
    report = _fit_report(sets, plain, together)
    if plain == basis:
        return report
    staged = _fit_report(sets, basis, together)
    values, before = ([one.ndcg for one in each.held_out] for each in (staged, report))
    if _gain(values, before, _SURE) > 0:
        return staged
    return replace(report, weights=_with_silent_stages(report.weights, basis))


def _fit_report(
    sets: Sequence[FitSet], basis: Basis, together: Sequence[Collection[str]]
) -> Report:
    tables = {one.name: _Table(one, basis) for one in sets}
    held_out = []
    known: dict[frozenset[str], LanguageWeights | None] = {}
    for one in sets:
        apart = frozenset(
            {one.name, *(name for each in together if one.name in each for name in each)}
        )
        if apart not in known:
            rest = [table for name, table in tables.items() if name not in apart]
            says = any(table.queries for table in rest)
            known[apart] = _fitted(rest, basis) if says else None
        if (weights := known[apart]) is not None:
            held_out.append(judged_by(weights, one, basis))
    return Report(basis.name, _fitted(list(tables.values()), basis), tuple(held_out))


def fit(
    sets: Sequence[FitSet],
    basis: Basis,
    prior: LanguageWeights | None = None,
    hold: float = _PRIOR_QUERIES,
) -> LanguageWeights:
    """The weights that order the sets best, calibrated; held to the prior where one is given.

    `hold` is how strongly, in judged queries; held infinitely, they order as the prior does.
    Raises BadInput where no query has a relevant candidate beside another one.
    """
    return _fitted([_Table(one, basis) for one in sets], basis, prior, hold)


def fit_without_stages(sets: Sequence[FitSet], basis: Basis) -> LanguageWeights:
    """The weights fitted as if there were no stages, which count nothing."""
    return _with_silent_stages(fit(sets, _without_stages(basis)), basis)


def fit_to_judgments(
    sets: Sequence[FitSet], basis: Basis, prior: LanguageWeights
) -> LanguageWeights:
    """The prior fitted to judgments of one's own as far as they show that it helps.

    How strongly it holds is chosen by cross-validation over queries. Unless a fit gains more than
    its standard error on queries that it has not seen, the order stays the prior's, and only the
    chances are fitted. A stage gets a weight only if it surely gains over the fit without it.
    """
    queries = [query for one in sets for query in one.queries if len(_brought(query, basis)[1]) > 1]
    plain = _without_stages(basis)
    hold, values = _choose_hold(queries, plain, prior)
    if plain == basis:
        return fit(sets, basis, prior, hold)
    staged, staged_values = _choose_hold(queries, basis, prior)
    if _gain(staged_values, values, _SURE) > 0:
        return fit(sets, basis, prior, staged)
    return _with_silent_stages(fit(sets, plain, prior, hold), basis)


def _choose_hold(
    queries: Sequence[JudgedQuery], basis: Basis, prior: LanguageWeights
) -> tuple[float, list[float]]:
    """How strongly to hold to the prior, and nDCG@10 of each query by weights that never saw it."""
    parts = [queries[part::_PARTS] for part in range(_PARTS)]
    asked = [query for part in parts for query in part]
    before = [_ndcg(prior, query, basis) for query in asked]
    chosen, best, values = inf, 0.0, before
    holds = _HOLDS if basis == _without_stages(basis) else (*_HOLDS, _FIRM)
    for hold in holds if len(queries) >= _FEWEST else ():
        found = []
        for part, left in enumerate(parts):
            rest = [query for other in (*parts[:part], *parts[part + 1 :]) for query in other]
            weights = fit([FitSet("", tuple(rest))], basis, prior, hold)
            found += [_ndcg(weights, query, basis) for query in left]
        gain = _gain(found, before)
        if gain > best:
            chosen, best, values = hold, gain, found
    return chosen, values


def _gain(values: Sequence[float], before: Sequence[float], errors: float = 1.0) -> float:
    """The mean gain where it is larger than so many standard errors, else 0."""
    gains = [one - other for one, other in zip(values, before, strict=True)]
    if len(gains) < 2:
        return 0.0
    gain = fmean(gains)
    return gain if gain > errors * stdev(gains) / len(gains) ** 0.5 else 0.0


def _without_stages(basis: Basis) -> Basis:
    own, foreign = (
        tuple(name for name in names if name not in STAGES) for names in (basis.own, basis.foreign)
    )
    return replace(basis, own=own, foreign=foreign)


def _with_silent_stages(weights: LanguageWeights, basis: Basis) -> LanguageWeights:
    """The weights with 0 for each stage: without one it would have that of the settings."""
    own, foreign = weights.own, weights.foreign
    silent = {name: 0.0 for name in STAGES if name in basis.own}
    return LanguageWeights(
        replace(own, features={**own.features, **silent}),
        replace(foreign, features={**foreign.features, **silent}),
    )


def _ndcg(weights: LanguageWeights, query: JudgedQuery, basis: Basis) -> float:
    return _ndcg_of(ranked_by(weights, query, basis), query)


def _ndcg_of(ranked: Sequence[Candidate], query: JudgedQuery) -> float:
    return measure("ndcg@10").of([candidate.id for candidate in ranked], query.grades)


def _fitted(
    tables: Sequence[_Table],
    basis: Basis,
    prior: LanguageWeights | None = None,
    hold: float = _PRIOR_QUERIES,
) -> LanguageWeights:
    import numpy as np

    tables = [table for table in tables if table.queries]
    if not tables:
        raise BadInput(
            "no query has a relevant document among its candidates, and others beside it; "
            "give golden sets whose documents are indexed"
        )
    rows = np.concatenate([query.rows for table in tables for query in table.queries])
    scales = np.maximum(rows.std(axis=0), 1e-3)
    start = 0.5 / scales
    start[-1] = 0.0
    pull = _RIDGE * sum(table.weight for table in tables) * scales**2
    target = np.zeros(len(scales))
    if prior is not None:
        target = _vector(prior, basis)
        start = target.copy()
        judged = sum(len(table.queries) for table in tables)
        known = np.array([name not in STAGES for name in _columns(basis)])
        pull *= np.where(known, hold / judged / _RIDGE, 1.0)
    order = start
    for _ in range(0 if isinf(hold) else _ROUNDS):
        pairs = [table.pairs(order) for table in tables]
        order = _descended(
            np.concatenate([rows for rows, _ in pairs]),
            np.concatenate([weights for _, weights in pairs]),
            pull,
            target,
            order,
        )
    # A prior has its margin already, and judgments of one's own may move it.
    margin = _CLEARLY if prior is None else 0.0
    return _weights(order, basis, *_line(tables, order, prior), margin)


def judged_by(weights: LanguageWeights, one: FitSet, basis: Basis) -> HeldOut:
    """What the weights are worth on a set, ranked and rated as a search would."""
    values, rated = [], []
    for query in one.queries:
        if not query.ideal:
            continue
        ranked = ranked_by(weights, query, basis)
        values.append(_ndcg_of(ranked, query))
        rated += [
            (candidate.relevance or 0.0, query.grades.get(candidate.id, 0) > 0)
            for candidate in ranked[:_SHOWN]
        ]
    mean = sum(values) / len(values) if values else 0.0
    return HeldOut(one.name, one.group, len(values), mean, calibration_error(rated))


def ranked_by(weights: LanguageWeights, query: JudgedQuery, basis: Basis) -> list[Candidate]:
    """The candidates that the basis brings, in the order of the weights.

    Words alone do not know which documents say the same in another language.
    """
    brought, _ = _brought(query, basis)
    if Lane.DENSE not in basis.lanes:
        brought = [replace(one, parallels={}) for one in brought]
    return Scorer(weights, weights).rank(brought)


def calibration_error(rated: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """The expected calibration error: how far chances are from what came true, over bins.

    M. P. Naeini, G. F. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using
    Bayesian binning, AAAI 2015.
    """
    groups: dict[int, list[tuple[float, bool]]] = {}
    for chance, relevant in rated:
        groups.setdefault(min(int(chance * bins), bins - 1), []).append((chance, relevant))
    wrong = sum(
        abs(sum(chance for chance, _ in each) - sum(relevant for _, relevant in each))
        for each in groups.values()
    )
    return wrong / len(rated) if rated else 0.0


# ------------------------------------------------------------------------------- rows of numbers


class _Rows:
    """The candidates of one query as rows of numbers."""

    def __init__(self, query: JudgedQuery, candidates: Sequence[Candidate], basis: Basis) -> None:
        import numpy as np

        self.rows = np.array([_row(one, basis) for one in candidates], np.float64)
        self.grades = np.array([query.grade(one) for one in candidates])
        self.known = np.array([one.features.get(Feature.SMALL_LIBRARY, 0.0) for one in candidates])
        self.best = sum(grade * _discount(rank) for rank, grade in enumerate(query.ideal))


class _Table:
    """The queries of a set that say something: those with a relevant candidate and another."""

    def __init__(self, one: FitSet, basis: Basis) -> None:
        self.weight = one.weight
        self.tells_chances = one.tells_chances
        self.queries = []
        for query in one.queries:
            brought, grades = _brought(query, basis)
            if len(grades) > 1:
                self.queries.append(_Rows(query, brought, basis))

    def pairs(self, order: Numbers) -> tuple[Numbers, Numbers]:
        """What a better document has more than a worse one, pair by pair, and how much it counts.

        The pairs of a set count as much as its weight in all.
        """
        import numpy as np

        chance = np.random.default_rng(1)
        differences: list[Numbers] = []
        counts: list[Numbers] = []
        for query in self.queries:
            grades = query.grades
            ranked = np.argsort(-(query.rows @ order), kind="stable")
            discounts = np.empty(len(ranked))
            discounts[ranked] = 1 / np.log2(np.arange(len(ranked)) + 2)
            for better in np.flatnonzero(grades > 0):
                worse = ranked[grades[ranked] < grades[better]]
                rest = worse[_BEST_OTHERS:]
                more = chance.permutation(rest)[:_MORE_OTHERS]
                others = np.concatenate([worse[:_BEST_OTHERS], more])
                gains = (grades[better] - grades[others]) * (discounts[better] - discounts[others])
                differences.append(query.rows[better] - query.rows[others])
                counts.append(np.abs(gains) / query.best + 0.001)
        counted = np.concatenate(counts)
        return np.concatenate(differences), counted * (self.weight / counted.sum())


def _brought(query: JudgedQuery, basis: Basis) -> tuple[list[Candidate], set[int]]:
    """The candidates that the basis brings, and their grades; of one grade they teach nothing."""
    brought = [one for one in query.candidates if basis.lanes.intersection(one.ranks)]
    return brought, {query.grade(one) for one in brought}


def _row(candidate: Candidate, basis: Basis) -> list[float]:
    """The features of a document in the query's languages, those of another, and which it is."""
    features = candidate.features
    own = [0.0 if candidate.foreign else features.get(name, 0.0) for name in basis.own]
    other = [features.get(name, 0.0) if candidate.foreign else 0.0 for name in basis.foreign]
    return [*own, *other, float(candidate.foreign)]


def _discount(rank: int) -> float:
    return 1 / log2(rank + 2)


# ------------------------------------------------------------------------------- weights


def _weights(
    order: Numbers, basis: Basis, slope: float, intercept: float, margin: float
) -> LanguageWeights:
    """The weights of an order in log-odds; other languages need this margin to come first."""
    values = [float(slope * value) for value in order]
    own, other = values[: len(basis.own)], values[len(basis.own) : -1]
    away = intercept + values[-1] - margin
    return LanguageWeights(
        Weights(round(intercept, 4), _positive(basis.own, own) | _KNOWN),
        Weights(round(away, 4), _positive(basis.foreign, other) | _KNOWN),
    )


def _positive(names: Sequence[Feature], values: Sequence[float]) -> dict[Feature, float]:
    # That a stage deserves no weight is told: without one it would have that of the settings.
    return {
        name: round(value, 4)
        for name, value in zip(names, values, strict=True)
        if value > 5e-5 or name in STAGES
    }


def _columns(basis: Basis) -> tuple[Feature | None, ...]:
    """The features that the rows have in their columns; the last says which language it is."""
    return (*basis.own, *basis.foreign, None)


def _vector(weights: LanguageWeights, basis: Basis) -> Numbers:
    """The weights as the rows have their columns."""
    import numpy as np

    own, foreign = weights.own, weights.foreign
    return np.array(
        [
            *(own.features.get(name, 0.0) for name in basis.own),
            *(foreign.features.get(name, 0.0) for name in basis.foreign),
            foreign.intercept - own.intercept,
        ]
    )


@one_thread()
def _descended(
    rows: Numbers, counts: Numbers, pull: Numbers, target: Numbers, start: Numbers
) -> Numbers:
    """The weights of least loss by Newton's method, projected: all but the last are at least 0.

    D. P. Bertsekas, Projected Newton methods for optimization problems with simple constraints,
    SIAM Journal on Control and Optimization 20(2), 1982.
    """
    import numpy as np

    def loss(weights: Numbers) -> float:
        pulled = 0.5 * float((pull * (weights - target) ** 2).sum())
        return float((counts * np.logaddexp(0, -(rows @ weights))).sum()) + pulled

    weights, lowest = start.copy(), loss(start)
    for _ in range(_MOST_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(rows @ weights, -500, 500)))
        slope = pull * (weights - target) - rows.T @ (counts * wrong)
        bend = (rows * (counts * wrong * (1 - wrong))[:, None]).T @ rows + np.diag(pull)
        stuck = (weights <= 1e-9) & (slope > 0)
        stuck[-1] = False
        free = np.flatnonzero(~stuck)
        step = np.zeros(len(weights))
        step[free] = -np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        length = 1.0
        while True:
            moved = weights + length * step
            moved[:-1] = np.maximum(moved[:-1], 0.0)
            reached = loss(moved)
            if reached < lowest or length < 1e-4:
                break
            length /= 2
        gained = lowest - reached
        if gained > 0:
            weights, lowest = moved, reached
        if gained < 1e-9 * max(1.0, lowest):
            break
    return weights


@one_thread()
def _line(
    tables: Sequence[_Table], order: Numbers, prior: LanguageWeights | None = None
) -> tuple[float, float]:
    """The slope and the intercept that make log-odds of scores, each set counting by its weight.

    The outcomes are smoothed as Platt does, so that data without a single error is no certainty.
    A prior is a slope of 1 and its own intercept, as surely as so many queries would have it.
    """
    import numpy as np

    scores, relevant, known, counts = [], [], [], []
    for table in [one for one in tables if one.tells_chances] or tables:
        shown = []
        for query in table.queries:
            values = query.rows @ order
            first = np.argsort(-values, kind="stable")[:_SHOWN]
            shown.append((values[first], query.grades[first] > 0, query.known[first]))
        if shown:
            size = sum(len(values) for values, *_ in shown)
            scores += [values for values, *_ in shown]
            relevant += [each for _, each, _ in shown]
            known += [each for *_, each in shown]
            counts += [np.full(len(values), table.weight / size) for values, *_ in shown]
    given, outcomes, offsets, weights = (
        np.concatenate(each) for each in (scores, relevant, known, counts)
    )
    right, wrong = int(outcomes.sum()), int((~outcomes).sum())
    aims = np.where(outcomes, (right + 1) / (right + 2), 1 / (wrong + 2))
    design = np.column_stack([given, np.ones(len(given))])
    rate = float((weights * aims).sum() / weights.sum())
    start = np.array([1.0, np.log(rate / (1 - rate)) - float(given.mean())])
    held = np.zeros((2, 2))
    if prior is not None:
        start = np.array([1.0, prior.own.intercept])
        judged = sum(len(table.queries) for table in tables)
        held = (design * weights[:, None]).T @ design
        held *= rate * (1 - rate) * _PRIOR_QUERIES / judged

    def loss(line: Numbers) -> float:
        odds, moved = design @ line + offsets, line - start
        pulled = 0.5 * float(moved @ held @ moved)
        return float((weights * (np.logaddexp(0, odds) - aims * odds)).sum()) + pulled

    line, lowest = start, loss(start)
    for _ in range(_MOST_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ line + offsets, -500, 500)))
        slope = design.T @ (weights * (chances - aims)) + held @ (line - start)
        bend = (design * (weights * chances * (1 - chances))[:, None]).T @ design + held
        step = np.linalg.solve(bend + 1e-9 * np.eye(2), slope)
        length = 1.0
        while (reached := loss(line - length * step)) >= lowest and length > 1e-6:
            length /= 2
        gained = lowest - reached
        if gained > 0:
            line, lowest = line - length * step, reached
        if gained < 1e-12:
            break
    return max(float(line[0]), 1e-3), float(line[1])
