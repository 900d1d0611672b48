"""How the evaluation commands lay out what they print."""

from __future__ import annotations

from collections.abc import Sequence

import twolane.interfaces.cli.output as output


def say_grid(rows: Sequence[Sequence[str]], *, indent: int = 2) -> None:
    """Print rows as columns; the first row is the head."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        output.say((line, output.DIM) if number == 0 else line, indent=indent)
