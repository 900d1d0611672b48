// The one module that knows the server's addresses.

import { kept } from "./kept.js";

/** An answer of the server that is not the one we wanted; `status` is 0 if there was none. */
export class Failure extends Error {
  constructor(status, said = {}, retry = null) {
    super(said.detail || said.title || String(status));
    this.status = status;
    this.kind = String(said.type ?? "").split("/").at(-1);
    this.title = said.title ?? "";
    this.detail = said.detail ?? "";
    this.retry = retry;
  }
}

/** The results of the state's search, with facet counts; `typing` where the last word may go on. */
export async function search(state, signal, { typing = false, facets = true } = {}) {
  const { q, n, mode } = state;
  const sort = state.sort === "relevance" ? null : state.sort;
  return get("api/v1/search", filtered(state, { q, n, mode, sort,
    typing: typing ? "true" : null, facets: facets ? null : "false" }), signal);
}

/** The documents that were changed last, with counts of all. */
export const recent = (n, signal) => get("api/v1/search", { q: "", n }, signal);

/** Documents whose names look like the text that is being typed; for choosing one. */
export const suggest = (text, signal) => get("api/v1/search",
  { q: text, n: 8, facets: "false", typing: "true" }, signal);

/** Why a document is, or is not, among the results of the state's search. */
export const why = (state, doc, signal) => get("api/v1/why", filtered(state, {
  q: state.q, doc, n: state.n, mode: state.mode,
}), signal);

/** Documents like one. */
export const similar = (doc, signal) => get("api/v1/similar", { doc, n: 12 }, signal);

/** A document with its whole text. */
export const open = (doc, signal) =>
  get(`api/v1/documents/${doc.split("/").map(encodeURIComponent).join("/")}`, {}, signal);

/** The id of the document that a wiki-link names by its file, or null. */
export async function linked(name, signal) {
  const file = /\.(?:md|markdown)$/i.test(name) ? name : `${name}.md`;
  const said = quoted(file.replace(/^(?:\.{0,2}\/)+/, ""));
  const found = await get("api/v1/search", { q: `path:${said} path:${quoted(`**/${said.slice(1, -1)}`)}`,
    n: 1, facets: "false" }, signal);
  return found.results[0]?.id ?? null;
}

/** How complete the index is, with what became of each file if that is wanted. */
export const status = (signal, files = true) => get("api/v1/status", { files: files ? "true" : null }, signal);

/** The queries that were judged, and how well they are answered. */
export async function judgments(signal) {
  const [held, measured] = await Promise.all(
    ["api/v1/judgments", "api/v1/measures"].map((path) => get(path, {}, signal)));
  const scores = new Map(measured.each.map((one) => [one.id, one]));
  return { overall: measured.overall,
    queries: held.judgments.map((one) => ({ ...one, metrics: scores.get(one.id) ?? null })) };
}

/** Keep the judgments of one query. */
export const judge = (judged, signal) => send("POST", "api/v1/judgments", judged, signal);

// Whether the server notes what is opened; it says so the first time.
let notes = true;

/** Note that a result was opened for a query, where the server is set up to. */
export async function opened(query, id) {
  if (!notes || !query) return;
  notes = await send("POST", "api/v1/opened", { query, id }).then((said) => said.noted, () => false);
}

const quoted = (value) => `"${value.replaceAll('"', " ")}"`;

function filtered(state, more) {
  return {
    ...more, kind: state.kind, tag: state.tag, collection: state.collection,
    after: state.after, before: state.before,
  };
}

function get(path, parameters, signal) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== null && (one !== "" || name === "q")) said.append(name, one);
  }
  const text = said.toString();
  return ask(text ? `${path}?${text}` : path, { signal });
}

function send(method, path, body, signal) {
  return ask(path, {
    method, signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  });
}

async function ask(path, { headers = {}, ...options }) {
  const token = kept("token", "sessionStorage");
  if (token) headers = { ...headers, Authorization: `Bearer ${token}` };
  let answer;
  try {
    answer = await fetch(path, {
      ...options, headers: { Accept: "application/json", ...headers }, credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0);
  }
  const said = await content(answer);
  if (answer.ok) return said;
  const retry = Number(answer.headers.get("Retry-After")) || null;
  throw new Failure(answer.status, said ?? { title: answer.statusText }, retry);
}

async function content(answer) {
  try {
    return await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return null;
  }
}
