"""Run a module as `python -m` does, and leave the peak of the process's memory in a file.

Behind it stands that of the largest process that it started, 0 if there was none.

python benchmarks/probe.py FILE MODULE [ARGUMENTS...]
"""

from __future__ import annotations

import runpy
import sys


def peak_mb() -> float:
    """The most memory that this process ever held in RAM, in MB (a million bytes).

    Linux counts it per program; the portable figure may count the parent process along.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123 - pathlib is memory
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def largest_child_mb() -> float:
    """The most memory that any process held which this one started and waited for.

    Linux counts what the parent held when it started it, if that was more.
    """
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    notice, module = sys.argv[1], sys.argv[2]
    sys.argv = sys.argv[2:]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        with open(notice, "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(f"{peak_mb()} {largest_child_mb()}")
