"""Runs for people to read: one HTML file that needs nothing else, or the same as Markdown.

Runs of one golden set stand side by side, and the first of them is what the others are
compared with.
"""

from __future__ import annotations

from twolane.evaluation.figures import change, change_with_interval, probability, share
from twolane.evaluation.markdown_tables import (
    group_table,
    markdown_table,
    markdown_text,
    rows_by,
    summary_table,
)
from twolane.evaluation.report_figures import LISTED, Entry, Gathered, gather, moved
from twolane.evaluation.report_html import page

__all__ = ["Gathered", "gather", "html_report", "markdown_report"]


def html_report(gathered: Gathered) -> str:
    """One HTML file with inline style and plots; it loads nothing and runs nothing."""
    return page(gathered)


def markdown_report(gathered: Gathered) -> str:
    """The same figures as Markdown tables."""
    lines = [f"# {markdown_text(gathered.title)}", ""]
    for group in gathered.groups:
        lines += [f"## {markdown_text(group.golden)}", ""]
        if group.description:
            lines += [markdown_text(group.description), ""]
        lines += [*summary_table(group.labelled), ""]
        for by in ("direction", "category"):
            if any(rows_by(one.summary, by) for one in group.entries):
                lines += [f"By {by}:", "", *group_table(group.labelled, by), ""]
        for entry in group.entries:
            if entry.comparison is not None:
                lines += [*_markdown_comparison(group.entries[0].label, entry), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_comparison(baseline: str, entry: Entry) -> list[str]:
    found = entry.comparison
    if found is None:
        return []
    lines = [
        f"{markdown_text(entry.label)} against {markdown_text(baseline)}: {found.measure} "
        f"{share(found.before)} → {share(found.after)}, "
        f"Δ {markdown_text(change_with_interval(found.interval))}, "
        f"{markdown_text(probability(found.p))}; "
        f"{len(found.better)} better, {len(found.worse)} worse.",
    ]
    listed = [*found.better[:LISTED], *found.worse[:LISTED]]
    if listed:
        rows = [[one.query, change(one.delta), moved(one)] for one in listed]
        lines += ["", *markdown_table(["query", "Δ", "ranks of right answers"], rows)]
    return lines
