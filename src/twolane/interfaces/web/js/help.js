// The help: every key, and what can be typed.

import { el, show } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { BINDINGS } from "./keys.js";

const SYNTAX = [
  ['"side shoots"', "syntax.phrase"],
  ["tomato -soup", "syntax.without"],
  ["tea OR coffee", "syntax.either"],
  ["tag:garden", "syntax.tag"],
  ["path:travel/**", "syntax.path"],
  ["title:telescope", "syntax.title"],
  ["after:2025-05", "syntax.after"],
  ["tomat*", "syntax.prefix"],
];

/** Open the help. */
export function helpDialog() {
  const dialog = document.getElementById("help");
  show(dialog,
    el("div", { class: "dialog-head" },
      el("h2", { id: "help-title" }, t("help.title")),
      el("button", { type: "button", class: "quiet icon", "aria-label": t("close"),
        onclick: () => dialog.close() }, icon("close"))),
    el("dl", { class: "keys" }, BINDINGS.map((one) => el("div", {},
      el("dt", {}, one.keys.map((key) => el("kbd", {}, key))),
      el("dd", {}, t(one.what))))),
    el("h3", {}, t("help.syntax")),
    el("dl", { class: "keys" }, SYNTAX.map(([typed, what]) => el("div", {},
      el("dt", {}, el("code", {}, typed)),
      el("dd", {}, t(what))))));
  dialog.showModal();
}
