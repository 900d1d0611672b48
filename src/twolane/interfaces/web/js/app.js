// The page: which view is shown, and what belongs to all of them.

import { show } from "./dom.js";
import { updateDrawer } from "./drawer.js";
import { helpDialog } from "./help.js";
import { current, onLanguage, switchLanguage, t, translate } from "./i18n.js";
import { icon } from "./icons.js";
import { keep, kept } from "./kept.js";
import { listenToKeys } from "./keys.js";
import { CLEAN, go, onChange, read } from "./state.js";

// What is not looked at is not loaded.
const LOADED = {
  search: () => import("./search.js"),
  coverage: () => import("./coverage.js"),
  judge: () => import("./judge.js"),
};
const main = document.getElementById("main");
let shown = null;

async function render(state) {
  const name = state.view;
  let mounted = false;
  if (shown?.name !== name) {
    const module = await LOADED[name]();
    // Somebody may have gone on while it was loading.
    if (read().view !== state.view) return;
    state = read();
    if (shown?.name !== name) {
      shown?.view.leave();
      mounted = true;
      shown = { name, view: module.mount(main) };
      document.body.dataset.view = name;
    }
  }
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = [name === "search" ? state.q : t(`nav.${name}`), "Twolane"]
    .filter(Boolean).join(" · ");
  shown.view.update(state);
  updateDrawer(state);
  if (mounted && !state.panel && (!state.q || isFree())) document.getElementById("q")?.focus();
}

/** Whether the focus is nowhere in particular: on the way into a view, not on a switch. */
function isFree() {
  return Boolean(document.activeElement?.closest(".top a"));
}

function renderAgain() {
  shown?.view.leave();
  shown = null;
  drawSwitches();
  render(read());
}

function drawSwitches() {
  const other = document.getElementById("language");
  other.textContent = t("language.other");
  other.lang = current() === "en" ? "ru" : "en";
  const dark = isDark();
  const theme = document.getElementById("theme");
  show(theme, icon(dark ? "sun" : "moon"));
  theme.setAttribute("aria-label", t(dark ? "theme.light" : "theme.dark"));
  theme.title = t(dark ? "theme.light" : "theme.dark");
}

const isDark = () => document.documentElement.dataset.theme === "dark";

function switchTheme() {
  useTheme(isDark() ? "light" : "dark");
  keep("theme", document.documentElement.dataset.theme);
}

function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawSwitches();
}

/** Links within the page change its state instead of loading it again. */
function followInside(event) {
  const link = event.target.closest?.("a[href^='./']");
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!link || !plain || event.defaultPrevented) return;
  event.preventDefault();
  if (link.dataset.view) {
    const query = link.dataset.view === "judge" ? read().q : "";
    go({ ...CLEAN, view: link.dataset.view, q: query });
    if (shown?.name === link.dataset.view) document.getElementById("q")?.focus();
  } else {
    history.pushState(null, "", link.href);
    dispatchEvent(new PopStateEvent("popstate"));
  }
}

translate();
drawSwitches();
document.addEventListener("click", followInside);
document.getElementById("language").addEventListener("click", switchLanguage);
document.getElementById("theme").addEventListener("click", switchTheme);
document.getElementById("help-open").addEventListener("click", helpDialog);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (system) => {
  if (!kept("theme")) useTheme(system.matches ? "dark" : "light");
});
onLanguage(renderAgain);
onChange(render);
listenToKeys();
render(read());
