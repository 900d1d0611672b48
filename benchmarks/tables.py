"""Write the page that shows the stored results; no figure on it is written by hand.

    python benchmarks/tables.py [--check]

Takes the newest result of each measurement and writes `docs/reference/benchmarks.md`.
With `--check` it writes nothing, and exits with 1 if the page is not what the results say.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import markdown_table, written_or_checked
from run import NAMES, RESULTS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "benchmarks.md"

Result = Mapping[str, Any]

_OPENING = """# Speed and memory

<!-- Written by `python benchmarks/tables.py` from benchmarks/results; do not edit. -->

Measured by `make bench`, which runs `python benchmarks/run.py` and keeps every result whole: \
command, code, versions, machine, raw rows.
Each measurement has a baseline that ran in the same minutes on the same machine, by turns.
Compare the ratios; seconds depend on the machine and on what else it was doing.
How busy it was stands at the end of this page: with a load average above the number of cores, \
everything waits its turn, and the column of CPU time says more about the code than the clock does.
The clock decides all the same whether a goal is met.
Both sides run as a user would run them; a variable that told a library how many threads to take \
stands before the command at the end of this page.
The notes are synthetic, but for those of *Real notes*: words follow Zipf's law over the \
vocabulary of the notes in this repository, half of them English, four in ten Russian, one in ten \
both.
This page says nothing about the quality of the answers.
"""


def main(arguments: Sequence[str]) -> int:
    """Write or check the page; return the exit code."""
    made = page(newest(RESULTS))
    return written_or_checked(PAGE, made, "benchmarks/tables.py", arguments)


def newest(folder: Path) -> list[Result]:
    """The newest stored result of each measurement, in the order of the measurements."""
    found: dict[str, Result] = {}
    for file in sorted(folder.glob("*.json")):
        result = json.loads(file.read_text("utf-8"))
        name = result["name"]
        if name not in found or result["started"] > found[name]["started"]:
            found[name] = result
    return [found[name] for name in NAMES if name in found]


def page(results: Sequence[Result]) -> str:
    """The page that shows these results."""
    parts = [_OPENING, "## Goals\n", _goals(results)]
    for result in results:
        parts += _section(result)
    parts += ["## What it ran on\n", _setup(results)]
    return "\n".join(parts)


def _goals(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        for goal in result["goals"]:
            unit = goal["unit"]
            most, least = goal["at_most"], goal["at_least"]
            bound = f"≤ {most:,g}" if most is not None else f"≥ {least:,g}"
            verdict = "yes" if goal["met"] else "**no**"
            measured, on_cpu = (_figure(goal[key], unit) for key in ("measured", "on_cpu"))
            rows.append((goal["what"], f"{bound} {unit}", measured, on_cpu, verdict))
    return markdown_table(("what", "goal", "measured", "by CPU time", "met"), rows)


def _figure(value: float | None, unit: str) -> str:
    """The value to three digits, or to whole units where it is large."""
    if value is None:
        return ""
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def _section(result: Result) -> Iterator[str]:
    yield f"## {result['name'].replace('_', ' ').capitalize()}\n"
    yield "\n".join(_sentences(result["method"])) + "\n"
    for table in result["tables"]:
        yield f"{table['title']}:\n"
        yield markdown_table(table["columns"], table["rows"])


def _sentences(text: str) -> list[str]:
    """One sentence per line, a blank line between paragraphs."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        joined = " ".join(paragraph.split())
        lines += [*([""] if lines else []), *re.split(r"(?<=\.) (?=[A-Z\"`])", joined)]
    return lines


def _setup(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        code, machine = result["code"], result["machine"]
        changed = " with changes" if code["changed since"] else ""
        load = " → ".join(_load(result[when]) for when in ("load before", "load after"))
        rows.append(
            (
                f"`{_told(result)}{result['command']}`",
                f"{result['started'][:10]}",
                f"{code['version']}, {code['commit'] or 'no commit'}{changed}",
                f"`{code['source']}`",
                f"{machine['processor']}, {machine['cores']} cores, {machine['memory GB']} GB",
                load,
                f"{result['seconds']:.0f} s",
            )
        )
    columns = ("command", "day", "code", "source digest", "machine", "load average", "took")
    versions = sorted({item for result in results for item in result["versions"].items()})
    return f"{markdown_table(columns, rows)}\n{markdown_table(('package', 'version'), versions)}"


def _told(result: Result) -> str:
    """The variables that were set, as a shell would be told."""
    return "".join(f"{name}={value} " for name, value in result["environment"].items() if value)


def _load(values: Sequence[float] | None) -> str:
    return "unknown" if values is None else f"{values[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
