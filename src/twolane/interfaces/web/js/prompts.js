// A prompt that can be used at once: its arguments to fill in, and a button that copies the text.

import { announce, el } from "./dom.js";
import { t } from "./i18n.js";

// As `text/prompts.py` reads it.
const PLACE = /\{\{[ \t]*([\p{L}_][\p{L}\p{N}_-]{0,99})[ \t]*\}\}/gu;
const MOST = 100;

/** The form of a prompt. */
export function form(one) {
  const text = one.text ?? "";
  const inputs = wanted(text, one.arguments ?? []).map(({ name, about }) => {
    const input = el("input", { type: "text", name, placeholder: about, autocomplete: "off" });
    return { name, input, row: el("label", {}, el("span", {}, name), input) };
  });
  const button = el("button", { type: "submit", class: "copy" }, t("prompt.copy"));
  return el("form", { class: "prompt-form", onsubmit: async (event) => {
    event.preventDefault();
    const values = new Map(inputs.map(({ name, input }) => [name, input.value.trim()]));
    await copy(filled(text, values));
    button.textContent = t("prompt.copied");
    announce(t("prompt.copied"));
    setTimeout(() => { button.textContent = t("prompt.copy"); }, 2000);
  } }, inputs.map(({ row }) => row), button);
}

function wanted(text, declared) {
  const found = new Map();
  for (const one of declared) {
    const [name, ...about] = one.split(":");
    if (name.trim() && !found.has(name.trim())) found.set(name.trim(), about.join(":").trim());
  }
  for (const place of text.matchAll(PLACE)) {
    if (found.size >= MOST) break;
    if (!found.has(place[1])) found.set(place[1], "");
  }
  return [...found].map(([name, about]) => ({ name, about }));
}

function filled(text, values) {
  const placed = new Set();
  const whole = text.replace(PLACE, (written, name) => {
    placed.add(name);
    return values.get(name) || written;
  });
  const others = [...values].filter(([name, said]) => said && !placed.has(name));
  if (!others.length) return whole;
  return `${whole.replace(/\n+$/, "")}\n\n${others.map(([name, said]) => `${name}: ${said}`).join("\n")}`;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page that came over plain HTTP from elsewhere has no clipboard of its own.
    const box = el("textarea", { class: "unseen" });
    box.value = text;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
}
