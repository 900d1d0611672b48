// What is said when something does not work, and what can be done about it.

import { el, show, spelled } from "./dom.js";
import { t } from "./i18n.js";
import { icon } from "./icons.js";
import { keep } from "./kept.js";

/** A notice about a failure; `again` is what the button does. */
export function failureNotice(failure, again) {
  const [title, detail] = worded(failure);
  return el("div", { class: "notice bad", role: "alert" }, icon("warning"),
    el("div", {}, el("strong", {}, title), detail ? el("p", {}, spelled(detail)) : null),
    again && failure.status === 401
      ? el("button", { type: "button", onclick: () => askForToken(again) }, t("token.enter"))
      : null,
    again ? el("button", { type: "button", class: "quiet", onclick: again }, t("again")) : null);
}

/** Notices about lanes that could not run. */
export function degradedNotices(degraded) {
  return (degraded ?? []).map((one) => el("div", { class: "notice", "data-degraded": one.lane },
    icon("warning"),
    el("p", {}, el("strong", {}, t("degraded", { lane: laneName(one.lane) })), " ",
      el("span", { lang: "en" }, spelled(one.reason)))));
}

/** A lane's name for people. */
export function laneName(lane) {
  return ["lexical", "dense", "exact", "identity"].includes(lane) ? t(`lane.${lane}`) : lane;
}

/** Ask for a token, keep it while the tab is open, and go on. */
export function askForToken(then) {
  const dialog = document.getElementById("token");
  const field = el("input", { id: "token-field", type: "password", autocomplete: "off",
    spellcheck: "false", required: true });
  show(dialog, el("form", { method: "dialog", onsubmit: (event) => {
    event.preventDefault();
    keep("token", field.value.trim(), "sessionStorage");
    dialog.close();
    then();
  } },
  el("h2", { id: "token-title" }, t("token.title")),
  el("p", {}, spelled(t("token.text"))),
  el("label", { for: "token-field" }, t("token.label")), field,
  el("div", { class: "row" }, el("button", { class: "primary" }, t("token.use")),
    el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, t("close")))));
  dialog.showModal();
}

function worded(failure) {
  const name = { 0: "offline", 401: "unknown", 403: "forbidden", 404: "missing", 429: "busy",
    503: "busy" }[failure.status];
  if (failure.kind === "unavailable") return [t("failure.unavailable"), failure.detail];
  if (!name) return [t("failure.other"), failure.detail || failure.title];
  return [t(`failure.${name}`), name === "offline" ? t("failure.offline.more") : failure.detail];
}
