"""How good is one ranking, and how good are many?

One function per metric, each with its definition and source; then means over all queries, by
direction and by category.

A ranking is a sequence of document ids, best first, each once.
Grades map the judged documents to whole numbers; what is not judged counts as grade 0.
A document is *relevant* to the metrics that know only yes and no if its grade is at least 1,
as in `trec_eval` and `ir_measures` (`rel=1`): a partial answer counts.
Where nothing is relevant every metric is 0, as there too.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from twolane import BadInput
from twolane.evaluation.golden import GoldenSet, as_references

Ranking = Sequence[str]
Grades = Mapping[str, int]


def recall(
    ranking: Ranking, grades: Grades, k: int, *, only: Callable[[str], bool] | None = None
) -> float:
    """Recall@k: relevant documents among the first k / relevant documents.

    With `only`, documents that it refuses are not sought, though they still take their ranks:
    the recall of Russian answers in a ranking of both languages.

    C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.
    """
    sought = {id for id, grade in grades.items() if grade >= 1 and (only is None or only(id))}
    return len(sought.intersection(_first(ranking, k))) / len(sought) if sought else 0.0


def precision(ranking: Ranking, grades: Grades, k: int) -> float:
    """Precision@k: relevant documents among the first k / k, however short the ranking is.

    C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.
    """
    return sum(grades.get(id, 0) >= 1 for id in _first(ranking, k)) / k


def hit(ranking: Ranking, grades: Grades, k: int) -> float:
    """Hit@k, also called Success@k: 1 if any of the first k is relevant, else 0.

    N. Craswell and D. Hawking, Overview of the TREC-2004 Web Track, 2004.
    """
    return float(any(grades.get(id, 0) >= 1 for id in _first(ranking, k)))


def reciprocal_rank(ranking: Ranking, grades: Grades, k: int | None = None) -> float:
    """1 / rank of the first relevant document, 0 if there is none (among the first k).

    The mean over queries is MRR. E. M. Voorhees, The TREC-8 Question Answering Track Report, 1999.
    """
    for rank, id in enumerate(_first(ranking, k), start=1):
        if grades.get(id, 0) >= 1:
            return 1 / rank
    return 0.0


def ndcg(ranking: Ranking, grades: Grades, k: int) -> float:
    """nDCG@k: Σ grade / log2(rank + 1) over the first k / the same of the best ranking possible.

    The gain is linear, negative grades gain nothing,
    and the best ranking is drawn from all judged documents, found or not.

    K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques,
    ACM TOIS 20(4), 2002; with the discount of `trec_eval`, which also lowers rank 2.
    """
    found = _gain([grades.get(id, 0) for id in _first(ranking, k)])
    best = _gain(sorted(grades.values(), reverse=True)[:k])
    return found / best if best else 0.0


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """The chance that an answerable query has a higher value than an unanswerable one.

    The values are whatever says "there is an answer", such as the relevance of the best result.
    Equal values count half; 0.5 is guessing.

    J. A. Hanley and B. J. McNeil, The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143(1), 1982.
    """
    if not (answerable and unanswerable):
        raise BadInput("AUROC needs answerable and unanswerable queries; give some of both")
    if any(math.isnan(value) for value in (*answerable, *unanswerable)):
        raise BadInput("AUROC compares numbers, and one value is not a number; leave its query out")
    lower = sorted(unanswerable)
    wins = sum(bisect_left(lower, value) + bisect_right(lower, value) for value in answerable)
    return wins / (2 * len(answerable) * len(lower))


def _first(ranking: Ranking, k: int | None) -> Ranking:
    if k is not None and k < 1:
        raise BadInput(f"a cut-off of {k} leaves nothing to measure; use 1 or more")
    if len(set(ranking)) < len(ranking):
        twice = next(id for place, id in enumerate(ranking) if id in ranking[:place])
        raise BadInput(f"the ranking holds {twice!r} twice; rank each document once")
    return ranking[:k]


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade > 0)


# ------------------------------------------------------------------------------- tables

MEASURES = ("recall@10", "ndcg@10", "mrr")

_CUT: Mapping[str, Callable[..., float]] = {
    "hit": hit,
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "precision": precision,
    "recall": recall,
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its cut-off, if it has one: `of` gives the value of one ranking."""

    name: str
    of: Callable[[Ranking, Grades], float]
    cut: int | None = None


def measure(text: str) -> Measure:
    """The measure that `text` names: `recall@10`, `ndcg@5`, `mrr`, `mrr@10`, `hit@1` …"""
    name, _, cut = text.strip().lower().partition("@")
    if name == "mrr" and not cut:
        return Measure(name, reciprocal_rank)
    if name in _CUT and re.fullmatch("[1-9][0-9]{0,5}", cut):
        return Measure(f"{name}@{cut}", partial(_CUT[name], k=int(cut)), int(cut))
    names = ", ".join(f"{known}@10" for known in _CUT)
    raise BadInput(f"no measure {text!r}; use {names} (with any cut-off) or mrr")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """The values of one query, in the order of the table's measures."""

    id: str
    direction: str | None
    category: str | None
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The means of some queries, in the order of the table's measures."""

    label: str
    count: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What every answerable query of a golden set scored, and the means."""

    measures: tuple[str, ...]
    queries: tuple[QueryRow, ...]

    @property
    def overall(self) -> Row | None:
        """The means over all queries; None if the set has no answerable query."""
        return _mean("all", self.queries) if self.queries else None

    @property
    def by_direction(self) -> tuple[Row, ...]:
        """The means of each direction, sorted; queries without one are left out."""
        return _groups((row.direction, row) for row in self.queries)

    @property
    def by_category(self) -> tuple[Row, ...]:
        """The means of each category, sorted; queries without one are left out."""
        return _groups((row.category, row) for row in self.queries)

    def column(self, name: str) -> tuple[float, ...]:
        """The values of one measure, query by query: what `significance` compares."""
        if name not in self.measures:
            raise BadInput(f"the table has no {name!r}; it has {', '.join(self.measures)}")
        place = self.measures.index(name)
        return tuple(row.values[place] for row in self.queries)


def tabulate(
    golden: GoldenSet,
    rankings: Mapping[str, Sequence[str]],
    measures: Sequence[str] = MEASURES,
) -> Table:
    """Score the ranking of every answerable query (query id → documents, best first).

    Results match references as `same_document` says.
    A query that found nothing has an empty ranking; one without a ranking was not run,
    and a mean that took it for a failure would lie, so `BadInput` is raised.
    """
    chosen = tuple(measure(text) for text in measures)
    asked = [query for query in golden.queries if not query.unanswerable]
    missing = [query.id for query in asked if query.id not in rankings]
    if missing:
        more = " …" if len(missing) > 5 else ""
        raise BadInput(
            f"no ranking for {len(missing)} queries of {golden.name}: "
            f"{', '.join(missing[:5])}{more}; "
            "run them, or give an empty ranking where nothing was found"
        )
    rows = []
    for query in asked:
        grades = query.grades
        ranking = as_references(rankings[query.id], grades)
        values = tuple(metric.of(ranking, grades) for metric in chosen)
        rows.append(QueryRow(query.id, query.direction, query.category, values))
    return Table(tuple(metric.name for metric in chosen), tuple(rows))


def _groups(labelled: Iterable[tuple[str | None, QueryRow]]) -> tuple[Row, ...]:
    groups: dict[str, list[QueryRow]] = {}
    for label, row in labelled:
        if label is not None:
            groups.setdefault(label, []).append(row)
    return tuple(_mean(label, groups[label]) for label in sorted(groups))


def _mean(label: str, rows: Sequence[QueryRow]) -> Row:
    columns = zip(*(row.values for row in rows), strict=True)
    return Row(label, len(rows), tuple(fmean(column) for column in columns))
