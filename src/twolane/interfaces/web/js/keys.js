// Keyboard throughout. This list is what the help shows, and what the guide documents.

import { helpDialog } from "./help.js";
import { CLOSED, go, read } from "./state.js";

export const BINDINGS = [
  { keys: ["/"], what: "keys.focus", act: focusBox },
  { keys: ["↓", "j"], what: "keys.next", act: () => step(1) },
  { keys: ["↑", "k"], what: "keys.previous", act: () => step(-1) },
  { keys: ["Enter"], what: "keys.open", act: null },
  { keys: ["e"], what: "keys.explain", act: () => panel("explain") },
  { keys: ["s"], what: "keys.similar", act: () => panel("similar") },
  { keys: ["w"], what: "keys.why", act: askWhy },
  { keys: ["m"], what: "keys.mode", act: nextMode },
  { keys: ["f"], what: "keys.filters", act: openFilters },
  { keys: ["1", "2", "3"], what: "keys.judge", act: judge },
  { keys: ["Esc"], what: "keys.back", act: back },
  { keys: ["?"], what: "keys.help", act: () => helpDialog() },
];

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };
const MODES = ["hybrid", "lexical", "semantic", "exact"];

/** Listen for all of them. */
export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const key = pressed(event);
    if (!isFor(key, event.target)) return;
    const binding = BINDINGS.find((one) => one.act && one.keys.includes(key));
    if (binding && binding.act(key, event.target) !== false) event.preventDefault();
  });
}

/** The key by its Latin name, also on a Russian keyboard, where j is о and / is a full stop. */
function pressed(event) {
  if (event.key in NAMES) return NAMES[event.key];
  if (event.code === "Slash" && event.key === ".") return "/";
  if (event.code === "Slash" && event.key === ",") return "?";
  if (/^[!-~]$/.test(event.key)) return event.key;
  return /^Key[A-Z]$/.test(event.code) ? event.code[3].toLowerCase() : event.key;
}

/** Whether a key is ours there: letters belong to a field that is being written in. */
function isFor(key, target) {
  if (!target.closest?.("input, textarea, select, [role=slider]")) return true;
  if (target.closest("input[type=radio], input[type=checkbox]")) return !["↓", "↑"].includes(key);
  if (target.id === "q") return ["↓", "Esc"].includes(key);
  return key === "Esc";
}

const links = () => [...document.querySelectorAll("#main .result .open, #main .judged .open")];
const chosen = () => document.activeElement?.closest?.("[data-doc]")
  ?? document.querySelector("#main [data-doc].chosen");

function focusBox() {
  const box = document.getElementById("q");
  if (!box) return false;
  box.focus();
  box.select();
  return true;
}

function step(by) {
  if (document.activeElement?.closest?.("#drawer .reader")) return false;
  const all = links();
  if (!all.length) return false;
  const here = all.findIndex((one) => one.closest("[data-doc]") === chosen());
  if (here + by < 0) return focusBox();
  const next = all[Math.min(here + by, all.length - 1)];
  next.focus();
  next.closest("[data-doc]").scrollIntoView({ block: "nearest" });
  return true;
}

function panel(name) {
  const state = read();
  const doc = chosen()?.dataset.doc || (state.panel && state.doc);
  if (!doc) return false;
  go({ panel: name, doc, lines: "" });
  return true;
}

function askWhy() {
  const state = read();
  if (state.view !== "search" || !state.q) return false;
  const doc = chosen()?.dataset.doc || (state.panel && state.doc) || "";
  go({ panel: "why", doc, lines: "" });
  return true;
}

function nextMode() {
  const state = read();
  if (state.view !== "search") return false;
  go({ mode: MODES[(MODES.indexOf(state.mode) + 1) % MODES.length] });
  return true;
}

function openFilters() {
  const first = document.querySelector("#main details.pick > summary");
  if (!first) return false;
  first.parentElement.open = true;
  first.focus();
  return true;
}

function judge(key, target) {
  const one = target.closest?.(".judged");
  if (!one) return false;
  one.querySelectorAll("input[type=radio]")[Number(key) - 1]?.click();
  return true;
}

function back(_key, target) {
  const menu = document.querySelector("details.pick[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
    return true;
  }
  const state = read();
  if (state.panel) {
    const doc = state.doc;
    go(CLOSED);
    const from = links().find((one) => one.closest("[data-doc]").dataset.doc === doc);
    (from ?? document.getElementById("q"))?.focus();
    return true;
  }
  const box = document.getElementById("q");
  if (target !== box) return focusBox();
  if (box.value) {
    box.value = "";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return true;
}
