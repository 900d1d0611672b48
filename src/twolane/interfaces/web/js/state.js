// What the page shows is in its address: back, forward, reload and sharing work by themselves.

/** The views, each with a path of its own; the first one is at the root. */
export const VIEWS = ["search", "coverage", "judge"];

const SINGLE = { q: "", mode: "hybrid", sort: "relevance", after: "", before: "",
  n: "20", panel: "", doc: "", lines: "" };
const LISTS = ["kind", "tag", "collection"];

const listeners = [];

/** The state that the address spells. */
export function read() {
  const text = location.pathname + location.search;
  if (text !== known.text) known = { text, state: spelled(location) };
  return known.state;
}

// A list of results asks for the state a hundred times, and it is the same each time.
let known = { text: null, state: null };

function spelled({ pathname, search }) {
  const given = new URLSearchParams(search);
  const last = pathname.split("/").at(-1);
  const state = { view: VIEWS.includes(last) ? last : VIEWS[0] };
  for (const [name, usual] of Object.entries(SINGLE)) state[name] = given.get(name) ?? usual;
  for (const name of LISTS) state[name] = given.getAll(name);
  return Object.freeze(state);
}

/** The address of the present state with changes. */
export function address(changes) {
  const state = { ...read(), ...changes };
  const said = new URLSearchParams();
  for (const [name, usual] of Object.entries(SINGLE)) {
    if (String(state[name]) !== usual) said.set(name, state[name]);
  }
  for (const name of LISTS) for (const value of state[name]) said.append(name, value);
  const text = said.toString();
  return `./${state.view === VIEWS[0] ? "" : state.view}${text ? `?${text}` : ""}`;
}

/** Go to the present state with changes; `replace` leaves no step to come back to. */
export function go(changes, { replace = false, quiet = false } = {}) {
  const target = new URL(address(changes), location.href);
  if (target.href !== location.href) {
    history[replace ? "replaceState" : "pushState"](null, "", target);
  }
  if (!quiet) tell();
}

/** Hear of every change of state. */
export function onChange(listener) {
  listeners.push(listener);
}

/** A link's address within the page, without what belongs to a search. */
export const CLEAN = { q: "", mode: "hybrid", sort: "relevance", after: "", before: "", n: "20",
  panel: "", doc: "", lines: "", kind: [], tag: [], collection: [] };

/** Nothing beside the results. */
export const CLOSED = { panel: "", doc: "", lines: "" };

/** The filters of a state that restrict something. */
export function filtersOf(state) {
  return [
    ...LISTS.flatMap((name) => state[name].map((value) => ({ name, value }))),
    ...["after", "before"].filter((name) => state[name])
      .map((name) => ({ name, value: state[name] })),
  ];
}

/** The changes that take one filter away. */
export function without(state, { name, value }) {
  return { [name]: LISTS.includes(name) ? state[name].filter((one) => one !== value) : "" };
}

/** The changes that switch one value of a list on or off. */
export function toggled(state, name, value) {
  const held = state[name];
  return { [name]: held.includes(value) ? held.filter((one) => one !== value) : [...held, value] };
}

function tell() {
  const state = read();
  for (const listener of listeners) listener(state);
}

addEventListener("popstate", tell);
