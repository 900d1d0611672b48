// The judging page: a search becomes a golden query, and the golden queries become figures.

import * as api from "./api.js";
import { announce, el, marked, show } from "./dom.js";
import { degradedNotices, failureNotice } from "./failing.js";
import { scoreboard } from "./figures.js";
import { number, t } from "./i18n.js";
import { icon } from "./icons.js";
import { GRADES, ndcg } from "./metrics.js";
import { documentPicker } from "./picker.js";
import { placeLine } from "./results.js";
import { CLOSED, address, go, read } from "./state.js";

const DEPTH = 10;
// What each of them finds is judged, so that no way of searching looks better than it is.
const POOLED = ["hybrid", "lexical", "semantic"];
const CHOICES = ["relevant", "partial", "not"];

/** Put the view into the page. */
export function mount(main) {
  const running = new AbortController();
  const input = el("input", { id: "q", type: "search", autocomplete: "off", spellcheck: "false",
    maxlength: 2000, placeholder: t("judge.placeholder") });
  const sheet = el("section", { class: "sheet", "aria-label": t("judge.results") });
  const board = el("section", { class: "board", "aria-label": t("judge.figures") });
  show(main, el("div", { class: "page" }, el("h1", {}, t("nav.judge")),
    el("p", { class: "lead" }, t("judge.lead")),
    el("div", { class: "desk" }, el("div", {},
      el("form", { role: "search", class: "box", onsubmit: (event) => {
        event.preventDefault();
        go({ q: input.value.trim(), ...CLOSED });
      } }, el("label", { class: "unseen", for: "q" }, t("box.label")), icon("search"), input), sheet),
    board)));
  const known = { queries: [] };
  let asked = null;

  async function refresh() {
    try {
      Object.assign(known, await api.judgments(running.signal));
      show(board, scoreboard(known));
    } catch (failure) {
      said(failure, board, refresh);
    }
  }

  async function ask(query) {
    if (!query) {
      show(sheet, el("p", { class: "faint" }, t("judge.start")));
      return;
    }
    try {
      const answers = await Promise.all(POOLED.map((mode) =>
        api.search({ ...read(), q: query, n: String(DEPTH), mode }, running.signal, { facets: false })));
      if (query !== asked) return;
      const before = known.queries.find((judged) => judged.query === query);
      const pool = pooled(query, answers);
      show(sheet, judgingSheet(answers[0], pool, before, { signal: running.signal, saved: refresh }));
      announce(t("announce.found", { n: pool.length }));
    } catch (failure) {
      said(failure, sheet, () => ask(query));
    }
  }

  const first = refresh();
  return {
    update(state) {
      if (document.activeElement !== input) input.value = state.q;
      if (asked === state.q) return;
      asked = state.q;
      // What was judged before has to be known first.
      first.then(() => ask(asked));
    },
    leave: () => running.abort(),
  };
}

function said(failure, place, again) {
  if (failure.name === "AbortError") return;
  if (!(failure instanceof api.Failure)) throw failure;
  show(place, failureNotice(failure, again));
}

/** The results of all answers, each once, in an order that says nothing of their ranks. */
function pooled(query, answers) {
  const results = new Map();
  for (const result of answers.flatMap((answer) => answer.results)) {
    if (!results.has(result.id)) results.set(result.id, result);
  }
  const place = (result) => hash(`${query} ${result.id}`);
  return [...results.values()].sort((a, b) => place(a) - place(b));
}

/** A number that a text always gets and that looks random (FNV-1a, mixed once more). */
function hash(text) {
  let bits = 2166136261;
  for (const sign of text) bits = Math.imul(bits ^ sign.codePointAt(0), 16777619);
  return Math.imul(bits ^ (bits >>> 15), 2246822519) >>> 0;
}

function judgingSheet(answer, pool, before, { signal, saved }) {
  const grades = gradesOf(before, pool);
  const list = el("ol", { class: "judging" });
  const live = el("p", { class: "live" });
  const none = el("input", { type: "checkbox", id: "unanswerable", class: "box-check",
    onchange: redraw });
  none.checked = Boolean(before?.unanswerable);
  const status = el("p", { class: "saved", role: "status" });
  const save = el("button", { type: "button", class: "primary", onclick: () => keep() }, t("judge.save"));
  const shown = answer.results.map((one) => one.id);
  const titles = new Map(pool.map((result) => [result.id, result]));

  function redraw() {
    const judged = [...grades.values()].includes(GRADES.relevant);
    const score = ndcg(shown.map((id) => grades.get(id) ?? 0), [...grades.values()]);
    live.textContent = none.checked ? t("judge.none.text")
      : judged ? t("judge.live", { score: number(score, 3) }) : t("judge.live.none");
    save.disabled = !(judged || none.checked);
  }

  function add(id, title) {
    grades.set(id, GRADES.relevant);
    if (titles.has(id)) document.getElementById(`relevant-${id}`).checked = true;
    else append(id, title);
    redraw();
  }

  function append(id, title) {
    titles.set(id, { id, title, heading: [], kind: "note", collection: "", path: id });
    list.append(item(titles.get(id), grades, redraw, true));
  }

  async function keep() {
    save.disabled = true;
    try {
      await api.judge(judgment(answer.query, grades, none.checked), signal);
      status.textContent = t("judge.saved");
      await saved();
    } catch (failure) {
      if (failure.name === "AbortError") return;
      if (!(failure instanceof api.Failure)) throw failure;
      status.textContent = failure.message;
    }
    redraw();
  }

  list.append(...pool.map((result) => item(result, grades, redraw, false)));
  for (const id of grades.keys()) {
    if (!titles.has(id)) append(id, id);
  }
  redraw();
  return [degradedNotices(answer.degraded),
    el("h2", {}, t("judge.question", { q: answer.query })),
    el("p", { class: "hint" }, t("judge.pool")),
    list,
    documentPicker({ id: "judge-add", label: t("judge.add"), hint: t("judge.add.hint"), choose: add, signal }),
    el("p", { class: "none" }, none, " ", el("label", { for: "unanswerable" }, t("judge.none"))),
    el("div", { class: "row keep" }, save, live), status];
}

function item(result, grades, redraw, added) {
  const name = `grade-${result.id}`;
  const radio = (choice) => {
    const id = `${choice}-${result.id}`;
    const input = el("input", { type: "radio", name, id, value: choice, onchange: () => {
      grades.set(result.id, GRADES[choice]);
      redraw();
    } });
    input.checked = grades.get(result.id) === GRADES[choice];
    return el("span", {}, input, el("label", { for: id, class: choice }, t(`grade.${choice}`)));
  };
  return el("li", { class: added ? "judged added" : "judged", data: { doc: result.id } },
    el("h3", {}, el("a", { class: "open", href: address({ panel: "read", doc: result.id,
      lines: result.lines?.join("-") ?? "" }) },
    result.title_html ? marked(result.title_html) : result.title)),
    placeLine(result),
    added ? el("p", { class: "faint" }, t("judge.added")) : null,
    result.snippet ? el("p", { class: "snippet" }, marked(result.snippet)) : null,
    el("fieldset", { class: "modes grades" },
      el("legend", { class: "unseen" }, t("grade.of", { title: result.title })), CHOICES.map(radio)));
}

/** Document → grade; golden sets name documents by path, which becomes an id where it is known. */
function gradesOf(before, results) {
  const ids = new Map(results.flatMap((one) => [[one.url, one.id], [one.path, one.id]]));
  const grades = new Map();
  for (const name of before?.partial ?? []) grades.set(ids.get(name) ?? name, GRADES.partial);
  for (const name of before?.relevant ?? []) grades.set(ids.get(name) ?? name, GRADES.relevant);
  return grades;
}

function judgment(query, grades, unanswerable) {
  const graded = (grade) => [...grades].filter(([, one]) => one === grade).map(([id]) => id);
  return unanswerable ? { query, relevant: [], partial: [], unanswerable: true }
    : { query, relevant: graded(GRADES.relevant), partial: graded(GRADES.partial), unanswerable: false };
}
