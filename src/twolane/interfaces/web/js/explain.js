// The explanation: how each lane voted, drawn.

import { el } from "./dom.js";
import { laneName } from "./failing.js";
import { percent, t } from "./i18n.js";
import { contributionBars, rankLines } from "./drawing.js";
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
      el("h3", {}, t("explain.votes")),
      contributionBars(around, result, lanes),
      el("p", { class: "faint" }, t("explain.votes.text")),
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
  const best = result.contributions.reduce((one, other) => (other.value > one.value ? other : one),
    { value: 0, lane: "" });
  return t("explain.sentence", { place: index + 1, score: result.score.toFixed(4),
    lane: best.lane ? laneName(best.lane) : "–" });
}

/** The results to draw: the first ones, or those around the chosen one. */
function window_(results, index) {
  const start = index < MOST_LINES ? 0 : Math.min(index - 4, results.length - MOST_LINES);
  return results.map((one, place) => ({ ...one, place: place + 1 }))
    .slice(Math.max(start, 0), Math.max(start, 0) + MOST_LINES);
}

function table(result, answer) {
  const head = ["lane", "rank", "own", "weight", "vote", "value"];
  const digits = (value, count) => (value === null || value === undefined ? "–"
    : Number(value).toFixed(count));
  return [el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": t("explain.numbers") },
    el("table", {}, el("thead", {}, el("tr", {}, head.map((one) =>
      el("th", { scope: "col" }, t(`column.${one}`))))),
    el("tbody", {}, result.contributions.map((one) => el("tr", {},
      el("th", { scope: "row" }, el("span", { class: `vote lane-${one.lane}` },
        el("span", { class: "dot" }), laneName(one.lane))),
      el("td", {}, one.abstained ? t("lane.abstained") : one.rank ?? "–"),
      el("td", {}, digits(one.score, 3)), el("td", {}, digits(one.weight, 2)),
      el("td", {}, digits(one.vote, 2)), el("td", {}, digits(one.value, 4))))))),
  matched(result), result.contributions.filter((one) => one.counterpart).map(counterpart),
  el("p", { class: "faint" }, t("explain.formula", { intent: answer.intent ?? "–" }))];
}

/** A document in another language that says the same, and spoke for this one. */
function counterpart(one) {
  const { id, closeness } = one.counterpart;
  return el("p", {}, t("explain.counterpart", { lane: laneName(one.lane), share: percent(closeness) }), " ",
    el("a", { href: address({ panel: "read", doc: id, lines: "" }) }, resultOf(id)?.title ?? id));
}

function matched(result) {
  const words = [...new Set(result.contributions.flatMap((one) => one.matched ?? []))];
  return words.length ? el("p", {}, t("explain.matched"), " ",
    words.map((word, at) => [at ? ", " : "", el("strong", {}, word)])) : null;
}
