// The explanation: what each feature gave a result, drawn.

import { el } from "./dom.js";
import { percent, t } from "./i18n.js";
import { contributionBars, featureBars, rankLines, special } from "./drawing.js";
import { latest, resultOf } from "./latest.js";
import { address } from "./state.js";

// More lines than this are a thicket.
const MOST_LINES = 12;

/** The panel of one result's explanation. */
export async function panel(state) {
  const answer = latest();
  if (!answer) return { content: el("p", { class: "faint" }, t("loading")) };
  const index = answer.results.findIndex((one) => one.id === state.doc);
  if (index < 0) return { content: notShown(state) };
  const result = answer.results[index];
  const around = window_(answer.results, index);
  const lanes = Object.keys(answer.lanes);
  return {
    title: result.title,
    content: [
      el("p", { class: "lead-in" }, sentence(result, index)),
      el("h3", {}, t("explain.features")),
      featureBars(result),
      el("p", { class: "faint" }, t("explain.features.text")),
      el("h3", {}, t("explain.lanes")),
      contributionBars(around, result, lanes),
      el("p", { class: "faint" }, t("explain.lanes.text")),
      el("h3", {}, t("explain.ranks")),
      rankLines(around, result, lanes),
      el("p", { class: "faint" }, t("explain.ranks.text")),
      el("h3", {}, t("explain.numbers")),
      table(result, answer),
    ],
  };
}

function notShown(state) {
  return [el("p", {}, t("explain.absent")), el("p", {}, el("a", {
    href: address({ panel: "why", doc: state.doc, lines: "" }) }, t("why.ask")))];
}

function sentence(result, index) {
  const best = special(result).reduce((one, other) => (other.share > (one?.share ?? 0) ? other : one), null);
  const feature = best ? t(`feature.${best.feature}`) : "–";
  return result.relevance === null ? t("explain.place", { place: index + 1, feature })
    : t("explain.sentence", { place: index + 1, chance: percent(result.relevance), feature });
}

/** The results to draw: the first ones, or those around the chosen one. */
function window_(results, index) {
  const start = index < MOST_LINES ? 0 : Math.min(index - 4, results.length - MOST_LINES);
  return results.map((one, place) => ({ ...one, place: place + 1 }))
    .slice(Math.max(start, 0), Math.max(start, 0) + MOST_LINES);
}

function table(result, answer) {
  const head = ["feature", "value", "weight", "share"];
  const digits = (value) => Number(value).toFixed(2);
  return [el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("explain.numbers") },
    el("table", {}, el("thead", {}, el("tr", {}, head.map((one) =>
      el("th", { scope: "col" }, t(`column.${one}`))))),
    el("tbody", {}, result.contributions.map((one) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: `vote lane-${one.lane}` },
        el("span", { class: "dot" }), t(`feature.${one.feature}`))),
      [one.value, one.weight, one.share].map((value) => el("td", {}, digits(value)))))))),
  matched(result), result.contributions.filter((one) => one.parallel).map(parallel),
  result.foreign ? el("p", {}, t("explain.foreign")) : null,
  el("p", { class: "faint" }, t("explain.formula", { intent: answer.intent ?? "–" }))];
}

/** A document in another language that says the same, and spoke for this one. */
function parallel({ parallel: id, value }) {
  return el("p", {}, t("explain.parallel", { share: percent(value) }), " ",
    el("a", { href: address({ panel: "read", doc: id, lines: "" }) }, resultOf(id)?.title ?? id));
}

function matched({ matched: words }) {
  return words.length ? el("p", {}, t("explain.matched"), " ",
    words.map((word, at) => [at ? ", " : "", el("strong", {}, word)])) : null;
}
