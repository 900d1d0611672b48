"""The options that the evaluation commands share, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from twolane.errors import BadInput
from twolane.settings import Settings, cache_path

DEFAULT_MEASURES = "ndcg@10,recall@10,mrr"
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_RUNS = Path("eval-runs")

Measures = Annotated[
    str, typer.Option(metavar="M,M…", help="What to measure, with commas between.")
]
Measure = Annotated[str, typer.Option(metavar="M", help="What to measure: ndcg@10, recall@5, mrr.")]
Runs = Annotated[Path, typer.Option("--runs", metavar="DIR", help="The folder of stored runs.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting, for this run only."),
]
AskedDb = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="Ask this database. Otherwise the vault that the golden set names is indexed.",
        show_default=False,
    ),
]


def measures_of(text: str) -> tuple[str, ...]:
    """The measures that an option names, each once; refused here, before anything runs."""
    from twolane.evaluation.tables import measure

    named = [measure(part).name for part in text.split(",") if part.strip()]
    if not named:
        raise BadInput(f"--measures names nothing; write for example {DEFAULT_MEASURES}")
    return tuple(dict.fromkeys(named))


def settings_of(given: Sequence[str] | None) -> dict[str, str]:
    """The settings that `--set` gives, by name; whether they are possible is for the settings."""
    chosen = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        name = name.strip()
        if not (sign and name):
            raise BadInput(f"--set {text!r} sets nothing; write --set name=value")
        if name == "db":
            raise BadInput("--set cannot choose the database; use --db FILE")
        chosen[name] = value.strip()
    return chosen


def bench_folder(settings: Settings) -> Path:
    """Where the indexes of golden sets' own vaults are kept; they can be made again."""
    return cache_path(settings) / "eval"
