// The coverage page: what is indexed, what waits for a vector, what went wrong.

import * as api from "./api.js";
import { announce, el, show, spelled } from "./dom.js";
import { degradedNotices, failureNotice } from "./failing.js";
import { languageName, number, percent, t } from "./i18n.js";
import { barList } from "./plots.js";
import { kindName } from "./results.js";

const BUSY_MS = 2000;
const IDLE_MS = 15000;
const MOST_FILES = 200;

/** Put the view into the page. */
export function mount(main) {
  const body = el("div", { class: "coverage" }, el("p", { class: "faint" }, t("loading")));
  show(main, el("div", { class: "page" },
    el("h1", {}, t("nav.coverage")), el("p", { class: "lead" }, t("coverage.lead")), body));
  const running = new AbortController();
  let timer = null;
  let before = null;

  async function refresh() {
    let pause = IDLE_MS;
    try {
      const status = await api.status(running.signal);
      if (running.signal.aborted) return;
      const said = JSON.stringify(status);
      // A table that did not change must not be taken from under somebody's eyes.
      if (said !== before) show(body, content(status));
      if (before !== null && said !== before) announce(progressText(status));
      before = said;
      if (status.pending) pause = BUSY_MS;
    } catch (failure) {
      if (running.signal.aborted || failure.name === "AbortError") return;
      if (failure.status === undefined) throw failure;
      before = null;
      show(body, failureNotice(failure, again));
    }
    timer = setTimeout(refresh, pause);
  }

  function again() {
    clearTimeout(timer);
    refresh();
  }

  return { update: () => { if (before === null) again(); },
    leave() {
      running.abort();
      clearTimeout(timer);
    } };
}

function content(status) {
  const problems = (status.files ?? []).filter((one) => ["failed", "skipped"].includes(one.state));
  return [
    degradedNotices(status.degraded),
    progress(status),
    el("ul", { class: "cards" }, ["documents", "chunks", "embedded", "pending", "failed", "skipped"]
      .map((name) => el("li", { class: status[name] ? name : `${name} zero` },
        el("strong", {}, number(status[name] ?? 0)), el("span", {}, t(`coverage.${name}`))))),
    el("div", { class: "halves" },
      el("section", {}, el("h2", {}, t("coverage.languages")),
        barList(Object.entries(status.languages ?? {}).sort((one, other) => other[1] - one[1])
          .map(([code, count]) => ({ name: languageName(code), value: count })))),
      el("section", {}, el("h2", {}, t("coverage.collections")), collections(status.collections))),
    generations(status),
    problems.length ? files(problems) : null,
    el("p", { class: "faint" }, [status.db, size(status.bytes)].filter(Boolean).join(" · ")),
  ];
}

function progress(status) {
  const whole = status.embedded + status.pending;
  const share = whole ? status.embedded / whole : 1;
  const fill = el("span", { class: "fill" });
  fill.style.width = `${share * 100}%`;
  return el("div", { class: "progress" },
    el("div", { class: "track", role: "progressbar", "aria-label": t("coverage.progress"),
      "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.floor(share * 100) }, fill),
    el("p", {}, progressText(status)));
}

function progressText(status) {
  const whole = status.embedded + status.pending;
  if (!whole) return t("coverage.empty");
  if (!status.pending) return t("coverage.complete", { n: status.embedded });
  return t("coverage.filling", { share: percent(status.embedded / whole), n: status.pending });
}

function collections(all) {
  if (!all?.length) return el("p", { class: "faint" }, t("coverage.none"));
  return el("ul", { class: "plain" }, all.map((one) => el("li", {}, el("strong", {}, one.name),
    el("span", { class: "faint" }, ` ${[kindName(one.kind), one.root].filter(Boolean).join(" · ")}`))));
}

function generations(status) {
  if (!status.generations?.length) return null;
  const head = ["number", "state", "model", "dimensions"];
  return el("section", {}, el("h2", {}, t("coverage.generations")),
    table(head.map((one) => t(`generation.${one}`)), status.generations.map((one) => [
      number(one.number), t(`generation.${one.state}`),
      `${one.embedder} · ${one.model}`, number(one.dimensions)]), t("coverage.generations")));
}

function files(problems) {
  const shown = problems.slice(0, MOST_FILES);
  return el("section", {}, el("h2", {}, t("coverage.files", { n: problems.length })),
    table([t("file.path"), t("file.state"), t("file.reason")], shown.map((one) => [
      `${one.collection}/${one.path}`, t(`file.${one.state}`),
      el("span", { lang: "en" }, spelled(one.reason ?? ""))]), t("coverage.files", { n: problems.length })));
}

function table(head, rows, label) {
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((one) => el("th", { scope: "col" }, one)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));
}

function size(bytes) {
  if (!bytes) return "";
  const units = ["B", "kB", "MB", "GB"];
  const at = Math.min(Math.floor(Math.log(bytes) / Math.log(1000)), 3);
  return `${number(bytes / 1000 ** at, at > 1 ? 1 : 0)} ${units[at]}`;
}
