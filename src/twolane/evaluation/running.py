"""Running a golden set: every query through a library, everything kept.

`bench` makes the library that a golden set names: its vault, indexed under given settings
into a database of its own that is kept and used again while neither they nor the code changed.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import twolane
from twolane import Answer, Library, Mode, Settings
from twolane.errors import BadInput
from twolane.evaluation.fingerprints import analysis_code
from twolane.evaluation.golden import GoldenSet, validate
from twolane.evaluation.naming import Names
from twolane.evaluation.runs import Asked, Place, Run, Vote

# Rankings are kept to this depth: beyond every usual cut-off, short enough to store.
DEPTH = 20

# What changes the index itself; a database is shared by settings that agree on these.
ANALYSIS = (
    "embedder",
    "centring",
    "languages",
    "include",
    "exclude",
    "max_file_bytes",
    "chunk_tokens",
    "chunk_overlap",
    "chunk_characters",
    "breadcrumb",
    "stemming",
)

Progress = Callable[[int, int], None]


def run_golden(
    golden: GoldenSet,
    library: Library,
    *,
    name: str = "",
    mode: Mode | str = Mode.HYBRID,
    progress: Progress = lambda done, total: None,
) -> Run:
    """Ask the library every query of the set and keep what it said."""
    names = Names(library)
    if golden.queries:
        # The first search loads the model and the vectors, which is no part of a query's time.
        library.search(golden.queries[0].query, mode=mode, limit=DEPTH)
    asked = []
    for number, query in enumerate(golden.queries):
        started = time.perf_counter()
        answer = library.search(query.query, mode=mode, limit=DEPTH)
        asked.append(_asked(query.id, answer, names, (time.perf_counter() - started) * 1000))
        progress(number + 1, len(golden.queries))
    status = library.status()
    return Run(
        name=name or golden.name,
        golden=golden,
        mode=str(mode),
        settings=plain_settings(library.settings),
        asked=tuple(asked),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        space=status.generation.space.fingerprint if status.generation else None,
        corpus=library.digest(),
        commit=_commit(),
        machine=machine(),
        megabytes=_resident_megabytes(),
    )


def bench(
    golden: GoldenSet,
    source: Path,
    settings: Settings,
    folder: Path,
    progress: Callable[[str], None] = lambda text: None,
) -> Library:
    """The library of the vault that the set names, complete, in a database under `folder`."""
    if golden.vault is None:
        raise BadInput(
            f"{golden.name} names no vault; give the database to ask with --db "
            "(`twolane status` names yours), "
            'or add "vault" to the golden set'
        )
    vault = (source.parent / golden.vault).resolve()
    if not vault.is_dir():
        raise BadInput(
            f"{golden.name} names the vault {golden.vault!r}, but {vault} is no folder; "
            f"correct it (it is seen from the folder of {source.name}), or give --db"
        )
    folder.mkdir(parents=True, exist_ok=True)
    library = Library.open(settings=replace(settings, db=_database(vault, settings, folder)))
    try:
        progress(f"indexing {vault.name}")
        library.index(vault)
        if settings.embedder != "none":
            progress(f"embedding {vault.name}")
            library.embed()
        validate(golden, Names(library).known())
    except BaseException:
        library.close()
        raise
    return library


def plain_settings(settings: Settings) -> Mapping[str, Any]:
    """The settings as JSON can hold them; places and secrets are nobody's business."""
    kept = {one.name: getattr(settings, one.name) for one in fields(Settings)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in kept.items()
        if isinstance(value, str | int | float | tuple)
    }


def machine() -> Mapping[str, Any]:
    """What the run ran on."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "twolane": twolane.__version__,
    }


def _database(vault: Path, settings: Settings, folder: Path) -> Path:
    """Where the index of the vault under these settings is, made by the code as it is now."""
    analysis = [getattr(settings, one) for one in ANALYSIS]
    stem = f"{vault.name}-{twolane.digest(f'{vault} {analysis}')[:12]}-"
    # A change of the code that reads notes may change any index, noted in a version or not.
    database = folder / f"{stem}{analysis_code()[:12]}.db"
    if not database.exists():
        for old in [path for path in folder.iterdir() if path.name.startswith(stem)]:
            # Another process may still ask the old index, or be tidying up itself.
            with suppress(OSError):
                old.unlink()
    return database


def _asked(id: str, answer: Answer, names: Names, ms: float) -> Asked:
    ranking = tuple(
        Place(
            names.of(result),
            result.score,
            result.relevance,
            tuple(
                Vote(str(one.lane), one.rank, one.value, one.abstained, one.score)
                for one in result.contributions
            ),
        )
        for result in answer.results
    )
    degraded = tuple(f"{one.lane}: {one.reason}" for one in answer.degraded)
    return Asked(id, round(ms, 3), ranking, answer.answerable, degraded)


def _commit() -> str | None:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - the user's own git
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() or None


def _resident_megabytes() -> float | None:
    """The most memory this process has held, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return round(peak / (1024 if platform.system() == "Linux" else 1024 * 1024), 1)
