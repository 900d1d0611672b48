"""Write the page that shows what each choice of the ranking is worth; no figure by hand.

    python benchmarks/ablation_page.py [--check]

Takes the newest `ablation-*.json`, `embedders-*.json` and `story-*.json` of `benchmarks/runs`,
which `twolane eval ablate` writes, and writes `docs/explanation/ablation.md`.
With `--check` it writes nothing, and exits with 1 if the page is not what the runs say.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import markdown_table, share, written_or_checked

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "benchmarks" / "runs"
PAGE = ROOT / "docs" / "explanation" / "ablation.md"

Ablation = Mapping[str, Any]

_OPENING = """# What each choice is worth

<!-- Written by `python benchmarks/ablation_page.py` from benchmarks/runs; do not edit. -->

Every row changes one thing about the settings as they are, and asks every query of every \
`dev` set again.
Figures are differences of nDCG@10; a star marks one whose 95 % interval (paired bootstrap over \
the queries of the set) does not hold 0.
The mean is over the sets, each counted once.
Among so many figures some have a star by chance, and a set of thirty queries moves by .01 when \
one answer moves by a few places: what is worth believing shows on several sets, or on \
[XQuAD](../reference/xquad.md), which is larger.
A choice without any effect here is one that these sets do not ask for: they hold few addresses, \
copies or templates, and [other measurements](ranking.md#what-was-tried) speak for those.
The names are those of [`twolane eval ablate`](../reference/eval-ablate.md#variations), which \
tells what each changes and why.
"""

_PARTS = (
    ("ablation", "The settings as they are, and each change of them"),
    ("embedders", "Both models side by side, and what is worth what there"),
    ("story", "The published steps"),
)

_NOTES = {
    "embedders": "Here everything is compared with `embedding.embedder = ensemble`.\n",
    "story": """\
The [steps of another team](the-story.md), each with those before it; figures are nDCG@10 itself.
""",
}


def main(arguments: Sequence[str]) -> int:
    """Write or check the page; return the exit code."""
    made = page({label: newest(RUNS, label) for label, _ in _PARTS})
    return written_or_checked(PAGE, made, "benchmarks/ablation_page.py", arguments)


def newest(folder: Path, label: str) -> Ablation:
    """The newest stored result of this label."""
    file = max(folder.glob(f"{label}-*.json"))
    found: Ablation = json.loads(file.read_text("utf-8"))
    return found


def page(found: Mapping[str, Ablation]) -> str:
    """The page that shows these results."""
    parts = [_OPENING]
    for label, title in _PARTS:
        heads = _heads(found[label])
        parts += [f"## {title}\n", *([_NOTES[label]] if label in _NOTES else [])]
        if label == "story":
            parts.append(markdown_table(heads, _steps(found[label])))
        else:
            parts.append(markdown_table([*heads, "mean"], _changes(found[label])))
    parts += ["## What it ran on\n", markdown_table(["run", "day", "commit"], _setup(found))]
    return "\n".join(parts)


def _heads(one: Ablation) -> list[str]:
    return ["", *(str(golden["name"]).removesuffix(".dev") for golden in one["sets"])]


def _changes(one: Ablation) -> Iterator[list[str]]:
    """The settings as they are, then every change of them by name, as listed."""
    figures, changes = _by_preset(one)
    for name, values in figures.items():
        deltas = changes[name]
        if all(delta is None for delta in deltas):
            yield [name, *map(share, values), share(statistics.fmean(values))]
        else:
            known = [delta for delta in deltas if delta is not None]
            mean = statistics.fmean(delta["estimate"] for delta in known)
            yield [name, *map(_change, known), _signed(mean)]


def _steps(one: Ablation) -> Iterator[list[str]]:
    for name, values in _by_preset(one)[0].items():
        yield [name, *map(share, values)]


def _by_preset(
    one: Ablation,
) -> tuple[dict[str, list[float]], dict[str, list[Mapping[str, float] | None]]]:
    """The figure and the difference of each preset, set by set."""
    figures: dict[str, list[float]] = {}
    changes: dict[str, list[Mapping[str, float] | None]] = {}
    for golden in one["sets"]:
        for run in golden["runs"]:
            figures.setdefault(run["preset"], []).append(run["figures"]["all"]["ndcg@10"])
            changes.setdefault(run["preset"], []).append(run["delta"])
    return figures, changes


def _setup(found: Mapping[str, Ablation]) -> Iterator[list[str]]:
    for label, one in found.items():
        yield [label, one["created"][:10], one["commit"]]


def _change(delta: Mapping[str, float]) -> str:
    beyond = delta["low"] > 0 or delta["high"] < 0
    return _signed(delta["estimate"]) + ("*" if beyond else "")


def _signed(value: float) -> str:
    written = share(abs(value))
    return "0" if written == ".000" else f"{'−' if value < 0 else '+'}{written}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
