"""Tables in Markdown files, made from stored runs, so that no figure is written by hand.

A file says where a table goes and which runs it shows:

    <!-- eval:short.dev-* measures=ndcg@10,mrr -->
    <!-- /eval -->

What stands between the two lines is replaced; doing it again changes nothing.
`by=direction` or `by=category` gives one column for each of them, in the first measure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from twolane.errors import BadInput
from twolane.evaluation.figures import mean_with_interval, milliseconds, share
from twolane.evaluation.runs import Run, load_run
from twolane.evaluation.summaries import Summary, summarise
from twolane.evaluation.tables import MEASURES, Row

_BEGIN = re.compile(r"<!-- eval:(\S+)((?: [a-z]+=\S+)*) -->")
_END = "<!-- /eval -->"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_STAMPED = re.compile(r"(.+)-([0-9]{8}-[0-9]{6})(?:-([0-9]+))?")
_GROUPS = ("direction", "category")


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
    """The text with every table between markers made anew; `source` names it in errors."""
    lines = text.split("\n")
    made: list[str] = []
    begun: tuple[int, re.Match[str]] | None = None
    for number, line, in_code in _with_fences(lines):
        if begun is None:
            made.append(line)
            if not in_code and (found := _BEGIN.fullmatch(line.strip())):
                begun = number, found
            elif not in_code and line.strip() == _END:
                raise BadInput(f"{source}, line {number}: {_END} ends nothing; remove it")
        elif line.strip() == _END:
            where = f"{source}, line {begun[0]}"
            made += ["", *_table(begun[1], stored, where), "", line]
            begun = None
        elif _BEGIN.fullmatch(line.strip()):
            break
    if begun is not None:
        raise BadInput(f"{source}, line {begun[0]}: the table has no end; write {_END} below it")
    return "\n".join(made)


def summary_table(labelled: Sequence[tuple[str, Summary]]) -> list[str]:
    """The lines of a table: one row per run with means, intervals and times."""
    measures = labelled[0][1].table.measures
    rows = []
    for label, one in labelled:
        means = map(mean_with_interval, one.intervals) if one.intervals else ["–"] * len(measures)
        times = (milliseconds(one.p50), milliseconds(one.p95))
        rows.append([label, one.run.mode, str(len(one.run.asked)), *means, *times])
    return markdown_table(["run", "mode", "queries", *measures, "p50 ms", "p95 ms"], rows)


def group_table(labelled: Sequence[tuple[str, Summary]], by: str) -> list[str]:
    """The lines of a table: one row per run, one column per group, in the first measure."""
    measure = labelled[0][1].table.measures[0]
    held = [
        (label, one.run.mode, {row.label: row for row in rows_by(one, by)})
        for label, one in labelled
    ]
    groups = sorted({group for _, _, rows in held for group in rows})
    return markdown_table(
        [measure, "mode", *groups],
        [
            [
                label,
                mode,
                *(share(rows[group].values[0]) if group in rows else "–" for group in groups),
            ]
            for label, mode, rows in held
        ],
    )


def rows_by(summary: Summary, by: str) -> Sequence[Row]:
    """The means by direction or by category."""
    return summary.table.by_direction if by == "direction" else summary.table.by_category


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; the first column is text, the others are figures."""
    rules = ["---", *["--:"] * (len(head) - 1)]
    return [_row(head), f"|{'|'.join(rules)}|", *(_row(row) for row in rows)]


def markdown_text(text: str) -> str:
    """The text as one line in which nothing is markup, HTML or a column."""
    line = " ".join(text.split())
    line = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"


def _table(marker: re.Match[str], stored: StoredRuns, where: str) -> list[str]:
    options = dict(part.split("=", 1) for part in marker[2].split())
    by = options.pop("by", None)
    measures = options.pop("measures", ",".join(MEASURES)).split(",")
    if options or by not in (None, *_GROUPS):
        raise BadInput(f"{where}: the options are measures=M,M and by=direction or by=category")
    try:
        found = stored.newest(marker[1])
        labelled = [(_label(run), summarise(run, measures)) for _, run in found]
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error
    if by is not None and not any(rows_by(one, by) for _, one in labelled):
        raise BadInput(f"{where}: no query of these runs has a {by}; leave by={by} out")
    table = summary_table(labelled) if by is None else group_table(labelled, by)
    return [*table, "", _origin(found)]


def _label(run: Run) -> str:
    return run.golden.name if run.name == run.golden.name else f"{run.name} ({run.golden.name})"


def _origin(found: Sequence[tuple[str, Run]]) -> str:
    """Where the figures come from."""
    files = ", ".join(f"`{file.replace('`', '')}`" for file, _ in found)
    commits = sorted({run.commit for _, run in found if run.commit})
    machines = {
        f"{run.machine.get('system')} {run.machine.get('processor')}, "
        f"{run.machine.get('cores')} cores"
        for _, run in found
        if run.machine
    }
    parts = [f"From {files}"]
    if commits:
        parts.append(f"commit {', '.join(commits)}")
    parts += sorted(machines)
    return f"{'; '.join(parts)}. Means with 95 % bootstrap intervals over queries."


def _with_fences(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """The lines, numbered from 1, and whether each is inside a block of code."""
    fence: str | None = None
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
            yield number, line, True
        elif mark and fence is not None and mark[1].startswith(fence):
            fence = None
            yield number, line, True
        else:
            yield number, line, fence is not None
