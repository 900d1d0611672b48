// What the golden queries come to, drawn.

import { el } from "./dom.js";
import { number, t } from "./i18n.js";
import { barList, dotPlot } from "./plots.js";
import { address } from "./state.js";

// Measures as people write them, in the order in which they are shown.
const NAMES = { "ndcg@10": "nDCG@10", "recall@10": "Recall@10", mrr: "MRR" };

/** Figures and the list of golden queries. */
export function scoreboard(known) {
  if (!known.queries.length) {
    return [el("h2", {}, t("judge.figures")), el("p", { class: "faint" }, t("judge.empty"))];
  }
  const scored = known.queries.filter((one) => one.metrics);
  return [
    el("h2", {}, t("judge.figures")),
    known.overall ? [barList(Object.entries(NAMES).filter(([name]) => known.overall[name])
      .map(([name, written]) => bar(written, known.overall[name])), { most: 1, digits: 3 }),
    el("p", { class: "faint" }, t("judge.interval"))] : null,
    scored.length > 1 ? [el("h3", {}, t("judge.each")), dotPlot(scored.map((one) => ({
      name: one.query, value: one.metrics["ndcg@10"] ?? 0 })), t("judge.each"))] : null,
    el("h3", {}, t("judge.queries", { n: known.queries.length })),
    el("ul", { class: "golden" }, known.queries.map(row)),
  ];
}

function bar(name, { estimate, low, high }) {
  return { name, value: estimate, range: [low, high] };
}

function row(one) {
  const score = one.metrics?.["ndcg@10"];
  return el("li", {}, el("a", { href: address({ q: one.query, panel: "", doc: "", lines: "" }) }, one.query),
    el("span", { class: "faint" }, one.unanswerable ? t("judge.unanswerable")
      : t("judge.count", { n: one.relevant.length + one.partial.length })),
    score === undefined || score === null ? null : el("span", { class: "number" }, number(score, 2)));
}
