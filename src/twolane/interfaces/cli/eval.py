"""`twolane eval`: the evaluation lab, one command per question.

A new command is a function in a module of its own, imported and listed in `COMMANDS` below.
Modules import what they evaluate with inside the function, so that help comes at once.
"""

from __future__ import annotations

from twolane.interfaces.cli.eval_golden import freshness, golden
from twolane.interfaces.cli.eval_runs import compare, gate, report, run, suite, tables
from twolane.interfaces.cli.eval_tuning import ablate, calibrate, fit
from twolane.interfaces.cli.guard import group

COMMANDS = (run, suite, compare, gate, ablate, fit, calibrate, report, tables, freshness)

evaluation = group(
    "eval",
    "Measure search quality: golden sets, runs, comparisons.",
    {command.__name__: command for command in COMMANDS},
)
evaluation.add_typer(golden)
