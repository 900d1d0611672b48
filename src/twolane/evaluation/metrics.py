"""How good is one ranking? One function per metric, each with its definition and source.

A ranking is a sequence of document ids, best first, each once.
Grades map the judged documents to whole numbers; what is not judged counts as grade 0.
A document is *relevant* to the metrics that know only yes and no if its grade is at least 1,
as in `trec_eval` and `ir_measures` (`rel=1`): a partial answer counts.
Where nothing is relevant every metric is 0, as there too.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence

from twolane.errors import BadInput

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


def flag_accuracy(said: Sequence[bool], true: Sequence[bool]) -> float:
    """The share of queries whose `answerable` flag says what the golden set says."""
    if len(said) != len(true) or not said:
        raise BadInput(
            f"{len(said)} flags for {len(true)} queries; give one flag for each of some queries"
        )
    return sum(one == other for one, other in zip(said, true, strict=True)) / len(said)


def ranked(scores: Mapping[str, float]) -> list[str]:
    """The ranking that scores make: the highest first, ties by id."""
    if any(math.isnan(score) for score in scores.values()):
        raise BadInput("a score is not a number, so it has no place in a ranking; leave it out")
    return [id for _, id in sorted((-score, id) for id, score in scores.items())]


def _first(ranking: Ranking, k: int | None) -> Ranking:
    if k is not None and k < 1:
        raise BadInput(f"a cut-off of {k} leaves nothing to measure; use 1 or more")
    if len(set(ranking)) < len(ranking):
        twice = next(id for place, id in enumerate(ranking) if id in ranking[:place])
        raise BadInput(f"the ranking holds {twice!r} twice; rank each document once")
    return ranking[:k]


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade > 0)
