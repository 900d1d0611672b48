"""A profile of indexing, grouped by what is done and by module."""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from types import CodeType
from typing import Any

from outcome import Table
from twolane.ingest import analysis
from twolane.ingest.sources.vault import VaultSource
from twolane.stores.sql.documents import SqlDocuments

Function = tuple[str, int, str]
# Calls, primitive calls, own seconds, seconds with callees, callers.
Entry = tuple[int, int, float, float, dict[Function, tuple[int, int, float, float]]]

_MOST_MODULES = 20
_MOST_FUNCTIONS = 60


@dataclass(frozen=True, slots=True)
class Profiled:
    """The profile as tables, and its busiest functions as rows."""

    stages: Table
    modules: Table
    rows: list[dict[str, Any]]


def grouped(profile: cProfile.Profile, notes: int) -> Profiled:
    """The profile of indexing so many notes."""
    entries: dict[Function, Entry] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in entries.values())
    starts = _starts()
    stages = {name: _seconds(entries, starts[name]) for name in starts}
    # Chunking asks for the language of each passage; that time is detection's.
    stages["chunking"] -= _inside(entries, starts["language detection"], "<lambda>")
    stages["everything else"] = total - sum(stages.values())
    return Profiled(
        Table(
            f"Where the time goes, {notes:,} notes under cProfile",
            ("stage", "ms per note", "share"),
            [
                (name, round(seconds / notes * 1000, 3), f"{seconds / total:.0%}")
                for name, seconds in sorted(stages.items(), key=lambda item: -item[1])
            ],
        ),
        Table(
            "Own time by module, the same run",
            ("module", "ms per note", "share"),
            [
                (name, round(seconds / notes * 1000, 3), f"{seconds / total:.0%}")
                for name, seconds in _by_module(entries)[:_MOST_MODULES]
            ],
        ),
        _functions(entries),
    )


def _starts() -> dict[str, set[Function]]:
    """The functions with which each stage begins, as the profile names them."""
    # Taken from where they are used, so that this holds wherever they are defined.
    used = vars(analysis)
    stages: dict[str, tuple[Callable[..., Any], ...]] = {
        "reading": (VaultSource.entries, VaultSource.read),
        "parsing": (used["parse_note"],),
        "language detection": (used["language_of"],),
        "chunking": (used["chunk_document"],),
        "stemming": (used["stream"],),
        "storing": (SqlDocuments.apply,),
    }
    return {
        stage: {(code.co_filename, code.co_firstlineno, code.co_name) for code in map(_code, begun)}
        for stage, begun in stages.items()
    }


def _code(function: Callable[..., Any]) -> CodeType:
    code: CodeType = function.__code__
    return code


def _seconds(entries: dict[Function, Entry], begun: set[Function]) -> float:
    return sum(entries[function][3] for function in begun if function in entries)


def _inside(entries: dict[Function, Entry], begun: set[Function], caller: str) -> float:
    """Seconds of these functions when something of this name called them."""
    return sum(
        seconds
        for function in begun & entries.keys()
        for (_, _, name), (_, _, _, seconds) in entries[function][4].items()
        if name == caller
    )


def _by_module(entries: dict[Function, Entry]) -> list[tuple[str, float]]:
    """Own seconds by module; what is built into Python counts for the module that calls it."""
    modules: dict[str, float] = defaultdict(float)
    for function, (_, _, own, _, callers) in entries.items():
        if function[0] == "~" and callers:
            for caller, (_, _, seconds, _) in callers.items():
                modules[_module(caller)] += seconds
        else:
            modules[_module(function)] += own
    return sorted(modules.items(), key=lambda item: -item[1])


def _functions(entries: dict[Function, Entry]) -> list[dict[str, Any]]:
    busiest = sorted(entries.items(), key=lambda item: -item[1][2])[:_MOST_FUNCTIONS]
    return [
        {
            "run": "profile",
            "function": f"{_module(function)}:{function[2]}",
            "calls": entry[1],
            "own seconds": round(entry[2], 4),
            "seconds": round(entry[3], 4),
        }
        for function, entry in busiest
    ]


def _module(function: Function) -> str:
    """The module by its import name; never a path of the machine."""
    if function[0] == "~":
        return "built-in"
    if function[0].startswith("<"):
        return "generated code"
    parts = PurePath(function[0]).with_suffix("").parts
    for home in ("src", "site-packages"):
        if home in parts:
            parts = parts[len(parts) - parts[::-1].index(home) :]
            return ".".join(parts).removesuffix(".__init__")
    return parts[-2] if parts[-1] == "__init__" else parts[-1]
