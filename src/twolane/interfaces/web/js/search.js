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

// While somebody types, the server is asked this often at most.
const TYPING_MS = 90;
// After the last key it takes this long until meaning is asked, too.
const PAUSE_MS = 250;
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
  const asking = asker(found, (answer) => updateFilters(filters, read(), answer.facets));
  box.goOn();
  return {
    update(state) {
      if (!box.typing()) box.show(state.q);
      const empty = !state.q.trim() && !filtersOf(state).length;
      view.classList.toggle("home", empty);
      updateFilters(filters, state, null);
      asking.ask(state, { typing: box.typing() });
      if (empty && !state.panel && document.activeElement === document.body) box.focus();
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
  let asked = -Infinity;
  let settled = performance.now();
  let committed = true;
  let typing = false;
  // What was typed before the scripts were there stands in the field that came with the page.
  const early = document.querySelector(".early #q");
  const input = el("input", { id: "q", type: "search", name: "q", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", maxlength: 2000,
    placeholder: t("box.placeholder"), "aria-describedby": "box-hint",
    value: early?.value || read().q });
  const take = () => {
    clearTimeout(timer);
    timer = null;
    asked = performance.now();
    if (input.value === read().q) return;
    const step = committed || performance.now() - settled > SETTLED_MS;
    committed = false;
    settled = performance.now();
    go({ q: input.value, n: "20", ...CLOSED }, { replace: !step });
  };
  const typed = () => {
    typing = true;
    // The first key is answered at once, and those that follow it in time together.
    timer ??= setTimeout(take, Math.max(0, asked + TYPING_MS - performance.now()));
  };
  input.addEventListener("input", typed);
  const form = el("form", { role: "search", class: "box", onsubmit: (event) => {
    event.preventDefault();
    take();
    committed = true;
    document.querySelector("#found .result .open")?.focus();
  } },
  el("label", { class: "unseen", for: "q" }, t("box.label")), icon("search"), input,
  el("kbd", { "aria-hidden": "true" }, "/"),
  el("span", { class: "unseen", id: "box-hint" }, t("box.hint")));
  return {
    form,
    focus: () => input.focus(),
    /** Whether the query is what was typed last, and may go on. */
    typing: () => typing && (timer !== null || input.value === read().q),
    show(text) {
      typing = false;
      if (input.value !== text) input.value = text;
    },
    /** Take over from the early field, with its cursor. */
    goOn() {
      if (!early?.value) return;
      input.focus();
      input.setSelectionRange(early.selectionStart, early.selectionEnd);
      typed();
    },
    stop: () => clearTimeout(timer),
  };
}

/** Show an answer; the focus stays on its document, or goes to the first one. */
function paint(found, content) {
  const focused = found.contains(document.activeElement)
    && document.activeElement.closest("[data-doc]")?.dataset.doc;
  show(found, content);
  if (!focused) return;
  const same = [...found.querySelectorAll("[data-doc]")].find((one) => one.dataset.doc === focused);
  (same ?? found).querySelector(".open")?.focus({ preventScroll: true });
}

/** Asks the server; only the last question may paint, whatever comes back when.
 *
 * Of somebody who types, words are asked at once, and meaning when they pause.
 */
function asker(found, painted) {
  let turn = 0;
  let running = null;
  let asked = null;
  let waiting = null;
  let later = null;

  function stop() {
    turn += 1;
    running?.abort();
    clearTimeout(waiting);
    clearTimeout(later);
    found.setAttribute("aria-busy", "false");
  }

  function ask(state, { typing }) {
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
    found.setAttribute("aria-busy", "true");
    waiting = setTimeout(() => {
      if (!found.querySelector(".result")) show(found, skeleton());
    }, PATIENCE_MS);
    if (!typing || !["hybrid", "semantic"].includes(state.mode)) {
      send(state, { typing });
      return;
    }
    if (state.mode === "hybrid") send({ ...state, mode: "lexical" }, { typing, whole: false });
    later = setTimeout(() => send(state, { typing }), PAUSE_MS);
  }

  /** Ask one question; an answer that is not the whole one says nothing of what it lacks. */
  async function send(state, { typing = false, whole = true, tries = 0 } = {}) {
    const mine = turn;
    running?.abort();
    running = new AbortController();
    try {
      const answer = await api.search(state, running.signal, { typing, facets: whole });
      if (mine !== turn || !(whole || answer.results.length)) return;
      clearTimeout(waiting);
      setLatest(answer);
      paint(found, answerView(answer, read(), whole));
      if (!whole) return;
      painted(answer);
      announce(t(answer.answerable === false ? "announce.nearest" : "announce.found",
        { n: answer.results.length }));
    } catch (failure) {
      if (mine !== turn || failure.name === "AbortError" || !whole) return;
      clearTimeout(waiting);
      failed(failure, state, tries);
    }
    found.setAttribute("aria-busy", "false");
  }

  function failed(failure, state, tries) {
    if (!(failure instanceof api.Failure)) throw failure;
    setLatest(null);
    show(found, failureNotice(failure, () => {
      stop();
      send(state);
    }));
    announce(t("announce.failed"));
    if ([429, 503].includes(failure.status) && tries < MOST_RETRIES) {
      const seconds = Math.min(failure.retry ?? 2 ** tries, 30);
      later = setTimeout(() => send(state, { tries: tries + 1 }), seconds * 1000);
    }
  }

  return { ask, stop };
}
