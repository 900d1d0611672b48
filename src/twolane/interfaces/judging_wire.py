"""The JSON of judgments and of what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twolane.interfaces.eval_wire import runs_json
from twolane.interfaces.wire import Json

if TYPE_CHECKING:
    from twolane.evaluation.golden import GoldenQuery, GoldenSet
    from twolane.evaluation.golden_adding import Judged
    from twolane.evaluation.summaries import Summary


def judged_of(
    body: Mapping[str, Any], *, relevant: tuple[str, ...], partial: tuple[str, ...]
) -> Judged:
    """The judgment that a checked body describes, with documents by their names."""
    from twolane.evaluation.golden_adding import Judged

    return Judged(
        query=body["query"],
        relevant=relevant,
        partial=partial,
        unanswerable=body.get("unanswerable", False),
        lang=body.get("lang"),
        direction=body.get("direction"),
        category=body.get("category"),
    )


def query_json(query: GoldenQuery) -> Json:
    """One judged query."""
    return {
        "id": query.id,
        "query": query.query,
        "relevant": list(query.relevant),
        "partial": list(query.partial),
        "unanswerable": query.unanswerable,
        "lang": query.lang,
        "direction": query.direction,
        "category": query.category,
    }


def judgments_json(golden: GoldenSet) -> Json:
    """All of them."""
    return {"name": golden.name, "judgments": [query_json(one) for one in golden.queries]}


def measures_json(summary: Summary) -> Json:
    """What a run of the judged queries comes to: in all, by group, and query by query."""
    (run,) = runs_json([(summary, Path())], None)["runs"]
    texts = {one.id: one.query for one in summary.run.golden.queries}
    kept = ("golden", "mode", "queries", "overall", "by_direction", "by_category", "ms", "degraded")
    return {
        **{name: run[name] for name in kept},
        "each": [
            {
                "id": row.id,
                "query": texts[row.id],
                **dict(zip(summary.table.measures, row.values, strict=True)),
            }
            for row in summary.table.queries
        ],
    }


def no_measures_json(golden: GoldenSet, mode: str) -> Json:
    """The same where nothing was judged yet."""
    return {
        "golden": golden.name,
        "mode": mode,
        "queries": 0,
        "overall": None,
        "by_direction": [],
        "by_category": [],
        "ms": None,
        "degraded": [],
        "each": [],
    }
