"""Plots as inline SVG: no script, no file beside the page, colours from its style sheet.

A shape carries a class (`s0` … `s7` for series, `better`, `worse`, `axis`, `grid`), and the page
says how classes look in light and in dark. Every text is escaped; every plot has a title and a
description for those who cannot see it, and every mark a title that shows when it is pointed at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from twolane.evaluation.figures import change, mean_with_interval, milliseconds, share
from twolane.evaluation.significance import Interval

WIDTH = 760
SERIES = 8

_FONT = 13  # Pixels; about what one character of a label takes is half of it.


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one run, one for each group; None where it has no such group."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One run by quality and time."""

    name: str
    quality: Interval
    p50: float
    p95: float


def forest(rows: Sequence[tuple[str, Interval]], title: str) -> str:
    """Means with their intervals, one row each; a dashed line continues the first mean."""
    left, right, step, top = _label_room(name for name, _ in rows), 150, 30, 8
    height = top + step * len(rows) + 34
    scale = _Scale.over(
        [value for _, one in rows for value in (one.low, one.high)], left, WIDTH - right, most=1.0
    )
    bottom = top + step * len(rows)
    parts = list(_x_axis(scale, top, bottom))
    first = scale.at(rows[0][1].estimate)
    parts.append(_line(first, top, first, bottom, "reference"))
    for place, (name, one) in enumerate(rows):
        y = top + step * place + step / 2
        x = scale.at(one.estimate)
        said = f"{name}: {mean_with_interval(one)}"
        parts += [
            _text(left - 12, y + 4, _short(name, left), "label end"),
            f'<g class="s{place % SERIES}"><title>{escape(said)}</title>',
            _line(scale.at(one.low), y, scale.at(one.high), y, "whisker"),
            _line(scale.at(one.low), y - 5, scale.at(one.low), y + 5, "whisker"),
            _line(scale.at(one.high), y - 5, scale.at(one.high), y + 5, "whisker"),
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/></g>',
            _text(WIDTH - right + 14, y + 4, mean_with_interval(one), "value"),
        ]
    described = "; ".join(f"{name} {mean_with_interval(one)}" for name, one in rows)
    return _svg(parts, height, title, described)


def grouped_bars(groups: Sequence[str], series: Sequence[Series], title: str) -> str:
    """Means by group, one bar for each series; the axis begins at 0, so lengths can be compared."""
    shown = series[:SERIES]
    left, top, bottom = 44, 22, 232
    height = bottom + 30
    scale = _Scale(0.0, 1.0, bottom, top)
    parts = list(_y_axis(scale, left, WIDTH - 8))
    width = (WIDTH - 8 - left) / max(1, len(groups))
    thick = min(46.0, width * 0.78 / max(1, len(shown)))
    numbered = thick >= 25
    for place, group in enumerate(groups):
        middle = left + width * (place + 0.5)
        start = middle - thick * len(shown) / 2
        parts.append(_text(middle, bottom + 20, _short(group, width), "label middle"))
        for number, one in enumerate(shown):
            value = one.values[place]
            if value is None:
                continue
            x, y = start + thick * number, scale.at(value)
            said = f"{group}, {one.name}: {share(value)}"
            parts.append(
                f'<rect class="s{number} bar" x="{x + 1:.1f}" y="{y:.1f}" '
                f'width="{max(0.5, thick - 2):.1f}" height="{max(0.0, bottom - y):.1f}">'
                f"<title>{escape(said)}</title></rect>"
            )
            if numbered:
                parts.append(_text(x + thick / 2, y - 5, share(value), "value middle small"))
    described = "; ".join(
        f"{group}: " + ", ".join(f"{one.name} {_maybe(one.values[place])}" for one in shown)
        for place, group in enumerate(groups)
    )
    return _svg(parts, height, title, described)


def delta_bars(deltas: Sequence[tuple[str, float]], title: str) -> str:
    """What each query gained or lost, the most gained first; one that kept its value is flat."""
    ordered = sorted(deltas, key=lambda one: -one[1])
    left, top, bottom = 52, 10, 190
    scale = _Scale.over([0.0, *(value for _, value in ordered)], bottom, top)
    parts = list(_y_axis(scale, left, WIDTH - 8, signed=True))
    zero = scale.at(0.0)
    width = (WIDTH - 8 - left) / max(1, len(ordered))
    for place, (query, value) in enumerate(ordered):
        y, kind = scale.at(value), "better" if value > 0 else "worse" if value < 0 else "same"
        parts.append(
            f'<rect class="{kind} bar" x="{left + width * place + width * 0.08:.2f}" '
            f'y="{min(y, zero) - (0 if value else 1):.1f}" width="{width * 0.84:.2f}" '
            f'height="{abs(y - zero) or 2:.1f}">'
            f"<title>{escape(f'{query}: {change(value)}')}</title></rect>"
        )
    parts.append(_line(left, zero, WIDTH - 8, zero, "zero"))
    gained = sum(value > 0 for _, value in ordered)
    lost = sum(value < 0 for _, value in ordered)
    parts += [
        _text(left + 4, bottom + 22, f"{gained} better", "label"),
        _text(WIDTH - 8, bottom + 22, f"{lost} worse", "label end"),
    ]
    described = f"{len(ordered)} queries: {gained} better, {lost} worse"
    return _svg(parts, bottom + 32, title, described)


def histogram(samples: Sequence[tuple[str, Sequence[float]]], title: str, axis: str) -> str:
    """Two or more distributions over one axis, each as shares of its own sample, with medians."""
    values = [value for _, sample in samples for value in sample]
    left, top, bottom = 16, 30, 220
    scale = _Scale.over(values, left, WIDTH - 16)
    bins = 36
    edges = [scale.low + (scale.high - scale.low) * number / bins for number in range(bins + 1)]
    shares = [_shares(sample, scale, bins) for _, sample in samples]
    tall = max((one for row in shares for one in row), default=1.0) or 1.0
    parts = list(_x_axis(scale, top, bottom))
    for number, ((name, sample), row) in enumerate(zip(samples, shares, strict=True)):
        heights = [bottom - (bottom - top) * one / tall for one in row]
        steps = "".join(
            f"L{scale.at(low):.1f} {y:.1f}L{scale.at(high):.1f} {y:.1f}"
            for (low, high), y in zip(pairwise(edges), heights, strict=True)
        )
        said = f"{name}: {len(sample)} results"
        parts.append(
            f'<path class="area d{number}" d="M{scale.at(edges[0]):.1f} {bottom}{steps}'
            f'L{scale.at(edges[-1]):.1f} {bottom}Z"><title>{escape(said)}</title></path>'
        )
    for number, (name, sample) in enumerate(samples):
        middle = _median(sample)
        x = scale.at(middle)
        parts.append(_line(x, top - 6, x, bottom, f"median d{number}"))
        side = "end" if x > WIDTH / 2 else ""
        parts.append(
            _text(
                x + (-6 if side else 6),
                top - 10 + 14 * number,
                f"{name}: median {middle:.2f}",
                f"value d{number} {side}",
            )
        )
    parts.append(_text(WIDTH - 16, bottom + 34, axis, "label end"))
    described = "; ".join(f"{name}: median {_median(sample):.2f}" for name, sample in samples)
    return _svg(parts, bottom + 42, title, described)


def scatter(points: Sequence[Point], title: str, axis: str) -> str:
    """Quality against time: up is better, left is quicker; a thin line leads from p50 to p95."""
    left, top, bottom, right = 52, 16, 250, WIDTH - 60
    times = [value for one in points for value in (one.p50, one.p95)]
    x_scale = _Scale.over([0.0, *times], left, right)
    if min(times) > 0 and max(times) / min(times) > 20:
        x_scale = _Scale.over(times, left, right, log=True)
    y_scale = _Scale.over(
        [value for one in points for value in (one.quality.low, one.quality.high)],
        bottom,
        top,
        most=1.0,
    )
    parts = [*_y_axis(y_scale, left, right), *_x_axis(x_scale, top, bottom)]
    for number, one in enumerate(points):
        x, y = x_scale.at(one.p50), y_scale.at(one.quality.estimate)
        said = (
            f"{one.name}: {mean_with_interval(one.quality)}, "
            f"{milliseconds(one.p50)} ms p50, {milliseconds(one.p95)} ms p95"
        )
        parts += [
            f'<g class="s{number % SERIES}"><title>{escape(said)}</title>',
            _line(x, y_scale.at(one.quality.low), x, y_scale.at(one.quality.high), "whisker"),
            _line(x, y, x_scale.at(one.p95), y, "faint"),
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="6"/></g>',
        ]
    parts += _labels(
        [(x_scale.at(one.p50), y_scale.at(one.quality.estimate), one) for one in points]
    )
    parts.append(_text(right, bottom + 36, axis, "label end"))
    described = "; ".join(
        f"{one.name}: {share(one.quality.estimate)} at {milliseconds(one.p50)} ms" for one in points
    )
    return _svg(parts, bottom + 44, title, described)


def _labels(placed: Sequence[tuple[float, float, Point]]) -> Iterator[str]:
    """Names beside their points, moved apart where they would overlap."""
    taken: list[tuple[float, float]] = []
    for x, y, one in sorted(placed, key=lambda item: item[1]):
        across = x + 11 if x < WIDTH * 0.7 else x - 11
        wide = len(one.name) * _FONT * 0.6
        down = y - 9
        while any(abs(down - other) < 15 and abs(across - at) < wide for at, other in taken):
            down += 3
        taken.append((across, down))
        side = "" if across > x else " end"
        yield _text(across, down, _short(one.name, WIDTH / 3), f"name{side}")


# --------------------------------------------------------------------------------- scales and axes


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps values to places, evenly or by their logarithm."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def over(
        cls,
        values: Sequence[float],
        start: float,
        end: float,
        *,
        most: float = math.inf,
        log: bool = False,
    ) -> _Scale:
        """A scale with round ends that holds all of the values; it need not go beyond `most`."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if log:
            return cls(10 ** math.floor(math.log10(low)), _decade_above(high), start, end, log=True)
        if high - low < 1e-9:
            low, high = low - 0.05, high + 0.05
        step = _step(high - low)
        return cls(
            math.floor(low / step + 1e-9) * step,
            min(most, math.ceil(high / step - 1e-9) * step),
            start,
            end,
        )

    def at(self, value: float) -> float:
        """Where the value stands."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return self.start + (self.end - self.start) * (value - low) / (high - low)

    def ticks(self) -> list[float]:
        """Round values along the scale."""
        if self.log:
            first, last = round(math.log10(self.low)), round(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1)]
        step = _step(self.high - self.low)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _step(width: float) -> float:
    """The round number that divides a width into at most eight parts."""
    size = 10.0 ** math.floor(math.log10(width))
    return next(
        size * part for part in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if width / (size * part) <= 8
    )


def _decade_above(value: float) -> float:
    return float(10 ** math.ceil(math.log10(value) - 1e-9))


def _x_axis(scale: _Scale, top: float, bottom: float) -> Iterator[str]:
    for tick in scale.ticks():
        x = scale.at(tick)
        yield _line(x, top, x, bottom, "grid")
        yield _text(
            x, bottom + 18, f"{tick:g}" if abs(tick) < 1e4 else f"{tick:.0f}", "tick middle"
        )
    yield _line(scale.start, bottom, scale.end, bottom, "axis")


def _y_axis(scale: _Scale, left: float, right: float, *, signed: bool = False) -> Iterator[str]:
    for tick in scale.ticks():
        y = scale.at(tick)
        yield _line(left, y, right, y, "grid")
        text = f"{tick:+.2f}".replace("-", "−") if signed and abs(tick) > 1e-9 else f"{tick:.2f}"
        yield _text(left - 8, y + 4, text, "tick end")


# ------------------------------------------------------------------------------------- small parts


def _svg(parts: Sequence[str], height: float, title: str, described: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(f"{title}. {described}")}">'
        f"<title>{escape(title)}</title><desc>{escape(described)}</desc>{''.join(parts)}</svg>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _label_room(names: Iterator[str]) -> int:
    longest = max((len(name) for name in names), default=0)
    return min(260, max(80, 24 + longest * _FONT * 6 // 10))


def _short(name: str, width: float) -> str:
    fits = max(3, int(width / (_FONT * 0.55)) - 2)
    return name if len(name) <= fits else f"{name[: fits - 1]}…"


def _maybe(value: float | None) -> str:
    return "none" if value is None else share(value)


def _shares(sample: Sequence[float], scale: _Scale, bins: int) -> list[float]:
    counts = [0] * bins
    for value in sample:
        place = int((value - scale.low) / (scale.high - scale.low) * bins)
        counts[min(bins - 1, max(0, place))] += 1
    return [count / max(1, len(sample)) for count in counts]


def _median(sample: Sequence[float]) -> float:
    return sorted(sample)[len(sample) // 2] if sample else 0.0
