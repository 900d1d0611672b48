"""What the server counts about itself, and the text that Prometheus reads.

Names and labels are fixed, so that nothing a caller sends can make them grow.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Seconds; a warm search takes tens of milliseconds, the slowest a few seconds.
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Histogram:
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """Counters, histograms and gauges of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], int] = {}
        self._histograms: dict[tuple[str, Labels], _Histogram] = {}
        self._gauges: dict[str, Callable[[], float]] = {}

    def request(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        labels = (("endpoint", endpoint), ("method", method), ("status", str(status)))
        with self._lock:
            self._count("twolane_requests_total", labels)
            self._observe("twolane_request_seconds", (("endpoint", endpoint),), seconds)

    def search(self, lanes: Mapping[str, float], degraded: Sequence[str]) -> None:
        """Count a search: milliseconds by lane, and the lanes that could not run."""
        with self._lock:
            for lane, ms in lanes.items():
                self._observe("twolane_lane_seconds", (("lane", lane),), ms / 1000)
            for lane in degraded:
                self._count("twolane_degraded_total", (("lane", lane),))

    def gauge(self, name: str, value: Callable[[], float]) -> None:
        """Tell this value, asked when the text is."""
        self._gauges[name] = value

    def text(self) -> str:
        """All of it in the text format of Prometheus."""
        with self._lock:
            lines = [*self._counted(), *self._observed()]
        for name, value in sorted(self._gauges.items()):
            lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
            lines.append(f"{name} {value():g}")
        return "\n".join([*lines, ""])

    def _count(self, name: str, labels: Labels) -> None:
        self._counters[name, labels] = self._counters.get((name, labels), 0) + 1

    def _observe(self, name: str, labels: Labels, seconds: float) -> None:
        self._histograms.setdefault((name, labels), _Histogram()).add(seconds)

    def _counted(self) -> Iterator[str]:
        told = ""
        for (name, labels), count in sorted(self._counters.items()):
            if name != told:
                yield from (f"# HELP {name} {HELP[name]}", f"# TYPE {name} counter")
                told = name
            yield f"{name}{_labelled(labels)} {count}"

    def _observed(self) -> Iterator[str]:
        told = ""
        for (name, labels), one in sorted(self._histograms.items(), key=lambda item: item[0]):
            if name != told:
                yield from (f"# HELP {name} {HELP[name]}", f"# TYPE {name} histogram")
                told = name
            below = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), one.counts, strict=True):
                below += count
                yield f"{name}_bucket{_labelled((*labels, ('le', bound)))} {below}"
            yield f"{name}_sum{_labelled(labels)} {one.total:.6f}"
            yield f"{name}_count{_labelled(labels)} {below}"


HELP: Mapping[str, str] = {
    "twolane_requests_total": "Requests by endpoint, method and status.",
    "twolane_request_seconds": "Time from a request to its answer, by endpoint.",
    "twolane_lane_seconds": "Time that a lane took for a search.",
    "twolane_degraded_total": "Searches that a lane could not take part in, by lane.",
    "twolane_queue_depth": "Requests that wait for their turn.",
    "twolane_passages_pending": "Passages that wait for a vector.",
    "twolane_requests_working": "Requests that are being worked on.",
}


def _labelled(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
