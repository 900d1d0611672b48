"""What the server counts about itself, for Prometheus.

All of it is counted in the one process that listens: workers send what they measured back.
Names and labels are fixed, so that nothing a caller sends can make them grow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

# Seconds; a warm search takes tens of milliseconds, the slowest a few seconds.
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

GAUGES: Mapping[str, str] = {
    "twolane_queue_depth": "Requests that wait for their turn.",
    "twolane_passages_pending": "Passages that wait for a vector.",
    "twolane_outbox_changes": "Changes that wait for the Qdrant cluster.",
    "twolane_outbox_seconds": "How long the oldest of them has waited.",
    "twolane_requests_working": "Requests that are being worked on.",
}


class Metrics:
    """Counters, histograms and gauges of one server; `gauges` are asked when the text is."""

    def __init__(self, gauges: Mapping[str, Callable[[], float]]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        own = self.registry = CollectorRegistry()
        self._requests = Counter(
            "twolane_requests_total",
            "Requests by endpoint, method and status.",
            ("endpoint", "method", "status"),
            registry=own,
        )
        self._seconds = Histogram(
            "twolane_request_seconds",
            "Time from a request to its answer, by endpoint.",
            ("endpoint",),
            buckets=_BOUNDS,
            registry=own,
        )
        self._lanes = Histogram(
            "twolane_lane_seconds",
            "Time that a lane took for a search.",
            ("lane",),
            buckets=_BOUNDS,
            registry=own,
        )
        self._degraded = Counter(
            "twolane_degraded_total",
            "Searches that a lane could not take part in, or not in full, by lane.",
            ("lane",),
            registry=own,
        )
        for name, value in gauges.items():
            Gauge(name, GAUGES[name], registry=own).set_function(value)

    def request(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(endpoint, method, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def search(self, lanes: Mapping[str, float], degraded: Sequence[str]) -> None:
        """Count a search: milliseconds by lane, and the lanes that could not run."""
        for lane, ms in lanes.items():
            self._lanes.labels(lane).observe(ms / 1000)
        for lane in degraded:
            self._degraded.labels(lane).inc()

    def text(self) -> str:
        """All of it in the text format of Prometheus."""
        return generate_latest(self.registry).decode()
