// Documents like one, and why they are.

import * as api from "./api.js";
import { el } from "./dom.js";
import { degradedNotices } from "./failing.js";
import { percent, t } from "./i18n.js";
import { placeLine } from "./results.js";
import { address } from "./state.js";

/** The panel of similar documents. */
export async function panel(state, signal) {
  const answer = await api.similar(state.doc, signal);
  return {
    title: answer.title,
    content: [
      el("p", { class: "faint" }, t("similar.text")),
      degradedNotices(answer.degraded),
      answer.results.length ? el("ol", { class: "similar" }, answer.results.map(item))
        : el("p", {}, t("similar.none")),
    ],
  };
}

function item(one) {
  const lines = one.passages?.other.lines.join("-") ?? "";
  return el("li", {},
    el("h3", {}, el("a", { href: address({ panel: "read", doc: one.id, lines }) }, one.title)),
    placeLine(one),
    one.similarity === null ? null : meter(one.score),
    el("ul", { class: "reasons" },
      one.linked ? el("li", {}, t("similar.linked")) : null,
      one.shared.length ? el("li", {}, t("similar.shared"), " ",
        one.shared.map((word, at) => [at ? ", " : "", el("strong", {}, word)])) : null,
      one.passages ? el("li", {}, t("similar.passages", {
        own: headed(one.passages.own), other: headed(one.passages.other),
        share: percent(one.passages.similarity),
      })) : null));
}

function meter(score) {
  const bar = el("span", { class: "fill" });
  bar.style.width = `${Math.round(Math.max(0, Math.min(1, score)) * 100)}%`;
  const said = t("similar.share", { share: percent(score) });
  return el("p", { class: "meter" },
    el("span", { class: "relevance wide", "aria-hidden": "true" }, bar), el("span", {}, said));
}

function headed(place) {
  return place.heading.at(-1) ?? t("lines", { from: place.lines[0], to: place.lines[1] });
}
