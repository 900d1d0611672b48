// Small plots: bars with their names and numbers.

import { el } from "./dom.js";
import { number } from "./i18n.js";

/** Bars, each with its name and number; values are counts, or shares when `most` is 1. */
export function barList(bars, { most = null, digits = 0 } = {}) {
  const longest = most ?? Math.max(...bars.map((one) => one.value), 1);
  return el("ul", { class: "bars" }, bars.map((one) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${Math.max(0, Math.min(1, one.value / longest)) * 100}%`;
    return el("li", {}, el("span", { class: "name" }, one.name),
      el("span", { class: "track", "aria-hidden": "true" }, fill),
      el("span", { class: "number" }, number(one.value, digits)));
  }));
}
