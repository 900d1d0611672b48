"""Write the pages that show the stored results; no figure on them is written by hand.

    python benchmarks/tables.py [--check]

Takes the newest result of each measurement and writes `docs/reference/benchmarks.md`, and the
tables of `docs/explanation/safety.md` and `docs/explanation/sizing.md`.
With `--check` it writes nothing, and exits with 1 if a page is not what the results say.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import markdown_table, written_or_checked
from run import NAMES, RESULTS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "reference" / "benchmarks.md"
SAFETY_PAGE = DOCS / "explanation" / "safety.md"
SIZING_PAGE = DOCS / "explanation" / "sizing.md"

# What was done to the product, and not how fast it is.
SAFETY = ("command_kills", "kills", "damage", "faults", "leaks", "generated", "overload", "hostile")
SAFETY += ("embedder_faults",)
_BEGIN, _END = "<!-- Written by `python benchmarks/tables.py`. -->\n", "<!-- Until here. -->\n"

# What a node takes to hold so many passages, and what is shown of it.
SIZES = ("cluster", "cluster_300k", "cluster_1m")
_VECTORS = ("scalar", "none")
_HELD = (
    "passages/s",
    "µs of CPU a passage, writer",
    "µs of CPU a passage, node",
    "s of CPU for the index",
    "MB of its own",
    "MB of files",
    "MB on disk",
)
_ASKED = ("p50 ms", "p95 ms", "CPU ms", "CPU ms, node", "1 % filter", "recall@10", "file p50 ms")
# The model: so many passages, on nodes of these sizes, of whose memory so much is for them.
_MANY, _REPLICAS, _NODE_GB, _USABLE = 100_000_000, 2, (32, 64, 128), 0.7

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
    """Write or check the pages; return the exit code."""
    results = newest(RESULTS)
    pages = {
        PAGE: page(results),
        SAFETY_PAGE: safety_page(results),
        SIZING_PAGE: sizing_page(results),
    }
    script = "benchmarks/tables.py"
    return max(written_or_checked(path, made, script, arguments) for path, made in pages.items())


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


def safety_page(results: Sequence[Result]) -> str:
    """The page about safety, with what was measured."""
    by_name = {result["name"]: result for result in results}
    rows = [
        (f"`{name}`", goal["what"], _bound(goal), _figure(goal["measured"], goal["unit"]), code)
        for name in SAFETY
        if name in by_name
        for goal in by_name[name]["goals"]
        for code in [f"{by_name[name]['code']['commit']}, {by_name[name]['started'][:10]}"]
    ]
    table = markdown_table(("measurement", "what", "goal", "measured", "code and day"), rows)
    return _with_tables(SAFETY_PAGE, table)


def sizing_page(results: Sequence[Result]) -> str:
    """The page about the size of a cluster, with what nodes took and what follows from that."""
    runs = sorted(
        (result["facts"] for result in results if result["name"] in SIZES),
        key=lambda facts: facts["passages"],
    )
    if not runs:
        return SIZING_PAGE.read_text("utf-8")
    held = [(facts, name) for facts in runs for name in _VECTORS if name in facts]
    stored = markdown_table(
        (*("passages", "vectors"), *_HELD),
        [
            (f"{facts['passages']:,}", f"`{name}`", *(_shown(facts[name], key) for key in _HELD))
            for facts, name in held
        ],
    )
    asked = markdown_table(
        (*("passages", "vectors"), *_ASKED),
        [
            (f"{facts['passages']:,}", f"`{name}`", *(facts[name][key] for key in _ASKED))
            for facts, name in held
        ],
    )
    return _with_tables(SIZING_PAGE, f"{stored}\n{asked}", _model(runs))


def _shown(facts: Mapping[str, Any], key: str) -> str:
    return f"{facts[key]:,}"


def _model(runs: Sequence[Mapping[str, Any]]) -> str:
    """What a hundred million passages would take, by what each more passage took in the runs."""
    first, last = runs[0], runs[-1]
    more = last["passages"] - first["passages"]
    each = {
        key: (last["scalar"][key] - first["scalar"][key]) * 1e6 / more
        for key in ("MB of its own", "MB on disk")
    }
    rows = []
    for memory in _NODE_GB:
        wanted = _MANY * _REPLICAS * each["MB of its own"] / 1e9
        nodes = max(3, math.ceil(wanted / (memory * _USABLE)))
        rows.append(
            (
                f"{memory} GB",
                nodes,
                2 * nodes,
                f"{wanted / nodes:,.0f} GB",
                f"{_MANY * _REPLICAS * each['MB on disk'] / 1e9 / nodes:,.0f} GB",
                f"{_MANY / (2 * nodes) / 1e6:.1f} million",
            )
        )
    columns = ("memory of a node", "nodes", "shards", "of its own", "disk", "passages to a shard")
    return markdown_table(columns, rows)


def _with_tables(page: Path, *tables: str) -> str:
    """A page with these tables in the places that are marked for them."""
    text = page.read_text("utf-8")
    parts = []
    for table in tables:
        before, _, rest = text.partition(_BEGIN)
        _, _, text = rest.partition(_END)
        parts.append(f"{before}{_BEGIN}\n{table}\n{_END}")
    return "".join((*parts, text))


def _goals(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        for goal in result["goals"]:
            unit = goal["unit"]
            verdict = "yes" if goal["met"] else "**no**"
            measured, on_cpu = (_figure(goal[key], unit) for key in ("measured", "on_cpu"))
            rows.append((goal["what"], _bound(goal), measured, on_cpu, verdict))
    return markdown_table(("what", "goal", "measured", "by CPU time", "met"), rows)


def _bound(goal: Mapping[str, Any]) -> str:
    most, least = goal["at_most"], goal["at_least"]
    bound = f"≤ {most:,g}" if most is not None else f"≥ {least:,g}"
    return f"{bound} {goal['unit']}"


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
