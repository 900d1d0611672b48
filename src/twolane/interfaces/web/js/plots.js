// Small plots: bars with their names and numbers, and dots for many queries at once.

import { el, svg } from "./dom.js";
import { number, t } from "./i18n.js";

/** Bars, each with its name and number; values are counts, or shares when `most` is 1. */
export function barList(bars, { most = null, digits = 0 } = {}) {
  const longest = most ?? Math.max(...bars.map((one) => one.value), 1);
  return el("ul", { class: "bars" }, bars.map((one) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${Math.max(0, Math.min(1, one.value / longest)) * 100}%`;
    return el("li", {}, el("span", { class: "name" }, one.name),
      el("span", { class: "track", "aria-hidden": "true" }, fill, whisker(one.range, longest)),
      el("span", { class: "number" }, number(one.value, digits)));
  }));
}

/** The span that a value may well have, as a thin line in its bar. */
function whisker(range, longest) {
  if (!range) return null;
  const line = el("span", { class: "whisker" });
  line.style.left = `${(range[0] / longest) * 100}%`;
  line.style.width = `${((range[1] - range[0]) / longest) * 100}%`;
  return line;
}

/** One dot per query between 0 and 1, with the mean as a line. */
export function dotPlot(dots, label) {
  const width = 400;
  const height = 112;
  const x = (value) => 16 + value * (width - 32);
  const stacked = new Map();
  const marks = dots.map((one) => {
    const bin = Math.round(one.value * 40);
    const level = stacked.get(bin) ?? 0;
    stacked.set(bin, level + 1);
    return svg("circle", { class: "dot", cx: x(one.value).toFixed(1), cy: Math.max(height - 34 - level * 10, 22),
      r: 4.5 }, svg("title", {}, `${one.name}: ${number(one.value, 3)}`));
  });
  const mean = dots.reduce((sum, one) => sum + one.value, 0) / Math.max(dots.length, 1);
  return el("figure", { class: "drawing plot" }, svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": label },
  svg("line", { class: "axis", x1: x(0), x2: x(1), y1: height - 26, y2: height - 26 }),
  [0, 0.25, 0.5, 0.75, 1].map((value) => svg("text", { class: "label", x: x(value), y: height - 10,
    "text-anchor": "middle" }, number(value, value % 0.5 ? 2 : value % 1 ? 1 : 0))),
  dots.length ? [svg("line", { class: "mean", x1: x(mean), x2: x(mean), y1: 4, y2: height - 26 }),
    svg("text", { class: "mean-label", x: x(mean) + (mean > 0.5 ? -7 : 7), y: 11,
      "text-anchor": mean > 0.5 ? "end" : "start" }, t("judge.mean", { mean: number(mean, 2) }))] : null,
  marks));
}
