// What was found, as a list that reads well and can be walked through by keyboard.

import * as api from "./api.js";
import { el, marked } from "./dom.js";
import { degradedNotices, laneName } from "./failing.js";
import { day, number, percent, t } from "./i18n.js";
import { icon } from "./icons.js";
import { CLOSED, address, go, read, toggled } from "./state.js";

const MOST = 100;
const MORE = 20;
// Below this a result is more likely a neighbour than an answer.
const LIKELY = 0.2;
// So many copies of a result are named; the others are counted.
const MOST_COPIES = 3;

/** An answer: notices, results and what to do next; one by words alone lacks the notices. */
export function answerView(answer, state, whole = true) {
  const count = answer.results.length;
  return [
    el("div", { class: "summary" },
      el("h2", { class: "count" }, counted(count, answer.facets)),
      el("span", { class: "took" }, t("results.took", { ms: number(answer.took_ms) }))),
    whole ? [repairNotice(answer.repairs), misreadNotice(answer.misread),
      missingTagsNotice(answer.missing_tags), degradedNotices(answer.degraded)] : null,
    whole && answer.answerable === false && count ? el("div", { class: "notice calm", id: "nearest" },
      el("p", {}, el("strong", {}, t("nearest.title")), " ", t("nearest.text"))) : null,
    count ? el("ol", { class: "results" }, listed(answer, state)) : nothing(state),
    footer(answer, state),
  ];
}

/** How many results are shown, and of how many that match, if these are more. */
function counted(shown, facets) {
  const all = Object.values(facets?.kinds ?? {}).reduce((sum, one) => sum + one, 0);
  return all > shown ? t("results.of", { shown: number(shown), n: all }) : t("results.count", { n: shown });
}

/** The start: what this is, something to try, and what was changed last, when that is known. */
export function homeView(status, recent) {
  const about = el("p", { class: "hint", id: "about" });
  const examples = el("div", { class: "try", hidden: true });
  status.then(({ documents }) => {
    if (documents) {
      about.textContent = t("home.count", { n: documents });
      return;
    }
    about.append(el("strong", {}, t("home.empty")), " ", t("home.empty.do"), " ",
      el("code", {}, "twolane index ~/notes"));
  }, () => {});
  const latest = el("section", { class: "recent", hidden: true }, el("h2", {}, t("home.recent")));
  recent.then(({ results, facets }) => {
    const queries = examplesFrom(results, facets);
    examples.append(el("p", { class: "hint" }, t("home.try")),
      el("ul", { class: "examples" }, queries.map((q) => el("li", {},
        el("button", { type: "button", class: "chip", onclick: () => go({ q }) }, q)))));
    examples.hidden = !queries.length;
    latest.append(el("ul", {}, results.map((one) => el("li", {},
      el("a", { href: address({ panel: "read", doc: one.id, lines: "" }) }, icon(one.kind), one.title),
      one.updated ? el("time", { datetime: one.updated }, day(one.updated)) : null))));
    latest.hidden = !results.length;
  }, () => {});
  return el("div", { class: "start" }, el("p", { class: "lead" }, t("home.lead")), about, examples, latest);
}

/** Queries that find something here: words, a phrase, a tag and a beginning of this library. */
function examplesFrom(results, facets) {
  const words = results.map((one) => one.title.match(/\p{L}{3,}/gu) ?? []);
  const pairs = results.flatMap((one) => one.title.match(/\p{L}{3,} \p{L}{3,}/gu) ?? []);
  const long = words.flat().find((word) => word.length > 6);
  const [tag] = Object.keys(facets?.tags ?? {}).filter((one) => /^[\p{L}\p{N}/_-]+$/u.test(one));
  return [...new Set([
    words.find((each) => each.length)?.slice(0, 3).join(" ").toLowerCase(),
    pairs.length ? `"${pairs.at(-1).toLowerCase()}"` : null,
    tag ? `tag:${tag}` : null,
    long ? `${long.slice(0, 5).toLowerCase()}*` : null,
  ])].filter(Boolean);
}

/** A place for results that are on their way. */
export function skeleton() {
  const line = (kind) => el("span", { class: `bone ${kind}` });
  return el("div", { class: "skeleton", "aria-hidden": "true" }, [1, 2, 3].map(() =>
    el("div", {}, line("title"), line("meta"), line("text"), line("text short"))));
}

/** Where a result is: kind, path or address, headings. */
export function placeLine(result) {
  return el("p", { class: "place" }, icon(result.kind),
    el("span", { class: "unseen" }, `${kindName(result.kind)}: `),
    el("span", { class: "path" }, result.path ? `${result.collection}/${result.path}`
      : result.url ? site(result.url) : result.collection),
    (result.heading ?? []).map((one) => el("span", { class: "crumb" }, one)));
}

/** The site of an address: the rest of it stands where the link leads. */
function site(url) {
  try {
    return new URL(url).hostname.replace(/^www\./, "") || url;
  } catch {
    return url;
  }
}

/** A kind's name for people. */
export function kindName(kind) {
  return ["note", "bookmark", "prompt"].includes(kind) ? t(`kind.${kind}`) : kind;
}

/** How relevant a result is, drawn as a bar; nothing where that is not known. */
export function relevanceBar(relevance) {
  if (relevance === null || relevance === undefined) return null;
  const said = t("relevance", { share: percent(relevance) });
  const bar = el("span", { class: "fill" });
  bar.style.width = `${Math.round(relevance * 100)}%`;
  return el("span", { class: "relevance", role: "img", "aria-label": said, title: said }, bar);
}

/** The results, with a line above those that are all unlikely, if the order is that of relevance. */
function listed(answer, state) {
  const { results } = answer;
  const likely = results.findLastIndex((one) => one.relevance === null || one.relevance >= LIKELY);
  const line = answer.answerable !== false && state.sort === "relevance" && likely >= 0
    ? likely + 1 : results.length;
  return results.map((one, at) => resultItem(one, at, at === line, state.q));
}

function resultItem(result, index, unlikely, query) {
  const opened = { panel: "read", doc: result.id, lines: result.lines?.join("-") ?? "" };
  const other = (panel) => address({ panel, doc: result.id, lines: "" });
  return el("li", { class: "result", data: { doc: result.id } },
    unlikely ? el("p", { class: "unlikely" }, t("results.unlikely")) : null,
    el("div", { class: "head" },
      el("h3", {}, el("a", { class: "open", href: address(opened), onclick: () => api.opened(query, result.id) },
        marked(result.title_html || result.title))),
      relevanceBar(result.relevance)),
    placeLine(result),
    result.snippet ? el("p", { class: "snippet" }, marked(result.snippet)) : null,
    copyLine(result),
    el("div", { class: "foot" },
      tagList(result.tags),
      el("span", { class: "votes" }, Object.entries(result.ranks).map(vote)),
      result.relevance === null ? null
        : el("span", { class: "score", title: t("score.title") }, percent(result.relevance)),
      result.updated ? el("time", { datetime: result.updated }, day(result.updated)) : null,
      el("span", { class: "actions" },
        el("a", { href: other("explain"), "aria-label": t("explain.of", { title: result.title }) },
          t("explain")),
        el("a", { href: other("similar"), "aria-label": t("similar.of", { title: result.title }) },
          t("similar")),
        safeLink(result), programLink(result)),
    ), el("span", { class: "unseen" }, t("results.place", { n: index + 1 })));
}

/** Where else the same is, or what this is a copy of; nothing for a document without copies. */
function copyLine({ copies = [], copy_of: first }) {
  if (!copies.length && !first) return null;
  const link = (doc) => [" ", el("a", { href: address({ panel: "read", doc, lines: "" }) }, doc)];
  const more = copies.length - MOST_COPIES;
  return el("p", { class: "copies" },
    first ? [t("copy.of"), link(first)] : [t("copies", { n: copies.length }),
      copies.slice(0, MOST_COPIES).map(link), more > 0 ? ` ${t("copies.more", { n: more })}` : null]);
}

function safeLink(result) {
  if (!result.url || !/^https?:/i.test(result.url)) return null;
  return el("a", { href: result.url, rel: "noopener noreferrer", target: "_blank",
    "aria-label": t("visit.of", { title: result.title }) }, t("visit"));
}

/** A link that opens the document in a program of the reader's, where the server knows one. */
export function programLink(one) {
  if (!one.link || /^(javascript|data|vbscript|blob):/i.test(one.link)) return null;
  return el("a", { class: "program", href: one.link, "aria-label": t("program.of", { title: one.title }) },
    t("program"));
}

function tagList(tags) {
  const state = read();
  if (!tags?.length) return null;
  return el("ul", { class: "tags", "aria-label": t("filter.tag") }, tags.map((tag) => el("li", {},
    el("button", { type: "button", class: "tag", "aria-pressed": String(state.tag.includes(tag)),
      title: t("filter.by", { value: tag }),
      onclick: () => go({ ...toggled(read(), "tag", tag), ...CLOSED }) }, tag))));
}

function vote([lane, rank]) {
  return el("span", { class: `vote lane-${lane}`, title: t("vote.title", { lane: laneName(lane), rank }) },
    el("span", { class: "dot" }), `${laneName(lane)} ${rank}`);
}

function repairNotice(repairs) {
  const known = (repairs ?? []).filter((one) => one.written || one.terms?.length);
  if (!known.length) return null;
  return el("div", { class: "notice calm", id: "repairs" }, known.map((one) => el("p", {},
    t("repair.shown"), " ", el("strong", {}, one.written ?? one.terms.join(", ")), ". ",
    el("span", { class: "faint" }, t("repair.typed", { typed: one.typed })))));
}

function misreadNotice(misread) {
  if (!misread?.length) return null;
  return el("div", { class: "notice calm", id: "misread" }, misread.map((one) => el("p", {},
    t("misread.words", { typed: one.typed }), " ", el("span", { class: "faint" }, one.reason))));
}

function missingTagsNotice(tags) {
  if (!tags?.length) return null;
  return el("div", { class: "notice calm", id: "missing-tags" }, tags.map((one) => el("p", {},
    t("missing.tag", { tag: one.tag }), " ",
    one.near.length ? t("missing.near", { tags: one.near.join(", ") }) : null)));
}

function nothing(state) {
  return el("div", { class: "nothing" },
    el("p", { class: "lead" }, t("nothing.title")),
    el("p", {}, t("nothing.text")),
    state.mode === "hybrid" ? null
      : el("a", { class: "chip", href: address({ mode: "hybrid" }) }, t("nothing.hybrid")));
}

function footer(answer, state) {
  const shown = answer.results.length;
  const more = shown >= Number(state.n) && shown < MOST;
  return el("div", { class: "after" },
    more ? el("button", { type: "button", onclick: () =>
      go({ n: String(Math.min(Number(state.n) + MORE, MOST)) }) }, t("more")) : null,
    el("a", { class: "ask-why", href: address({ panel: "why", doc: "", lines: "" }) }, t("why.ask")),
    el("a", { href: address({ ...CLOSED, view: "judge" }) }, t("judge.these")));
}
