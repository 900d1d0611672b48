// The search view: a box, the modes and filters, and what was found.

import * as api from "./api.js";
import { announce, el, show, svg } from "./dom.js";
import { failureNotice } from "./failing.js";
import { filterBar, updateFilters } from "./filters.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { setLatest } from "./latest.js";
import { answerView, homeView, skeleton } from "./results.js";
import { CLOSED, filtersOf, go, read } from "./state.js";

const DEBOUNCE_MS = 120;
// A query that stood this long was looked at: the next one is a step of its own in the history.
const SETTLED_MS = 2000;
// An answer that comes sooner needs no sign of waiting.
const PATIENCE_MS = 250;
const MOST_RETRIES = 3;
const RECENT = 5;

/** Put the view into the page. */
export function mount(main) {
  const box = searchBox();
  const filters = filterBar();
  const found = el("section", { id: "found", "aria-label": t("results.label"), "aria-busy": "false" });
  const view = el("div", { class: "search-view" },
    el("h1", { class: "unseen" }, t("nav.search")), emblem(), box.form, filters.element, found);
  show(main, view);
  const asking = asker(found);
  return {
    update(state) {
      if (box.input.value !== state.q && document.activeElement !== box.input) {
        box.input.value = state.q;
      } else if (box.input.value !== state.q && !box.typing()) {
        box.input.value = state.q;
      }
      const empty = !state.q.trim() && !filtersOf(state).length;
      view.classList.toggle("home", empty);
      updateFilters(filters, state, null);
      asking.ask(state, (answer) => updateFilters(filters, state, answer.facets));
      if (empty && !state.panel && document.activeElement === document.body) box.input.focus();
    },
    leave() {
      box.stop();
      asking.stop();
      setLatest(null);
    },
  };
}

/** Two lanes that become one: only the start has room for it. */
function emblem() {
  return svg("svg", { class: "emblem", viewBox: "0 0 32 32", "aria-hidden": "true" },
    svg("path", { class: "stroke-lexical", d: "M5 3c0 12 11 11 11 26" }),
    svg("path", { class: "stroke-dense", d: "M27 3c0 12-11 11-11 26" }));
}

function searchBox() {
  let timer = null;
  let settled = performance.now();
  let committed = true;
  const input = el("input", { id: "q", type: "search", name: "q", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", maxlength: 2000,
    placeholder: t("box.placeholder"), "aria-describedby": "box-hint", value: read().q });
  const take = () => {
    clearTimeout(timer);
    timer = null;
    if (input.value === read().q) return;
    const step = committed || performance.now() - settled > SETTLED_MS;
    committed = false;
    settled = performance.now();
    go({ q: input.value, n: "20", ...CLOSED }, { replace: !step });
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(take, DEBOUNCE_MS);
  });
  const form = el("form", { role: "search", class: "box", onsubmit: (event) => {
    event.preventDefault();
    take();
    committed = true;
    document.querySelector("#found .result .open")?.focus();
  } },
  el("label", { class: "unseen", for: "q" }, t("box.label")), icon("search"), input,
  el("kbd", { "aria-hidden": "true" }, "/"),
  el("span", { class: "unseen", id: "box-hint" }, t("box.hint")));
  return { form, input, typing: () => timer !== null, stop: () => clearTimeout(timer) };
}

/** Asks the server; only the last question may paint, whatever comes back when. */
function asker(found) {
  let turn = 0;
  let running = null;
  let asked = null;
  let waiting = null;
  let retry = null;

  function stop() {
    turn += 1;
    running?.abort();
    clearTimeout(waiting);
    clearTimeout(retry);
    found.setAttribute("aria-busy", "false");
  }

  function ask(state, painted) {
    const question = JSON.stringify([state.q, state.n, state.mode, state.sort, filtersOf(state)]);
    if (question === asked) return;
    asked = question;
    stop();
    if (!state.q.trim() && !filtersOf(state).length) {
      running = new AbortController();
      setLatest(null);
      show(found, homeView(api.status(running.signal, false), api.recent(RECENT, running.signal)));
      return;
    }
    send(state, painted, 0);
  }

  async function send(state, painted, tries) {
    const mine = turn;
    running = new AbortController();
    found.setAttribute("aria-busy", "true");
    waiting = setTimeout(() => {
      if (!found.querySelector(".result")) show(found, skeleton());
    }, PATIENCE_MS);
    try {
      const answer = await api.search(state, running.signal);
      if (mine !== turn) return;
      clearTimeout(waiting);
      setLatest(answer);
      show(found, answerView(answer, state));
      painted(answer);
      announce(t(answer.answerable === false ? "announce.nearest" : "announce.found",
        { n: answer.results.length }));
    } catch (failure) {
      if (mine !== turn || failure.name === "AbortError") return;
      clearTimeout(waiting);
      failed(failure, state, painted, tries);
    }
    found.setAttribute("aria-busy", "false");
  }

  function failed(failure, state, painted, tries) {
    if (!(failure instanceof api.Failure)) throw failure;
    setLatest(null);
    show(found, failureNotice(failure, () => {
      stop();
      send(state, painted, 0);
    }));
    announce(t("announce.failed"));
    if ([429, 503].includes(failure.status) && tries < MOST_RETRIES) {
      const seconds = Math.min(failure.retry ?? 2 ** tries, 30);
      retry = setTimeout(() => send(state, painted, tries + 1), seconds * 1000);
    }
  }

  return { ask, stop };
}
