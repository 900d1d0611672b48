// "Why not this note?": choose a document, and hear what keeps it out and what would bring it in.

import * as api from "./api.js";
import { el, spelled } from "./dom.js";
import { degradedNotices, laneName } from "./failing.js";
import { current, has, percent, t } from "./i18n.js";
import { icon } from "./icons.js";
import { opinionBars } from "./drawing.js";
import { documentPicker } from "./picker.js";
import { CLOSED, address, go, read } from "./state.js";

/** The panel of a diagnosis; without a document, the choice of one. */
export async function panel(state, signal) {
  if (!state.doc) return { title: t("why.title"), content: picker(state, signal) };
  const said = await api.why(state, state.doc, signal);
  return { title: said.title ?? said.path ?? state.doc, content: diagnosis(said, state) };
}

function picker(state, signal) {
  return [el("p", {}, t("why.text", { q: state.q })), documentPicker({
    id: "why-doc", label: t("why.label"), hint: t("why.hint"), signal,
    choose: (doc) => go({ panel: "why", doc, lines: "" }),
  })];
}

function diagnosis(said, state) {
  return [
    el("p", { class: "verdict" }, el("span", { class: `standing ${said.standing}` },
      t(`standing.${said.standing}`, { rank: said.rank ?? 0, found: said.found, limit: said.limit }))),
    current() === "en" ? el("p", { class: "sentence" }, spelled(said.verdict)) : null,
    suggestionBox(said.suggestion, state),
    degradedNotices(said.degraded),
    said.obstacles.length ? [el("h3", {}, t("why.obstacles")), el("ul", { class: "obstacles" },
      said.obstacles.map(obstacle))] : null,
    said.opinions.length ? [el("h3", {}, t("why.lanes")),
      said.opinions.some((one) => one.share) ? opinionBars(said.opinions) : null,
      el("ul", { class: "opinions" }, said.opinions.map((one) => opinion(one, said.obstacles)))] : null,
    said.words.length ? [el("h3", {}, t("why.words")), words(said)] : null,
    said.passage ? el("p", {}, el("a", { href: address({ panel: "read", doc: said.id,
      lines: said.passage.lines.join("-") }) }, t("why.passage")),
    said.passage.similarity === null ? null
      : el("span", { class: "faint" }, ` ${t("similar.share", { share: percent(Math.max(said.passage.similarity, 0)) })}`))
      : null,
    current() === "en" ? null : inEnglish(said),
    el("p", {}, el("a", { href: address({ panel: "why", doc: "", lines: "" }) }, t("why.other"))),
  ];
}

function suggestionBox(suggestion, state) {
  if (!suggestion) return null;
  const named = { what: suggestion.what, rank: suggestion.rank };
  return el("div", { class: "notice good" }, icon("check"),
    el("p", {}, t(`suggestion.${suggestion.change}`, named), " ", t("suggestion.rank", named)),
    suggestion.change === "lower-threshold" ? null
      : el("button", { type: "button", class: "primary", onclick: () => attempt(suggestion, state) },
        t("suggestion.try")));
}

/** Search with the suggested change: another query, or a filter of the page less. */
function attempt(suggestion) {
  const state = read();
  const changes = { ...CLOSED, q: suggestion.query || state.q };
  if (suggestion.change === "drop-filter") {
    const [, name, value] = /^(\S+)\s*(.*)$/.exec(suggestion.what) ?? [];
    if (name === "kind" || name === "collection") changes[name] = [];
    else if (name === "tag") changes.tag = state.tag.filter((one) => one !== value);
    else if (["date", "after", "before", "updated"].includes(name)) changes.after = changes.before = "";
  }
  go(changes);
}

/** The server's own sentences, for whoever reads the page in another language and wants them all. */
function inEnglish(said) {
  const reasons = [...said.obstacles, ...said.opinions].map((one) => one.reason).filter(Boolean);
  return el("details", { class: "english" }, el("summary", {}, t("why.english")),
    el("div", { lang: "en" }, el("p", {}, spelled(said.verdict)),
      el("ul", {}, [...new Set(reasons)].map((one) => el("li", {}, spelled(one))))));
}

function obstacle(one) {
  const key = `obstacle.${one.kind}`;
  const label = has(key) ? t(key) : one.kind;
  // What the label or the reason says already is not said again.
  const reason = current() === "en" && one.reason.toLowerCase() !== label.toLowerCase() ? one.reason : null;
  const what = one.kind !== "no-words" && !(reason ?? "").includes(one.what) ? one.what : null;
  return el("li", {}, el("strong", {}, label), what ? el("code", {}, what) : null,
    reason ? el("span", { class: "faint" }, spelled(reason)) : null);
}

function opinion(one, obstacles) {
  const told = current() !== "en" || obstacles.some((other) => other.reason === one.reason);
  const place = one.rank === null ? t("lane.absent")
    : t("lane.rank", { rank: one.rank, hits: one.hits });
  return el("li", {}, el("span", { class: `vote lane-${one.lane}` }, el("span", { class: "dot" }),
    laneName(one.lane)), ` ${place}`,
  one.reason && !told ? el("span", { class: "faint" }, " ", spelled(one.reason)) : null);
}

function meantBy(one) {
  const terms = one.taken_for;
  return terms.length ? el("span", { class: "faint" }, `→ ${terms.join(", ")}`) : null;
}

function words(said) {
  const share = said.coverage === null ? null
    : el("p", { class: "faint" }, t("why.coverage", { share: percent(said.coverage) }));
  return [el("ul", { class: "words" }, said.words.map((one) => el("li", { class: one.held ? "held" : "lacking" },
    icon(one.held ? "check" : "cross"), el("span", { class: "unseen" },
      t(one.held ? "word.held" : "word.lacking")), el("strong", {}, one.word),
    one.fields.length ? el("span", { class: "faint" }, one.fields.join(", ")) : null,
    meantBy(one)))), share];
}

