"""Starting `twolane` as a user would, but with nothing of the user's own around it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from machine import SOURCE

PROBE = Path(__file__).resolve().parent / "probe.py"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment without settings of ours, with every home inside the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TWOLANE_")}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(SOURCE.parent), kept.get("PYTHONPATH")))),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "TWOLANE_CACHE": str(folder / "cache"),
        **more,
    }


def run(words: Sequence[str | Path], variables: Mapping[str, str]) -> str:
    """What a new Python process with these arguments prints; raises if it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env=dict(variables),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        shown = " ".join(map(str, words))
        raise RuntimeError(f"python {shown} exited with {done.returncode}:\n{done.stderr}")
    return done.stdout


def peaks_mb(
    words: Sequence[str | Path], variables: Mapping[str, str], notice: Path
) -> tuple[float, float]:
    """The most memory in MB that `python -m WORDS` held, and the largest process it started.

    `notice` is a file for the figures.
    """
    run([PROBE, notice, *words], variables)
    own, largest = notice.read_text("ascii").split()
    return float(own), float(largest)
