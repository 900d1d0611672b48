// Choosing a document by its name, while it is being typed.

import * as api from "./api.js";
import { el, show } from "./dom.js";

const DEBOUNCE_MS = 150;

/** A field with suggestions; `choose` is told the id that was chosen, or what was typed. */
export function documentPicker({ id, label, hint, choose, signal }) {
  const list = el("ul", { class: "choices" });
  let timer = null;
  let turn = 0;
  const field = el("input", { id, type: "search", autocomplete: "off", spellcheck: "false",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(suggest, DEBOUNCE_MS);
    } });
  const chosen = (doc, title) => {
    field.value = "";
    show(list);
    choose(doc, title);
  };

  async function suggest() {
    const mine = ++turn;
    const text = field.value.trim();
    if (!text) {
      show(list);
      return;
    }
    try {
      const answer = await api.suggest(text, signal);
      if (mine !== turn) return;
      show(list, answer.results.map((one) => el("li", {}, el("button", { type: "button",
        onclick: () => chosen(one.id, one.title) }, el("strong", {}, one.title),
      el("span", { class: "faint" }, one.path ?? one.url ?? "")))));
    } catch (failure) {
      if (failure.name === "AbortError") return;
      if (!(failure instanceof api.Failure)) throw failure;
      show(list, el("li", {}, failure.message));
    }
  }

  return el("form", { class: "picker", onsubmit: (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) chosen(text, text);
  } },
  el("label", { for: id }, label), field, el("p", { class: "faint" }, hint), list);
}
