"""`twolane eval`: the evaluation lab, one command per question.

A new command is a function in a module of its own, imported and listed in `COMMANDS` below.
Modules import what they evaluate with inside the function, so that help comes at once.
"""

from __future__ import annotations

import typer

from twolane.interfaces.cli.eval_ablate import ablate
from twolane.interfaces.cli.eval_calibrate import calibrate
from twolane.interfaces.cli.eval_compare import compare, gate
from twolane.interfaces.cli.eval_fit import fit
from twolane.interfaces.cli.eval_freshness import freshness
from twolane.interfaces.cli.eval_golden import golden
from twolane.interfaces.cli.eval_report import report, tables
from twolane.interfaces.cli.eval_run import run
from twolane.interfaces.cli.eval_suite import suite
from twolane.interfaces.cli.guard import guarded

COMMANDS = (
    run,
    suite,
    compare,
    gate,
    ablate,
    fit,
    calibrate,
    report,
    tables,
    freshness,
)

evaluation = typer.Typer(
    name="eval",
    help="Measure the search: golden sets, runs, comparisons, gates, reports.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

for _command in COMMANDS:
    evaluation.command()(guarded(_command))
evaluation.add_typer(golden)
