// Words of the interface in two languages. The tables are plain JSON inside a module.

import { kept, keep } from "./kept.js";

const LANGUAGES = ["en", "ru"];
const listeners = [];
let language = kept("language") ?? (preferred().startsWith("ru") ? "ru" : "en");
if (!LANGUAGES.includes(language)) language = "en";
let words = await table(language);

/** The words for a key; `{name}` is filled in, and `n` chooses the plural form. */
export function t(key, values = {}) {
  const entry = words[key] ?? key;
  const text = typeof entry === "string" ? entry : entry[plural(values.n)] ?? entry.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) =>
    name in values ? spoken(values[name]) : whole);
}

/** Whether there are words for a key. */
export const has = (key) => key in words;

/** The language in use: `en` or `ru`. */
export const current = () => language;

/** Use the other language, and remember it. */
export async function switchLanguage() {
  const other = language === "en" ? "ru" : "en";
  words = await table(other);
  language = other;
  keep("language", language);
  translate();
  for (const listener of listeners) listener();
}

/** Hear of a change of language. */
export const onLanguage = (listener) => listeners.push(listener);

/** Put the words into the fixed parts of the page. */
export function translate(root = document) {
  document.documentElement.lang = language;
  for (const one of root.querySelectorAll("[data-t]")) one.textContent = t(one.dataset.t);
  for (const one of root.querySelectorAll("[data-t-label]")) {
    one.setAttribute("aria-label", t(one.dataset.tLabel));
  }
}

/** A number as the language writes it. */
export function number(value, digits = 0) {
  return made("NumberFormat", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .format(value);
}

/** A share as a percentage. */
export const percent = (share) => made("NumberFormat", { style: "percent" }).format(share);

/** A day as the language writes it. */
export function day(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : made("DateTimeFormat", { dateStyle: "medium" }).format(at);
}

/** The name of a language in the language in use. */
export function languageName(code) {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

// Only the language in use is loaded.
async function table(name) {
  return (await import(`./words.${name}.js`)).default;
}

// Making a formatter takes longer than a hundred uses of it.
const formatters = new Map();
function made(kind, options) {
  const key = [language, kind, JSON.stringify(options)].join();
  if (!formatters.has(key)) formatters.set(key, new Intl[kind](language, options));
  return formatters.get(key);
}

const plural = (n) => made("PluralRules").select(Number(n ?? 0));
const spoken = (value) => (typeof value === "number" ? number(value) : String(value));

function preferred() {
  return navigator.languages?.[0] ?? navigator.language ?? "en";
}
