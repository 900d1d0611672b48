// The drawer beside the results: one document, looked at in four ways.

import { el, show } from "./dom.js";
import { failureNotice } from "./failing.js";
import { current, t } from "./i18n.js";
import { icon } from "./icons.js";
import { onAnswer, resultOf } from "./latest.js";
import { CLOSED, address, go, read } from "./state.js";

const PANELS = {
  read: () => import("./reader.js"),
  explain: () => import("./explain.js"),
  similar: () => import("./similar.js"),
  why: () => import("./why.js"),
};

const drawer = document.getElementById("drawer");
let shown = "";
let running = null;

/** Show what the state asks for, or nothing. */
export function updateDrawer(state) {
  const name = state.panel in PANELS ? state.panel : "";
  markChosen(name ? state.doc : "");
  document.body.classList.toggle("with-drawer", Boolean(name));
  if (!name) {
    close();
    return;
  }
  const wanted = wantedBy(name, state);
  if (wanted === shown) return;
  const before = shown ? JSON.parse(shown) : null;
  shown = wanted;
  draw(name, state, { focus: !before || before[0] !== name || before[1] !== state.doc });
}

/** All that the panel's content depends on: the query, too, except for a text and its neighbours. */
function wantedBy(name, state) {
  const query = ["explain", "why"].includes(name) ? searchOf(state) : "";
  return JSON.stringify([name, state.doc, state.lines, query, current()]);
}

function draw(name, state, { focus }) {
  running?.abort();
  const mine = running = new AbortController();
  const body = el("div", { class: `panel ${name}`, "aria-busy": "true" },
    el("p", { class: "faint waiting" }, t("loading")));
  const title = el("h2", { id: "drawer-title", tabindex: "-1" }, titleOf(name, state));
  show(drawer, el("div", { class: "drawer-head" }, title,
    el("a", { class: "quiet icon", href: address(CLOSED), "aria-label": t("close"),
      id: "drawer-close" }, icon("close"))),
  state.doc ? tabs(name, state) : null, body);
  drawer.hidden = false;
  // A scrolled text must be reachable by keyboard.
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", t(`panel.${name}`));
  if (focus && document.activeElement?.id !== "q") title.focus({ preventScroll: true });
  fill(name, state, body, title, mine);
}

async function fill(name, state, body, title, mine) {
  try {
    const { panel } = await PANELS[name]();
    const made = await panel(state, mine.signal);
    if (mine.signal.aborted) return;
    if (read().doc !== state.doc) {
      // The panel found the document's own name: the tabs follow.
      const known = read();
      shown = wantedBy(name, known);
      markChosen(known.doc);
      drawer.querySelector(".tabs")?.replaceWith(tabs(name, known));
    }
    if (made.title) title.textContent = made.title;
    show(body, made.content);
    made.placed?.(body);
  } catch (failure) {
    if (mine.signal.aborted || failure.name === "AbortError") return;
    if (failure.status === undefined) throw failure;
    show(body, failureNotice(failure, () => draw(name, state, { focus: true })));
  }
  body.setAttribute("aria-busy", "false");
}

function tabs(name, state) {
  const link = (panel) => el("a", { href: address({ panel, doc: state.doc, lines:
    panel === "read" ? state.lines : "" }), "aria-current": panel === name ? "true" : null },
  t(`panel.${panel}`));
  const ours = state.view === "search" && state.q
    ? ["read", "explain", "similar", "why"] : ["read", "similar"];
  return el("nav", { class: "tabs", "aria-label": t("panel.label") }, ours.map(link));
}

function titleOf(name, state) {
  return resultOf(state.doc)?.title ?? (state.doc.replace(/^\[\[|\]\]$/g, "") || t(`panel.${name}`));
}

function searchOf(state) {
  return [state.q, state.mode, state.n, state.kind, state.tag, state.collection, state.after,
    state.before];
}

function close() {
  running?.abort();
  if (!shown) return;
  shown = "";
  drawer.hidden = true;
  show(drawer);
}

function markChosen(doc) {
  for (const one of document.querySelectorAll("#main [data-doc]")) {
    one.classList.toggle("chosen", Boolean(doc) && one.dataset.doc === doc);
  }
}

onAnswer((answer) => {
  const state = read();
  markChosen(state.panel ? state.doc : "");
  if (answer && state.panel === "explain") {
    shown = "";
    updateDrawer(state);
  }
  // A document that was opened by its address may be there before the answer.
  if (answer && state.panel === "read") {
    PANELS.read().then(({ markFound }) => markFound(drawer.querySelector(".prose"), state.doc));
  }
});

// The results are painted after the answer is known: mark the chosen one then.
new MutationObserver(() => markChosen(read().panel ? read().doc : ""))
  .observe(document.getElementById("main"), { childList: true, subtree: true });

drawer.addEventListener("click", (event) => {
  if (!event.target.closest("#drawer-close")) return;
  event.preventDefault();
  const doc = read().doc;
  go(CLOSED);
  [...document.querySelectorAll("#main [data-doc]")]
    .find((one) => one.dataset.doc === doc)?.querySelector(".open")?.focus();
});
