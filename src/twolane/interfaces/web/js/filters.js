// Modes, order and filters: small menus with counts, and a chip for each filter that is on.

import { el, show } from "./dom.js";
import { day, number, t } from "./i18n.js";
import { icon } from "./icons.js";
import { kindName } from "./results.js";
import { CLOSED, filtersOf, go, read, toggled, without } from "./state.js";

const MODES = ["hybrid", "lexical", "semantic", "exact"];
const SORTS = ["relevance", "updated", "created", "title"];
const FACETS = ["kind", "tag", "collection"];

/** The bar, with its parts for `updateFilters`. */
export function filterBar() {
  const menus = Object.fromEntries(FACETS.map((name) => [name, pick(name)]));
  const dates = dateMenu();
  const chips = el("ul", { class: "chips", "aria-label": t("filters.on") });
  const modes = modeSwitch();
  const sort = el("select", { id: "sort", onchange: () => go({ sort: sort.value }) },
    SORTS.map((one) => el("option", { value: one }, t(`sort.${one}`))));
  const element = el("div", { class: "bar" },
    el("div", { class: "bar-row" }, modes.element,
      el("div", { class: "picks" }, FACETS.map((name) => menus[name].element), dates.element,
        el("label", { class: "sort" }, el("span", {}, t("sort")), sort, icon("chevron")))),
    chips);
  return { element, menus, dates, chips, modes, sort, facets: {} };
}

/** Show the state's filters; `facets` are the counts of an answer, or null while it is awaited. */
export function updateFilters(bar, state, facets) {
  if (facets) bar.facets = { ...facets };
  for (const [mode, radio] of Object.entries(bar.modes.radios)) radio.checked = mode === state.mode;
  bar.sort.value = state.sort;
  for (const name of FACETS) {
    const made = bar.menus[name];
    mark(made.element, state[name].length);
    // Nobody looks into a closed menu; it is filled when it opens.
    made.fill = () => fillMenu(made, name, read(), countsOf(bar.facets, name));
    if (made.element.open) made.fill();
  }
  for (const name of ["after", "before"]) {
    if (document.activeElement !== bar.dates[name]) bar.dates[name].value = state[name];
  }
  mark(bar.dates.element, Number(Boolean(state.after)) + Number(Boolean(state.before)));
  const on = filtersOf(state);
  show(bar.chips, on.map((one) => el("li", {}, el("button", { type: "button", class: "chip on",
    "aria-label": t("filter.drop", { value: one.value }),
    onclick: () => go({ ...without(read(), one), ...CLOSED }) }, chipText(one), icon("close")))),
  on.length > 1 ? el("li", {}, el("button", { type: "button", class: "quiet small", onclick: () =>
    go({ kind: [], tag: [], collection: [], after: "", before: "", ...CLOSED }) },
  t("filters.clear"))) : null);
  bar.chips.hidden = !on.length;
}

/** Facet counts as pairs, whichever way round they come: an object, or a list of values. */
export function countsOf(facets, name) {
  const held = facets?.[name] ?? facets?.[`${name}s`] ?? {};
  const pairs = Array.isArray(held)
    ? held.map((one) => [one.value ?? one.name, one.count]) : Object.entries(held);
  return pairs.sort((one, other) => other[1] - one[1] || String(one[0]).localeCompare(other[0]));
}

function modeSwitch() {
  const radios = {};
  const element = el("fieldset", { class: "modes" }, el("legend", { class: "unseen" }, t("mode")),
    MODES.map((mode) => {
      radios[mode] = el("input", { type: "radio", name: "mode", value: mode, id: `mode-${mode}`,
        onchange: () => go({ mode, ...CLOSED }) });
      return el("span", {}, radios[mode],
        el("label", { for: `mode-${mode}`, title: t(`mode.${mode}.more`) }, t(`mode.${mode}`)));
    }));
  return { element, radios };
}

function pick(name) {
  const badge = el("span", { class: "badge", hidden: true });
  const inside = el("div", { class: "menu" });
  const element = el("details", { class: "pick", data: { pick: name }, ontoggle: () => {
    if (!element.open) return;
    made.fill?.();
    for (const other of document.querySelectorAll("details.pick[open]")) {
      if (other !== element) other.open = false;
    }
  } }, el("summary", {}, t(`filter.${name}`), badge, icon("chevron")), inside);
  const made = { element, inside, fill: null };
  return made;
}

function dateMenu() {
  const made = pick("dates");
  const field = (name) => el("input", { type: "date", id: name,
    onchange: (event) => go({ [name]: event.target.value, ...CLOSED }) });
  const after = field("after");
  const before = field("before");
  made.inside.append(
    el("label", { for: "after" }, t("filter.after")), after,
    el("label", { for: "before" }, t("filter.before")), before);
  return { ...made, after, before };
}

function fillMenu(made, name, state, counts) {
  const known = new Map(counts);
  for (const value of state[name]) if (!known.has(value)) known.set(value, null);
  // A menu that is being walked through must not lose the focus when counts arrive.
  const focused = made.inside.contains(document.activeElement) ? document.activeElement.value : null;
  show(made.inside, known.size ? [...known].slice(0, 60).map(([value, count]) => el("label", {},
    el("input", { type: "checkbox", value, checked: state[name].includes(value),
      onchange: () => go({ ...toggled(read(), name, value), ...CLOSED }) }),
    el("span", { class: "value" }, name === "kind" ? kindName(value) : value),
    count === null ? null : el("span", { class: "number" }, number(count))))
    : el("p", { class: "faint" }, t("filter.none")));
  if (focused !== null) {
    [...made.inside.querySelectorAll("input")].find((one) => one.value === focused)?.focus();
  }
}

function mark(details, count) {
  const badge = details.querySelector(".badge");
  badge.textContent = count ? String(count) : "";
  badge.hidden = !count;
}

function chipText({ name, value }) {
  if (name === "kind") return kindName(value);
  if (name === "tag") return `#${value}`;
  if (name === "after" || name === "before") return t(`chip.${name}`, { day: day(value) || value });
  return value;
}

addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.pick[open]")) {
    // The path was taken before a menu was filled anew, when the clicked box was still in it.
    if (!event.composedPath().includes(open)) open.open = false;
  }
});
