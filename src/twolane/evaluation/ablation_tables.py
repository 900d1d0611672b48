"""Ablations for people to read: the cells of their tables, for the screen and for documents."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.evaluation.ablation import Ablation, Measured
from twolane.evaluation.figures import change_with_interval, milliseconds, share
from twolane.evaluation.tables import MEASURES

COSTS = (
    "ms: one query, with the model and the vectors loaded. "
    "MB: the database file and, once more, the vectors that a search holds in memory."
)


def cells(rows: Sequence[Measured], measure: str, *, story: bool) -> list[list[str]]:
    """The table of one golden set: a head, then a row for each preset.

    A story shows all usual measures and the directions, since its steps are few.
    """
    directions = _directions(rows[0]) if story else []
    shown = tuple(dict.fromkeys((*MEASURES, measure))) if story else (measure,)
    head = ["", *shown, *(f"{measure} {one}" for one in directions)]
    head += [f"Δ {measure} [95 %]", "better/worse", "p50 ms", "p95 ms", "MB"]
    table = [head]
    for row in rows:
        scores = row.run.table(shown)
        overall = scores.overall
        by_direction = {one.label: one for one in scores.by_direction}
        place = scores.measures.index(measure)
        values = overall.values if overall else ()
        table.append(
            [
                row.preset.name,
                *map(share, values),
                *(share(by_direction[one].values[place]) for one in directions),
                *_change(row),
                milliseconds(row.p50),
                milliseconds(row.p95),
                f"{row.weight.megabytes:.2f}",
            ]
        )
    return table


def remarks(rows: Sequence[Measured]) -> list[str]:
    """What a reader of the table must know about single rows."""
    said = []
    for row in rows:
        reasons = [one.degraded[0] for one in row.run.asked if one.degraded]
        # Without an embedder the dense lane is missing on purpose.
        if reasons and row.run.settings.get("embedder") != "none":
            asked = len(row.run.asked)
            said.append(
                f"{row.preset.name}: {len(reasons)} of {asked} queries were answered without a "
                f"lane ({reasons[0]}); measure again when that is mended"
            )
    return said


def markdown(ablation: Ablation, *, story: bool) -> str:
    """All tables as a Markdown text."""
    parts = []
    for name, rows in ablation.by_set.items():
        head, *body = cells(rows, ablation.measure, story=story)
        lines = [f"## {name}, {len(rows[0].run.asked)} queries", "", _line(head)]
        lines += [_line(["---"] * len(head)), *map(_line, body), ""]
        parts.append("\n".join(lines))
    firsts = {row.preset.name: row.preset for row in ablation.rows}
    parts.append(
        "\n".join(
            [
                COSTS,
                "",
                *(f"- `{name}`: {preset.reason}" for name, preset in firsts.items()),
                "",
            ]
        )
    )
    return "\n".join(parts)


def _directions(row: Measured) -> list[str]:
    return [one.label for one in row.run.table(("mrr",)).by_direction]


def _change(row: Measured) -> list[str]:
    comparison = row.comparison
    if comparison is None:
        return ["", ""]
    counts = f"{len(comparison.better)}/{len(comparison.worse)}"
    return [change_with_interval(comparison.interval), counts]


def _line(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
