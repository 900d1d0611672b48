// Drawings of an explanation: shares as bars, ranks as lines.

import { el, svg } from "./dom.js";
import { laneName } from "./failing.js";
import { percent, t } from "./i18n.js";

const WIDTH = 400;
const ROW = 26;

/** What speaks for this result more than for others: not that there are few documents in all. */
export const special = (result) => result.contributions.filter((one) => one.feature !== "small_library");

/** What the features of each lane gave a result, in log-odds; what speaks against it gives nothing. */
const laneShares = (result, lanes) => lanes.map((lane) => ({ lane, share: Math.max(0,
  special(result).filter((one) => one.lane === lane).reduce((sum, one) => sum + one.share, 0)) }));

/** What each feature gave one result: the longer the bar, the more it says. */
export function featureBars(result) {
  const most = Math.max(...result.contributions.map((one) => Math.abs(one.share)), 1e-9);
  const left = 170;
  const rows = result.contributions.map((one, at) => svg("g", { class: "row" },
    svg("text", { class: "label", x: left - 8, y: at * ROW + ROW / 2, "text-anchor": "end" },
      t(`feature.${one.feature}`)),
    svg("rect", { class: `fill-${one.lane}${one.share < 0 ? " lent" : ""}`, x: left, y: at * ROW + 5,
      width: ((Math.abs(one.share) / most) * (WIDTH - left - 52)).toFixed(2), height: ROW - 10, rx: 2 }),
    svg("text", { class: "label", x: WIDTH - 44, y: at * ROW + ROW / 2 }, signed(one.share))));
  return figure(t("explain.features.alt", { title: result.title, parts: spoken(result) }), [],
    result.contributions.length * ROW, rows);
}

/** What the lanes gave each result, end to end: the longer the bar, the likelier it is. */
export function contributionBars(results, chosen, lanes) {
  const shares = results.map((one) => laneShares(one, lanes));
  const most = Math.max(...shares.map((parts) => parts.reduce((sum, one) => sum + one.share, 0)), 1e-9);
  const left = 26;
  const right = 58;
  const scale = (WIDTH - left - right) / most;
  const rows = results.map((one, at) => {
    let x = left;
    const y = at * ROW;
    const parts = shares[at].map((part) => {
      const wide = part.share * scale;
      const bar = svg("rect", { class: `fill-${part.lane}`, x, y: y + 5,
        width: wide.toFixed(2), height: ROW - 10, rx: 2 });
      x += wide;
      return bar;
    });
    return svg("g", { class: one.id === chosen.id ? "row chosen" : "row" },
      svg("title", {}, `${one.place}. ${one.title}`),
      svg("rect", { class: "ground", x: 0, y: y + 1, width: WIDTH, height: ROW - 2, rx: 5 }),
      svg("text", { class: "label", x: left - 8, y: y + ROW / 2, "text-anchor": "end" }, String(one.place)),
      parts,
      svg("text", { class: "label", x: x + 6, y: y + ROW / 2 },
        one.relevance === null ? "" : percent(one.relevance)));
  });
  return figure(t("explain.lanes.alt", { title: chosen.title, parts: spoken(chosen) }), lanes,
    results.length * ROW, rows);
}

/** From the rank in each lane to the place in the answer. */
export function rankLines(results, chosen, lanes) {
  const top = 26;
  const height = top + results.length * ROW;
  const columns = [...lanes.slice(0, Math.ceil(lanes.length / 2)), "fused",
    ...lanes.slice(Math.ceil(lanes.length / 2))];
  const middle = columns.indexOf("fused");
  const span = (WIDTH - 90) / Math.max(columns.length - 1, 1);
  const x = (at) => 45 + at * span;
  const y = (row) => top + row * ROW + ROW / 2;
  const heads = columns.map((name, at) => svg("text", { class: `head lane-${name}`, x: x(at), y: 12,
    "text-anchor": "middle" }, name === "fused" ? t("explain.fused") : laneName(name)));
  const drawn = columns.flatMap((lane, at) => (lane === "fused" ? []
    : laneLines(results, chosen, lane, { from: x(at), to: x(middle), y })));
  const places = results.map((one, row) => svg("g", { class: one.id === chosen.id ? "row chosen" : "row" },
    svg("circle", { class: "place", cx: x(middle), cy: y(row), r: 10 }),
    svg("text", { class: "label", x: x(middle), y: y(row), "text-anchor": "middle" }, String(one.place))));
  // The chosen one is drawn last, above the others.
  const byChoice = (one, other) => Number(one.classList.contains("chosen"))
    - Number(other.classList.contains("chosen"));
  return figure(t("explain.ranks.alt", { title: chosen.title, parts: ranksSpoken(chosen) }), lanes, height,
    [heads, drawn.sort(byChoice), places]);
}

/** What the features of each lane that ran gave one document. */
export function opinionBars(opinions) {
  const most = Math.max(...opinions.map((one) => one.share), 1e-9);
  const rows = opinions.map((one, at) => svg("g", { class: "row" },
    svg("text", { class: "label", x: 0, y: at * ROW + ROW / 2 }, laneName(one.lane)),
    svg("rect", { class: "ground", x: 90, y: at * ROW + 6, width: WIDTH - 150, height: ROW - 12, rx: 2 }),
    svg("rect", { class: `fill-${one.lane}`, x: 90, y: at * ROW + 6, height: ROW - 12, rx: 2,
      width: ((Math.max(one.share, 0) / most) * (WIDTH - 150)).toFixed(2) }),
    svg("text", { class: "label", x: WIDTH - 52, y: at * ROW + ROW / 2 }, signed(one.share))));
  const said = opinions.map((one) => `${laneName(one.lane)} ${signed(one.share)}`).join(", ");
  return figure(said, [], opinions.length * ROW, rows);
}

function laneLines(results, chosen, lane, { from, to, y }) {
  const ranked = results.map((one, row) => ({ one, row,
    rank: one.ranks[lane] }))
    .filter(({ rank }) => rank).sort((one, other) => one.rank - other.rank);
  return ranked.map(({ one, row, rank }, at) => {
    const bend = (from + to) / 2;
    const inner = from < to ? to - 12 : to + 12;
    return svg("g", { class: one.id === chosen.id ? "line chosen" : "line" },
      svg("title", {}, `${one.title}: ${laneName(lane)} ${rank}`),
      svg("path", { class: `stroke-${lane}`,
        d: `M${from} ${y(at)}C${bend} ${y(at)} ${bend} ${y(row)} ${inner} ${y(row)}` }),
      svg("circle", { class: `fill-${lane}`, cx: from, cy: y(at), r: 4 }),
      svg("text", { class: "label", x: from + (from < to ? -9 : 9), y: y(at),
        "text-anchor": from < to ? "end" : "start" }, String(rank)));
  });
}

function figure(alt, lanes, height, content) {
  return el("figure", { class: "drawing" },
    lanes.length ? el("figcaption", {}, lanes.map((lane) => el("span", { class: `vote lane-${lane}` },
      el("span", { class: "dot" }), laneName(lane)))) : null,
    svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": alt }, content));
}

const signed = (share) => `${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(2)}`;
const spoken = (result) => result.contributions
  .map((one) => `${t(`feature.${one.feature}`)} ${signed(one.share)}`).join(", ");
const ranksSpoken = (result) => Object.entries(result.ranks)
  .map(([lane, rank]) => `${laneName(lane)} ${rank}`).join(", ");
