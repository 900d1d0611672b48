"""The sections of the HTML report, each a function from figures to markup.

Whatever comes from runs goes through `escape`; nothing else is put into the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from twolane.evaluation.comparing import Change
from twolane.evaluation.figures import (
    change,
    change_with_interval,
    mean_with_interval,
    milliseconds,
    probability,
    share,
)
from twolane.evaluation.markdown_tables import rows_by
from twolane.evaluation.metrics import auroc
from twolane.evaluation.plots import (
    SERIES,
    Point,
    Series,
    delta_bars,
    forest,
    grouped_bars,
    histogram,
    scatter,
)
from twolane.evaluation.report_figures import (
    LISTED,
    Entry,
    Gathered,
    Group,
    deltas,
    dense_scores,
    moved,
)
from twolane.evaluation.report_style import PAGE, SERIES_STYLE, STYLE
from twolane.evaluation.runs import Run


def page(gathered: Gathered) -> str:
    """The whole file."""
    parts = [f"<h1>{escape(gathered.title)}</h1>", _lead(gathered)]
    for group in gathered.groups:
        parts += _group(group)
    parts += _provenance(gathered)
    body = "\n".join(parts)
    return PAGE.format(title=escape(gathered.title), style=STYLE + SERIES_STYLE, body=body)


def _lead(gathered: Gathered) -> str:
    runs = [entry.summary.run for group in gathered.groups for entry in group.entries]
    queries = sum(len(group.entries[0].summary.run.asked) for group in gathered.groups)
    sets = len(gathered.groups)
    return (
        f'<p class="lead">{_counted(len(runs), "run")} over {_counted(sets, "golden set")}, '
        f"{_counted(queries, 'query', 'queries')}. Means are over queries, "
        "with 95 % bootstrap intervals.</p>"
    )


def _group(group: Group) -> Iterator[str]:
    yield f"<h2>{escape(group.golden)}</h2>"
    if group.description:
        yield f'<p class="soft">{escape(group.description)}</p>'
    if group.answerable:
        yield _tiles(group)
    yield _summary(group)
    if group.answerable:
        measure = group.entries[0].summary.table.measures[0]
        rows = [(one.label, one.summary.intervals[0]) for one in group.entries]
        caption = "The dashed line is the mean of the first run."
        yield _figure(forest(rows, f"{measure} with 95 % intervals"), caption)
        for by in ("direction", "category"):
            yield from _by(group, by)
        yield from _quality_and_time(group)
        for entry in group.entries:
            yield from _changes(group, entry)
    for entry in group.entries:
        right, other = dense_scores(entry.summary.run)
        if right and other:
            yield from _similarities(entry, right, other)
            break
    if group.answerable:
        yield from _hardest(group.entries[-1])


def _tiles(group: Group) -> str:
    """The figures that one wants first: of the last run, which is what one is looking at."""
    last = group.entries[-1]
    tiles = [
        (share(interval.estimate), name)
        for name, interval in zip(last.summary.table.measures, last.summary.intervals, strict=True)
    ]
    if last.comparison is not None:
        name = f"against {group.entries[0].label}, {probability(last.comparison.p)}"
        tiles.append((change(last.comparison.delta), name))
    tiles.append((f"{milliseconds(last.summary.p50)} ms", "median time of a query"))
    cells = "".join(
        f'<div class="tile"><b>{escape(figure)}</b><span>{escape(name)}</span></div>'
        for figure, name in tiles
    )
    return f'<h3>{escape(last.label)}</h3><div class="tiles">{cells}</div>'


def _summary(group: Group) -> str:
    first = group.entries[0].summary
    compared = len(group.entries) > 1 and group.answerable
    head = ["run", *first.table.measures]
    head += [f"Δ {first.table.measures[0]}", "p"] if compared else []
    head += ["p50 ms", "p95 ms"]
    rows = []
    for place, one in enumerate(group.entries):
        found = one.summary
        means = [_mean(mean_with_interval(interval)) for interval in found.intervals]
        cells = means or ["–"] * len(first.table.measures)
        if compared:
            cells += _delta_cells(one)
        cells += [milliseconds(found.p50), milliseconds(found.p95)]
        mark = ' class="first"' if place == 0 and len(group.entries) > 1 else ""
        rows.append(f'<tr{mark}><th scope="row">{escape(one.label)}</th>{_cells(cells)}</tr>')
    caption = f"{_counted(len(first.run.asked), 'query', 'queries')} of {group.golden}"
    if compared:
        caption += "; differences are against the first run, p by permutation"
    notes = [
        f'<p class="bad">{escape(one.label)}: {count} answers without {escape(reason)}</p>'
        for one in group.entries
        for reason, count in one.summary.degraded
    ]
    notes += [f'<p class="soft">{_verdicts(one)}</p>' for one in group.entries if _verdicts(one)]
    return _table(caption, head, rows) + "".join(notes)


def _delta_cells(entry: Entry) -> list[str]:
    found = entry.comparison
    if found is None:
        return ["baseline", ""]
    # Colour says "this is more than luck", so both ways of asking have to agree.
    sure = (found.interval.low > 0 or found.interval.high < 0) and found.p < 0.05
    kind = ("up" if found.delta > 0 else "down") if sure else ""
    text = _mean(change_with_interval(found.interval))
    p = probability(found.p).removeprefix("p ").removeprefix("= ")
    return [f'<span class="{kind}">{text}</span>' if kind else text, escape(p)]


def _verdicts(entry: Entry) -> str:
    found = entry.summary.verdicts
    if found is None:
        return ""
    asked = found.unanswerable + found.answerable + found.not_judged
    recognised = f"{found.unanswerable} of {asked} unanswerable queries recognised"
    judged = f", {found.not_judged} not judged" if found.not_judged else ""
    return f"{escape(entry.label)}: {recognised}{judged}."


def _by(group: Group, by: str) -> Iterator[str]:
    held = [{row.label: row for row in rows_by(one.summary, by)} for one in group.entries]
    groups = sorted({name for rows in held for name in rows})
    if not groups:
        return
    measure = group.entries[0].summary.table.measures[0]
    yield f"<h3>By {by}</h3>"
    series = [
        Series(one.label, tuple(rows[name].values[0] if name in rows else None for name in groups))
        for one, rows in zip(group.entries, held, strict=True)
    ]
    drawn = len(groups) <= 12
    if drawn:
        yield _legend([one.label for one in group.entries])
        yield _figure(grouped_bars(groups, series, f"{measure} by {by}"), "")
        yield "<details><summary>The same as a table</summary>"
    rows = [
        f'<tr><th scope="row">{escape(one.label)}</th>'
        + _cells(
            [
                f"{share(rows[name].values[0])} <small>{rows[name].count}</small>"
                if name in rows
                else "–"
                for name in groups
            ]
        )
        + "</tr>"
        for one, rows in zip(group.entries, held, strict=True)
    ]
    yield _table(f"{measure} by {by}, with the number of queries", ["run", *groups], rows)
    if drawn:
        yield "</details>"


def _changes(group: Group, entry: Entry) -> Iterator[str]:
    found = entry.comparison
    if found is None:
        return
    baseline = group.entries[0].label
    yield f"<h3>{escape(entry.label)} against {escape(baseline)}, query by query</h3>"
    if entry.differences:
        said = "; ".join(
            f"{escape(what)} <code>{escape(_cut(was))}</code> → <code>{escape(_cut(now))}</code>"
            for what, was, now in entry.differences
        )
        yield f'<p class="soft">Differs in: {said}.</p>'
    if not found.changes:
        yield "<p>No query changed.</p>"
        return
    title = f"Δ {found.measure} per query"
    yield _figure(delta_bars(deltas(entry), title), "One bar per query, the most gained first.")
    # What one is looking at is the last run; the others can be opened.
    opened = " open" if entry is group.entries[-1] else ""
    yield f"<details{opened}><summary>Which queries changed most, and why</summary>"
    for name, changed in (("better", found.better), ("worse", found.worse)):
        if changed:
            more = f", the first {LISTED} of {len(changed)}" if len(changed) > LISTED else ""
            head = ["query", "Δ", "ranks of right answers", "votes for the first now"]
            yield _table(f"Got {name}{more}", head, map(_moved, changed[:LISTED]))
    yield "</details>"


def _moved(one: Change) -> str:
    votes = ", ".join(
        f"{vote.lane} {'abstained' if vote.abstained else f'rank {vote.rank}'}"
        for vote in (one.now.votes if one.now else ())
    )
    kind = "up" if one.delta > 0 else "down"
    return (
        f"<tr>{_asked(one.query, one.id)}"
        f'<td><span class="{kind}">{escape(change(one.delta))}</span></td>'
        f"<td>{escape(moved(one))}</td><td>{escape(votes) or '–'}</td></tr>"
    )


def _quality_and_time(group: Group) -> Iterator[str]:
    if len(group.entries) < 2:
        return
    measure = group.entries[0].summary.table.measures[0]
    points = [
        Point(one.label, one.summary.intervals[0], one.summary.p50, one.summary.p95)
        for one in group.entries
    ]
    yield "<h3>Quality against time</h3>"
    yield _figure(
        scatter(points, f"{measure} against time per query", "ms per query"),
        "Up is better, left is quicker. Points stand at the median time; "
        "the thin line ends at the 95th percentile.",
    )


def _similarities(entry: Entry, right: Sequence[float], other: Sequence[float]) -> Iterator[str]:
    yield f"<h3>How similar right answers are ({escape(entry.label)})</h3>"
    samples = [("right", right), ("other", other)]
    yield _figure(
        histogram(samples, "Similarities of right and other results", "similarity (dense lane)"),
        f"{len(right)} right and {len(other)} other results among those returned. "
        f"A right one is more similar than another with a chance of {share(auroc(right, other))}.",
    )


def _hardest(entry: Entry) -> Iterator[str]:
    table = entry.summary.table
    hardest = sorted(table.queries, key=lambda row: (row.values[0], row.id))[:LISTED]
    if not hardest or hardest[0].values[0] >= 1:
        return
    texts = {query.id: query.query for query in entry.summary.run.golden.queries}
    rows = [
        f"<tr>{_asked(texts[row.id], row.id)}"
        + _cells([escape(row.direction or row.category or "–"), *map(share, row.values)])
        + "</tr>"
        for row in hardest
        if row.values[0] < 1
    ]
    yield f"<h3>The hardest queries ({escape(entry.label)})</h3>"
    yield _table("Lowest first", ["query", "group", *table.measures], rows)


def _provenance(gathered: Gathered) -> Iterator[str]:
    yield "<h2>How it was measured</h2>"
    rows = []
    for group in gathered.groups:
        for one in group.entries:
            run = one.summary.run
            machine = ", ".join(f"{name} {value}" for name, value in run.machine.items())
            cells = [
                escape(group.golden),
                escape(run.mode),
                escape(run.created),
                f"<code>{escape(run.commit or '–')}</code>",
                escape(str(run.settings.get("embedder", "–"))),
                f"<code>{escape((run.space or '–')[:10])}</code>",
                f"<code>{escape(run.corpus[:10] or '–')}</code>",
                _megabytes(run),
            ]
            rows.append(
                f'<tr><th scope="row">{escape(one.label)}</th>{_cells(cells)}'
                f'<td class="wide">{escape(machine)}</td></tr>'
            )
    head = ["run", "golden set", "mode", "created", "commit", "embedder", "space", "corpus"]
    head += ["memory MB", "machine"]
    yield _table("Each run is a file with everything that its figures came from", head, rows)
    yield "<footer>Made by <code>twolane eval report</code> from stored runs.</footer>"


# ------------------------------------------------------------------------------------- small parts


def _table(caption: str, head: Sequence[str], rows: Iterator[str] | Sequence[str]) -> str:
    titles = "".join(f'<th scope="col"{_wide(name)}>{escape(name)}</th>' for name in head)
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _wide(name: str) -> str:
    return ' class="wide"' if name in ("query", "machine") else ""


def _asked(query: str, id: str) -> str:
    return f'<td class="wide">{escape(query)} <small class="id">{escape(id)}</small></td>'


def _cells(cells: Sequence[str]) -> str:
    """Cells whose markup is ready."""
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _figure(svg: str, caption: str) -> str:
    said = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{svg}{said}</figure>"


def _legend(labels: Sequence[str]) -> str:
    items = "".join(
        f'<li><i style="--c:var(--s{number})"></i>{escape(label)}</li>'
        for number, label in enumerate(labels[:SERIES])
    )
    more = f"<li>and {len(labels) - SERIES} more in the table</li>" if len(labels) > SERIES else ""
    return f'<ul class="legend">{items}{more}</ul>'


def _mean(text: str) -> str:
    """A figure with its interval in a smaller hand."""
    figure, _, interval = text.partition(" ")
    return f"{escape(figure)} <small>{escape(interval)}</small>"


def _megabytes(run: Run) -> str:
    return "–" if run.megabytes is None else f"{run.megabytes:,.0f}"


def _counted(number: int, thing: str, things: str | None = None) -> str:
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
