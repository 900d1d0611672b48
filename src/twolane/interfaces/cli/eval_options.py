"""What the evaluation commands share: options, golden sets, libraries, and how tables look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import open_library
from twolane.model.errors import BadInput, NoDatabase
from twolane.settings import Settings, cache_path

if TYPE_CHECKING:
    from twolane.evaluation.golden import GoldenSet
    from twolane.library import Library

DEFAULT_MEASURES = "ndcg@10,recall@10,mrr"
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_RUNS = Path("eval-runs")

GoldenSets = Annotated[
    list[Path], typer.Argument(metavar="GOLDEN...", help="Golden sets: files or BEIR folders.")
]
Measures = Annotated[
    str, typer.Option(metavar="M,M…", help="What to measure, with commas between.")
]
Measure = Annotated[str, typer.Option(metavar="M", help="What to measure: ndcg@10, recall@5, mrr.")]
Runs = Annotated[Path, typer.Option("--runs", metavar="DIR", help="The folder of stored runs.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting, for this run only."),
]


def measures_of(text: str) -> tuple[str, ...]:
    """The measures that an option names, each once; refused here, before anything runs."""
    from twolane.evaluation.metrics import measure

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


def load_sets(paths: Sequence[Path]) -> list[tuple[Path, GoldenSet]]:
    """All golden sets, checked: a mistake in the last is told before the first takes its time."""
    from twolane.evaluation.golden import validate
    from twolane.evaluation.golden_formats import load_golden

    sets = [(path, load_golden(path)) for path in paths]
    for _, golden in sets:
        validate(golden)
    return sets


def asked_library(
    golden: GoldenSet,
    path: Path,
    settings: Settings,
    say: Callable[[str], None],
    *,
    has_db: bool = False,
) -> Library:
    """The library that a set is asked of: the database that was named, or its own documents.

    A set without documents of its own was made of all that the user has, so their library is asked.
    """
    from twolane.evaluation.golden import Names, validate
    from twolane.evaluation.golden_formats import beir_folder
    from twolane.evaluation.indexes import bench

    has_documents = golden.vault is not None or beir_folder(path) is not None
    if has_documents and not has_db:
        return bench(golden, path, settings, bench_folder(settings), say)
    try:
        library = open_library(settings)
    except NoDatabase as error:
        if has_db:
            raise
        raise BadInput(
            f'{golden.name} names no "vault", and there is no library of yours to ask; '
            "index one, or name a database with --db"
        ) from error
    try:
        validate(golden, Names(library).known())
    except BaseException:
        library.close()
        raise
    return library


def bench_folder(settings: Settings) -> Path:
    """Where the indexes of golden sets' own documents are kept; they can be made again."""
    return cache_path(settings) / "eval"


def say_grid(rows: Sequence[Sequence[str]], *, indent: int = 2) -> None:
    """Print rows as columns; the first row is the head."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        output.say((line, output.DIM) if number == 0 else line, indent=indent)


def say_stored(file: Path, *, quiet: bool, indent: int = 0) -> None:
    """Say where a result was stored."""
    if not quiet:
        output.say("stored in ", (str(file), output.PLACE), indent=indent)
