"""Runs for people to read: Markdown, the same as an HTML page, and tables in documents.

Runs of one golden set stand side by side; the first is what the others are compared with.
Whatever comes from runs goes through `markdown_text`, so none of it can become markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import median
from string import Template

from twolane import BadInput
from twolane.evaluation.comparing import Change, Comparison, circumstances, compare
from twolane.evaluation.figures import (
    change,
    change_with_interval,
    mean_with_interval,
    milliseconds,
    probability,
    share,
)
from twolane.evaluation.files import with_fences
from twolane.evaluation.golden import as_references
from twolane.evaluation.metrics import MEASURES, Row, auroc
from twolane.evaluation.runs import Run, Summary, load_run, summarise

# How many queries are listed one by one: enough to see a pattern, few enough to read.
LISTED = 8

_GROUPS = ("direction", "category")


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of a group: its label, its figures, and how it differs from the first."""

    label: str
    summary: Summary
    comparison: Comparison | None
    differences: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one golden set; the first is the baseline."""

    golden: str
    description: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that a report shows."""

    title: str
    groups: tuple[Group, ...]


def gather(runs: Sequence[Run], measures: Sequence[str], title: str = "") -> Gathered:
    """The figures of the runs, by golden set in the order given."""
    if not runs:
        raise BadInput("a report shows at least one run; name some")
    sets: dict[str, list[Run]] = {}
    for run in runs:
        sets.setdefault(run.golden.name, []).append(run)
    groups = tuple(_gathered(name, some, measures) for name, some in sets.items())
    return Gathered(title or "Search quality", groups)


def _gathered(name: str, runs: Sequence[Run], measures: Sequence[str]) -> Group:
    first, entries = runs[0], []
    for run, label in zip(runs, _labels(runs), strict=True):
        summary = summarise(run, measures)
        comparable = run is not first and bool(summary.intervals)
        comparison = compare(first, run, summary.table.measures[0]) if comparable else None
        differences = tuple(circumstances(first, run)) if run is not first else ()
        entries.append(Entry(label, summary, comparison, differences))
    return Group(name, first.golden.description, tuple(entries))


def _labels(runs: Sequence[Run]) -> list[str]:
    """Short names that tell the runs of one golden set apart."""
    names = [run.name if run.name != run.golden.name else run.mode for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.name} {run.mode}" for run in runs]
    total, seen = Counter(names), Counter[str]()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} #{seen[name]}" if total[name] > 1 else name)
    return labels


# ------------------------------------------------------------------------------- Markdown


def markdown_report(gathered: Gathered) -> str:
    """The report as Markdown."""
    runs = sum(len(group.entries) for group in gathered.groups)
    queries = sum(len(group.entries[0].summary.run.asked) for group in gathered.groups)
    blocks = [
        f"# {markdown_text(gathered.title)}",
        f"{_counted(runs, 'run')} over {_counted(len(gathered.groups), 'golden set')}, "
        f"{_counted(queries, 'query', 'queries')}. "
        "Means are over queries, with 95 % bootstrap intervals.",
    ]
    for group in gathered.groups:
        blocks += _group(group)
    blocks += ["## How it was measured", _provenance(gathered)]
    return "\n\n".join(blocks) + "\n"


def _group(group: Group) -> Iterator[str]:
    first, last = group.entries[0], group.entries[-1]
    labelled = [(entry.label, entry.summary) for entry in group.entries]
    yield f"## {markdown_text(group.golden)}"
    if group.description.strip():
        yield _paragraph(group.description)
    yield summary_table(labelled, [entry.comparison for entry in group.entries])
    for entry in group.entries:
        yield from _remarks(entry)
    for by in _GROUPS:
        if any(_rows_by(entry.summary, by) for entry in group.entries):
            yield f"By {by}:"
            yield group_table(labelled, by)
    for entry in group.entries:
        yield from _changes(first.label, entry)
    for entry in group.entries:
        right, other = relevances(entry.summary.run)
        if right and other:
            yield (
                f"Relevance ({markdown_text(entry.label)}): {median(right):.2f} is the median "
                f"of {len(right)} right results, {median(other):.2f} of {len(other)} others. "
                f"A right one is rated higher with a chance of {share(auroc(right, other))}."
            )
            break
    yield from _hardest(last)


def _remarks(entry: Entry) -> Iterator[str]:
    for reason, count in entry.summary.degraded:
        yield _paragraph(f"{entry.label}: {count} answers without {reason}")
    if (found := entry.summary.verdicts) is not None:
        asked = found.unanswerable + found.answerable + found.not_judged
        judged = f", {found.not_judged} not judged" if found.not_judged else ""
        told = f"{found.unanswerable} of {asked} unanswerable queries recognised{judged}"
        yield _paragraph(f"{entry.label}: {told}.")


def _changes(baseline: str, entry: Entry) -> Iterator[str]:
    found = entry.comparison
    if found is None:
        return
    yield f"### {markdown_text(f'{entry.label} against {baseline}, query by query')}"
    yield markdown_text(
        f"{found.measure} {share(found.before)} → {share(found.after)}, "
        f"Δ {change_with_interval(found.interval)}, {probability(found.p)}; "
        f"{len(found.better)} better, {len(found.worse)} worse."
    )
    if entry.differences:
        said = [f"{what} {_cut(was)} → {_cut(now)}" for what, was, now in entry.differences]
        yield markdown_text(f"Differs in: {'; '.join(said)}.")
    for name, queries in (("better", found.better), ("worse", found.worse)):
        if queries:
            more = f", the first {LISTED} of {len(queries)}" if len(queries) > LISTED else ""
            yield f"Got {name}{more}:"
            head = ["query", "Δ", "ranks of right answers", "why the first is there now"]
            yield markdown_table(head, [_moved(one) for one in queries[:LISTED]])


def _moved(one: Change) -> list[str]:
    shares = [
        f"{name} {share_:+.1f}" for name, share_ in (one.now.shares if one.now else {}).items()
    ]
    before, after = (
        ", ".join(map(str, ranks)) or "none" for ranks in (one.ranks_before, one.ranks_after)
    )
    return [one.query, change(one.delta), f"{before} → {after}", ", ".join(shares) or "–"]


def relevances(run: Run) -> tuple[list[float], list[float]]:
    """The relevances of right and of other results, as far as the run kept them."""
    grades = {query.id: query.grades for query in run.golden.queries}
    right: list[float] = []
    other: list[float] = []
    for one in run.asked:
        names = as_references([place.path for place in one.ranking], grades[one.id])
        for name, place in zip(names, one.ranking, strict=True):
            if place.relevance is not None:
                (right if grades[one.id].get(name, 0) >= 1 else other).append(place.relevance)
    return right, other


def _hardest(entry: Entry) -> Iterator[str]:
    table = entry.summary.table
    hardest = sorted(table.queries, key=lambda row: (row.values[0], row.id))[:LISTED]
    texts = {query.id: query.query for query in entry.summary.run.golden.queries}
    rows = [
        [texts[row.id], row.direction or row.category or "–", *map(share, row.values)]
        for row in hardest
        if row.values[0] < 1
    ]
    if rows:
        yield f"The hardest queries ({markdown_text(entry.label)}), lowest first:"
        yield markdown_table(["query", "group", *table.measures], rows)


def _provenance(gathered: Gathered) -> str:
    """Where each run came from, and on what."""
    entries = [(group.golden, entry) for group in gathered.groups for entry in group.entries]
    head = ["run", "golden set", "mode", "created", "commit", "embedder", "space", "corpus"]
    rows = []
    for golden, one in entries:
        run = one.summary.run
        embedder, memory = str(run.settings.get("embedding.embedder", "–")), run.megabytes
        row = [one.label, golden, run.mode, run.created, run.commit or "–", embedder]
        row += [(run.space or "–")[:10], run.corpus[:10] or "–"]
        machine = ", ".join(f"{name} {value}" for name, value in run.machine.items())
        rows.append([*row, "–" if memory is None else f"{memory:,.0f}", machine])
    return markdown_table([*head, "memory MB", "machine"], rows)


def summary_table(
    labelled: Sequence[tuple[str, Summary]], compared: Sequence[Comparison | None] = ()
) -> str:
    """One row per run with means, intervals and times; with differences if there are any."""
    measures, rows = labelled[0][1].table.measures, []
    for number, (label, one) in enumerate(labelled):
        means = map(mean_with_interval, one.intervals) if one.intervals else ["–"] * len(measures)
        row = [label, one.run.mode, str(len(one.run.asked)), *means]
        if any(compared):
            found = compared[number]
            row += [change_with_interval(found.interval), _p(found.p)] if found else ["", ""]
        rows.append([*row, milliseconds(one.p50), milliseconds(one.p95)])
    deltas = [f"Δ {measures[0]}", "p"] if any(compared) else []
    return markdown_table(["run", "mode", "queries", *measures, *deltas, "p50 ms", "p95 ms"], rows)


def group_table(labelled: Sequence[tuple[str, Summary]], by: str) -> str:
    """One row per run, one column per direction or category, in the first measure."""
    held = [
        (label, one.run.mode, {row.label: row for row in _rows_by(one, by)})
        for label, one in labelled
    ]
    groups = sorted({group for _, _, rows in held for group in rows})
    rows = [
        [label, mode, *(share(rows[group].values[0]) if group in rows else "–" for group in groups)]
        for label, mode, rows in held
    ]
    return markdown_table([labelled[0][1].table.measures[0], "mode", *groups], rows)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    rules = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join([_row(head), f"|{'|'.join(rules)}|", *map(_row, rows)])


def markdown_text(text: str) -> str:
    """The text as one line in which nothing is markup, HTML or a column."""
    line = " ".join(text.split())
    line = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _paragraph(text: str) -> str:
    """The text as a paragraph: it begins no list, and underlines nothing as a heading."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", markdown_text(text))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"


def _rows_by(summary: Summary, by: str) -> Sequence[Row]:
    return summary.table.by_direction if by == "direction" else summary.table.by_category


def _p(p: float) -> str:
    return probability(p).removeprefix("p ").removeprefix("= ")


def _counted(number: int, thing: str, things: str | None = None) -> str:
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


# ------------------------------------------------------------------------------- HTML

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root{color-scheme:light dark;--paper:#fdfdfc;--ink:#1b1f24;--soft:#5d6673;--rule:#e3e5e8}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e8eb;--soft:#98a1ad;
--rule:#2b3037}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:3rem 1.5rem}
h2{margin:3rem 0 .3rem;padding-top:1.4rem;border-top:1px solid var(--rule)}
h3{margin:2.2rem 0 .5rem}
p{color:var(--soft);max-width:46rem}
table{display:block;overflow-x:auto;border-collapse:collapse;margin:1rem 0;font-size:.92rem;
font-variant-numeric:tabular-nums}
th,td{padding:.4rem .9rem .4rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
th:first-child,td:first-child{text-align:left;min-width:9rem}
td+td{white-space:nowrap}
th{color:var(--soft);font-weight:500}
</style></head>
<body><main>
$body</main></body></html>
""")


def html_report(gathered: Gathered) -> str:
    """The same as one HTML file with inline style; it loads nothing and runs nothing."""
    from markdown_it import MarkdownIt

    # Raw HTML stays text, as in the Markdown itself.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = markdown.render(markdown_report(gathered))
    return _PAGE.substitute(title=escape(gathered.title), body=body)


# ------------------------------------------------------------------------- tables in documents

_BEGIN = re.compile(r"<!-- eval:(\S+)((?: [a-z]+=\S+)*) -->")
_END = "<!-- /eval -->"
_STAMPED = re.compile(r"(.+)-([0-9]{8}-[0-9]{6})(?:-([0-9]+))?")


class StoredRuns:
    """The runs of a folder by name: what is before the time in the name of their file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def newest(self, pattern: str) -> list[tuple[str, Run]]:
        """The newest run of each name that the pattern (with `*` and `?`) names, by name."""
        found = [name for name in sorted(self._files) if fnmatchcase(name, pattern)]
        if not found:
            known = ", ".join(sorted(self._files)) or "none at all"
            raise BadInput(f"{self._folder} has no run {pattern!r}; it has {known}")
        return [(self._files[name].name, load_run(self._files[name])) for name in found]

    @cached_property
    def _files(self) -> dict[str, Path]:
        if not self._folder.is_dir():
            raise BadInput(
                f"there is no folder {self._folder}; name the folder of runs with --runs"
            )
        newest: dict[str, tuple[str, int, Path]] = {}
        for path in sorted(self._folder.glob("*.json")):
            stamped = _STAMPED.fullmatch(path.stem)
            name, stamp, again = stamped.groups() if stamped else (path.stem, "", None)
            this = (stamp, int(again or 1), path)
            if name not in newest or newest[name][:2] <= this[:2]:
                newest[name] = this
        return {name: path for name, (_, _, path) in newest.items()}


def refreshed(text: str, stored: StoredRuns, source: str) -> str:
    """The text with every table between markers made anew; `source` names it in errors.

    `<!-- eval:short.dev-* measures=ndcg@10,mrr -->` begins a table of the runs of that name and
    `<!-- /eval -->` ends it; `by=direction` or `by=category` gives a column for each of them.
    """
    made: list[str] = []
    begun: tuple[int, re.Match[str]] | None = None
    for number, line, in_code in with_fences(text):
        if begun is None:
            made.append(line)
            if not in_code and (found := _BEGIN.fullmatch(line.strip())):
                begun = number, found
            elif not in_code and line.strip() == _END:
                raise BadInput(f"{source}, line {number}: {_END} ends nothing; remove it")
        elif line.strip() == _END:
            where = f"{source}, line {begun[0]}"
            made += ["", *_refreshed_table(begun[1], stored, where), "", line]
            begun = None
        elif _BEGIN.fullmatch(line.strip()):
            break
    if begun is not None:
        raise BadInput(f"{source}, line {begun[0]}: the table has no end; write {_END} below it")
    return "\n".join(made)


def _refreshed_table(marker: re.Match[str], stored: StoredRuns, where: str) -> list[str]:
    options = dict(part.split("=", 1) for part in marker[2].split())
    by = options.pop("by", None)
    measures = options.pop("measures", ",".join(MEASURES)).split(",")
    if options or by not in (None, *_GROUPS):
        raise BadInput(f"{where}: the options are measures=M,M and by=direction or by=category")
    try:
        found = stored.newest(marker[1])
        labelled = [(_named(run), summarise(run, measures)) for _, run in found]
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error
    if by is not None and not any(_rows_by(one, by) for _, one in labelled):
        raise BadInput(f"{where}: no query of these runs has a {by}; leave by={by} out")
    table = summary_table(labelled) if by is None else group_table(labelled, by)
    return [table, "", _origin(found)]


def _named(run: Run) -> str:
    return run.golden.name if run.name == run.golden.name else f"{run.name} ({run.golden.name})"


def _origin(found: Sequence[tuple[str, Run]]) -> str:
    """Where the figures come from."""
    files = ", ".join(f"`{file.replace('`', '')}`" for file, _ in found)
    commits = ", ".join(sorted({run.commit for _, run in found if run.commit}))
    machines = {
        "{system} {processor}, {cores} cores".format_map({**_NO_MACHINE, **run.machine})
        for _, run in found
        if run.machine
    }
    parts = [f"From {files}", *([f"commit {commits}"] if commits else []), *sorted(machines)]
    return f"{'; '.join(parts)}. Means with 95 % bootstrap intervals over queries."


_NO_MACHINE = dict.fromkeys(("system", "processor", "cores"))
