"""How figures are written, on the screen and in reports: everywhere the same."""

from __future__ import annotations

from twolane.evaluation.significance import Interval

MINUS = "\N{MINUS SIGN}"


def share(value: float) -> str:
    """A mean between 0 and 1: `.912`, `1.000`."""
    return f"{value:.3f}".removeprefix("0")


def change(value: float) -> str:
    """A difference with its sign: `+.018`, `−.034`, `±.000`."""
    text = share(abs(value))
    if text == ".000":
        return f"±{text}"
    return f"{'+' if value > 0 else MINUS}{text}"


def mean_with_interval(interval: Interval) -> str:
    """A mean and where it lies: `.912 [.871, .952]`."""
    return f"{share(interval.estimate)} [{share(interval.low)}, {share(interval.high)}]"


def change_with_interval(interval: Interval) -> str:
    """A difference and where it lies: `+.018 [−.004, +.040]`."""
    return f"{change(interval.estimate)} [{change(interval.low)}, {change(interval.high)}]"


def probability(p: float) -> str:
    """The p of a test: `p = .012`, or `p < .001`."""
    return "p < .001" if p < 0.001 else f"p = {share(p)}"


def milliseconds(value: float) -> str:
    """A time with about three digits: `0.42`, `3.4`, `128`."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
