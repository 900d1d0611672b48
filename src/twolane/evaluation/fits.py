"""The weights of the ranking model, from golden sets to the file that searches read.

Each set is asked once; what its candidates' features say is fitted for answers by words and
meaning, by words alone and by meaning alone, and each set is left out in turn to tell what the
weights are worth on what they have not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from twolane import BadInput, Library, Space
from twolane.evaluation.calibration import complete_space, names_by_id
from twolane.evaluation.files import write_text
from twolane.evaluation.fitting import (
    BASES,
    HYBRID,
    MEANING,
    SEMANTIC,
    Basis,
    FitSet,
    JudgedQuery,
    Report,
    fit_report,
    fit_to_judgments,
    fit_without_stages,
    with_stages,
)
from twolane.evaluation.golden import GoldenSet, as_references
from twolane.evaluation.runs import store_measurement
from twolane.evaluation.suites import Suite, SuiteSet
from twolane.model.answer import Feature
from twolane.ranking.background import SAMPLE, Usual, usual_in
from twolane.ranking.model import LanguageWeights, RankingModel, SpaceWeights
from twolane.ranking.model_files import model_text

FORMAT = "twolane-fit/1"

T = TypeVar("T")

# What is usual in most spaces, before any index was looked at.
_ANYWHERE = Usual(0.05, 0.12)


@dataclass(frozen=True, slots=True)
class Asked:
    """A set with its candidates, the space that they were found in, and what is usual there.

    `reranker` is what read the best of them, if anything did.
    """

    fit_set: FitSet
    space: Space
    usual: Usual
    reranker: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """A model with the reports of its parts: words and meaning, words alone, meaning alone."""

    model: RankingModel
    space: Space
    reports: tuple[Report, ...]


def ask_set(
    golden: GoldenSet,
    library: Library,
    *,
    group: str = "",
    weight: float = 1.0,
    tells_chances: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Asked:
    """The candidates of every query of a set, with their features and grades."""
    space = complete_space(library, "a ranking cannot be fitted")
    names = names_by_id(library)
    queries = []
    for number, query in enumerate(golden.queries):
        candidates = library.candidates(query.query)
        called = as_references([names[one.id] for one in candidates], query.grades)
        grades = dict(query.grades)
        for one, name in zip(candidates, called, strict=True):
            if name in grades:
                grades[one.id] = grades.pop(name)
        queries.append(JudgedQuery(query.id, candidates, grades))
        progress(number + 1, len(golden.queries))
    sample = library.vector_sample(SAMPLE)
    return Asked(
        FitSet(golden.name, tuple(queries), weight, group, tells_chances),
        space,
        usual_in(sample, _ANYWHERE),
        library.reranker,
    )


def fit_suite(suite: Suite, shipped: RankingModel, ask: Callable[[SuiteSet], Asked]) -> Fit:
    """The model that a suite of sets makes; its threshold stays that of the shipped one."""
    asked = [ask(one) for one in suite.sets]
    space = _one_space(asked)
    priors = _priors(shipped, space)
    unknown = _for_any_space(asked, shipped)
    sets = [_with_mean(one, 0.0) for one in asked]
    reports = {
        basis.name: _fitted_or_kept(
            basis,
            partial(fit_report, sets, basis, suite.together),
            Report(basis.name, priors[basis.name]),
        )
        for basis in with_stages(BASES, sets)
    }
    usual = Usual(0.0, round(sum(one.usual.deviation for one in asked) / len(asked), 3))
    known = SpaceWeights(
        space.embedder,
        space.model,
        usual,
        reports["hybrid"].weights,
        reports["semantic"].weights,
    )
    lexical = reports["lexical"].weights
    model = replace(
        shipped, lexical=lexical, spaces=(known, unknown), reranker=asked[0].reranker
    ).before(shipped)
    return Fit(model, space, tuple(reports.values()))


def _for_any_space(asked: Sequence[Asked], shipped: RankingModel) -> SpaceWeights:
    """The weights for spaces that nobody fitted: those of this one, told by what is usual.

    What a stage is worth was seen in this space alone, so it counts nothing in others.
    """
    sets = [_with_mean(one, one.usual.mean) for one in asked]
    known = shipped.of_space(None)
    bases = {basis.name: basis for basis in with_stages(BASES, sets)}
    hybrid, semantic = bases[HYBRID.name], bases[SEMANTIC.name]
    return replace(
        known,
        hybrid=fit_without_stages(sets, hybrid),
        semantic=_fitted_or_kept(
            semantic, partial(fit_without_stages, sets, semantic), known.semantic
        ),
    )


def _with_mean(asked: Asked, mean: float) -> FitSet:
    """The set with similarities told in deviations above this mean, whatever it was before."""
    deviation = asked.usual.deviation
    for query in asked.fit_set.queries:
        for candidate in query.candidates:
            if candidate.similarity is not None:
                told = candidate.features[Feature.PASSAGE]
                shift = (candidate.similarity - mean) / deviation - told
                for name in MEANING:
                    candidate.features[name] += shift
    return asked.fit_set


def fit_again(asked: Sequence[Asked], shipped: RankingModel) -> Fit:
    """The shipped model fitted to judgments of one's own, as far as they show that it helps."""
    space = _one_space(asked)
    sets = [one.fit_set for one in asked]
    known = shipped.of_space(space)
    priors = _priors(shipped, space)
    fitted = {
        basis.name: _fitted_or_kept(
            basis, partial(fit_to_judgments, sets, basis, priors[basis.name]), priors[basis.name]
        )
        for basis in with_stages(BASES, sets)
    }
    again = replace(
        known,
        usual=known.usual if known.is_fitted else asked[0].usual,
        embedder=space.embedder,
        model=space.model,
        hybrid=fitted["hybrid"],
        semantic=fitted["semantic"],
    )
    model = replace(
        shipped, lexical=fitted["lexical"], spaces=(again,), reranker=asked[0].reranker
    ).before(shipped)
    return Fit(model, space, tuple(Report(name, one) for name, one in fitted.items()))


def _fitted_or_kept(basis: Basis, fitted: Callable[[], T], kept: T) -> T:
    """What is fitted; words or meaning alone may bring too little to learn from, and stay."""
    try:
        return fitted()
    except BadInput:
        if basis.name == HYBRID.name:
            raise
        return kept


def adopt(fit: Fit, file: Path) -> None:
    """Put the model where searches find it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, model_text(fit.model))


def save_fit(fit: Fit, folder: Path) -> Path:
    """Write the weights, and what each set says of them, under a name of their own."""
    content = {
        "embedder": fit.space.embedder,
        "model": fit.space.model,
        "reports": [asdict(one) for one in fit.reports],
    }
    return store_measurement(folder, f"fit-{fit.space.embedder}", FORMAT, content, indent=1)


def _priors(model: RankingModel, space: Space) -> dict[str, LanguageWeights]:
    """The weights of a model by basis."""
    known = model.of_space(space)
    return {"hybrid": known.hybrid, "lexical": model.lexical, "semantic": known.semantic}


def _one_space(asked: Sequence[Asked]) -> Space:
    spaces = {one.space for one in asked}
    if len(spaces) != 1:
        raise BadInput("the sets were asked in different spaces; fit one at a time")
    return spaces.pop()
