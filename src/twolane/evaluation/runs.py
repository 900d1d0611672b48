"""Runs as artefacts: everything that a figure came from, in one JSON file.

A run keeps the settings, the space, the corpus' digest, the commit, the machine,
and for each query the ranking with its contributions and its time,
so that any figure can be computed again, and any two runs compared, without running anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from twolane.errors import BadInput
from twolane.evaluation.golden_json import as_json, read_json
from twolane.evaluation.golden_values import GoldenSet
from twolane.evaluation.tables import MEASURES, Table, tabulate
from twolane.evaluation.text_files import read_text, write_text

FORMAT = "twolane-run/1"

# What a file name should not hold: separators, blanks, and whatever a shell reads otherwise.
_UNSUITABLE = re.compile(r"[^\w.+]+")


@dataclass(frozen=True, slots=True)
class Vote:
    """What one lane gave one document; `score` is the lane's own: a similarity in the dense one."""

    lane: str
    rank: int | None
    value: float
    abstained: bool = False
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """One document of a ranking."""

    path: str
    score: float
    relevance: float | None = None
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """One query as it was answered."""

    id: str
    ms: float
    ranking: tuple[Place, ...]
    answerable: bool | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of a golden set through one configuration."""

    name: str
    golden: GoldenSet
    mode: str
    settings: Mapping[str, Any]
    asked: tuple[Asked, ...]
    created: str = ""
    space: str | None = None
    corpus: str = ""
    commit: str | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)
    megabytes: float | None = None

    def table(self, measures: Sequence[str] = MEASURES) -> Table:
        """What each query scored."""
        return tabulate(self.golden, self.rankings, measures)

    @property
    def rankings(self) -> dict[str, list[str]]:
        """Query id → documents, best first."""
        return {one.id: [place.path for place in one.ranking] for one in self.asked}

    @property
    def milliseconds(self) -> list[float]:
        """How long each query took, in order."""
        return [one.ms for one in self.asked]


def save_run(run: Run, path: Path) -> None:
    """Write the run; the file is complete or absent."""
    document = {"format": FORMAT, **asdict(run), "golden": as_json(run.golden)}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def store_run(run: Run, folder: Path, *, label: str = "") -> Path:
    """Write the run into the folder under a name of its own; nothing is overwritten, ever.

    The name is `<label>-<mode>-<yyyymmdd-hhmmss>.json`; the label is the run's name by default.
    """
    folder.mkdir(parents=True, exist_ok=True)
    label = _UNSUITABLE.sub("-", label or run.name).strip("-.") or "run"
    stamp = datetime.fromisoformat(run.created).strftime("%Y%m%d-%H%M%S")
    for number in count(1):
        again = "" if number == 1 else f"-{number}"
        path = folder / f"{label}-{run.mode}-{stamp}{again}.json"
        try:
            # Whoever creates the file owns the name, even if another process wants it, too.
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        try:
            save_run(run, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path
    raise AssertionError("there is always another number")


def load_run(path: Path) -> Run:
    """Read a run, or say what is wrong with the file."""
    try:
        document = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(f"{path} is no run of `twolane eval run` (format {FORMAT})")
    document.pop("format")
    try:
        golden = read_json(json.dumps(document.pop("golden")), path.name, path.stem)
        asked = tuple(_asked(one) for one in document.pop("asked"))
        return Run(golden=golden, asked=asked, **document)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is not a complete run: {error}; run it again") from error


def _asked(one: dict[str, Any]) -> Asked:
    ranking = tuple(
        Place(
            str(place["path"]),
            float(place["score"]),
            place["relevance"],
            tuple(Vote(**vote) for vote in place["votes"]),
        )
        for place in one["ranking"]
    )
    return Asked(one["id"], float(one["ms"]), ranking, one["answerable"], tuple(one["degraded"]))
