"""`twolane eval`: the evaluation lab, one command per question.

A new command is a function in a module of its own, imported and listed in `COMMANDS` below.
Modules import what they evaluate with inside the function, so that help comes at once.
"""

from __future__ import annotations

from twolane.interfaces.cli.eval_ablate import ablate
from twolane.interfaces.cli.eval_calibrate import calibrate
from twolane.interfaces.cli.eval_compare import compare, gate, report, tables
from twolane.interfaces.cli.eval_fit import fit
from twolane.interfaces.cli.eval_freshness import freshness
from twolane.interfaces.cli.eval_golden import golden
from twolane.interfaces.cli.eval_run import run, suite
from twolane.interfaces.cli.guard import group

COMMANDS = (run, suite, compare, gate, ablate, fit, calibrate, report, tables, freshness)

evaluation = group(
    "eval",
    "Measure search quality: golden sets, runs, comparisons.",
    {command.__name__: command for command in COMMANDS},
)
evaluation.add_typer(golden)
