// A small Markdown renderer that makes nodes, never HTML: a hostile note stays text.
// It knows what notes are made of; what it does not know is shown as it was written.

import { el, safeUrl } from "./dom.js";

// No pattern here may look at a line more than a few times, whatever the line is:
// a note that somebody else wrote must not freeze the page.
const FENCE = /^(\s{0,3})(`{3,}|~{3,})[^`]*$/;
const HEADING = /^\s{0,3}(#{1,6})\s(.*)$/;
const RULE = /^\s{0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^\s{0,3}> ?(.*)$/;
const CALLOUT = /^\[!([\w-]+)\]([+-]?)[ \t]*(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const DELIMITERS = /^(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const TASK = /^\[([ xX/<>!?*+-])\]\s+(.*)$/;
const BOXES = { " ": "☐", x: "☑", X: "☑", "-": "☒" };
// Obsidian's name for a block, at the end of it; ` ^2` is an exponent.
const BLOCK_ID = /(?:^|\s)\^(?:[0-9-]*[A-Za-z]|[0-9]{4})[A-Za-z0-9-]*\s*$/;
const PICTURE = /\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|mp[34]|m4a|ogg|wav|webm)$/i;
const SIZE = /^(?:[\dx\s]*|icon)$/i;
const DEEPEST = 8;

/**
 * A text as nodes, with its headings.
 * `first` is the line of the file that the text begins on, `passage` the lines to point out,
 * `linked` gives the address of the document that a wiki-link names.
 */
export function rendered(text, first = 1, passage = null, linked = null) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const making = { headings: [], linked, passage };
  return { nodes: blocks(lines, first, making, 0), headings: making.headings };
}

/** The inline parts of one text: code, emphasis, links. */
export function inline(text, linked = null) {
  return pieces(text, linked, 0);
}

function blocks(lines, first, making, depth) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [node, next] = block(lines, at, first, making, depth);
    if (within(making.passage, first + at, first + next - 1)) node.classList.add("passage");
    nodes.push(node);
    at = next;
  }
  return nodes;
}

function block(lines, at, first, making, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [headingNode(heading, making), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quoted(lines, at, first, making, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, first, making, depth);
  if (line.includes("|") && DELIMITERS.test((lines[at + 1] ?? "").trim())) {
    return table(lines, at, making);
  }
  return paragraph(lines, at, making);
}

function fenced(lines, at, [, , mark]) {
  let end = at + 1;
  const closing = new RegExp(`^\\s{0,3}${mark[0]}{${mark.length},}\\s*$`);
  while (end < lines.length && !closing.test(lines[end])) end += 1;
  const code = lines.slice(at + 1, end).join("\n");
  return [el("pre", { tabindex: "0" }, el("code", {}, code)), Math.min(end + 1, lines.length)];
}

function headingNode([, marks, text], making) {
  // The page has its own first two levels; a note's begin below them.
  const level = Math.min(marks.length + 2, 6);
  const element = el(`h${level}`, { tabindex: "-1" }, inline(unmarked(text), making.linked));
  making.headings.push({ level: marks.length, text: element.textContent, element });
  return element;
}

/** The text of a heading without the signs that may close it. */
function unmarked(text) {
  let end = text.trimEnd().length;
  while (end > 0 && text[end - 1] === "#") end -= 1;
  return text.slice(0, end).trim();
}

function quoted(lines, at, first, making, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => QUOTE.exec(line)[1]);
  const marked = CALLOUT.exec(inner[0]);
  if (marked) return [callout(marked, inner.slice(1), first + at + 1, making, depth), end];
  return [el("blockquote", {}, blocks(inner, first + at, making, depth + 1)), end];
}

// Obsidian's boxes: `> [!tip] Title`; with a sign behind the brackets they open and close.
function callout([, kind, fold, title], rest, first, making, depth) {
  const name = kind.toLowerCase();
  const words = title ? inline(title, making.linked) : name[0].toUpperCase() + name.slice(1);
  const inner = blocks(rest, first, making, depth + 1);
  const box = { class: "callout", "data-kind": name };
  if (!fold) return el("div", box, el("p", { class: "callout-title" }, words), inner);
  return el("details", { ...box, open: fold === "+" ? "" : null },
    el("summary", { class: "callout-title" }, words), inner);
}

function list(lines, at, first, making, depth) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(marker);
  const element = el(ordered ? "ol" : "ul", {
    start: ordered && parseInt(marker, 10) !== 1 ? parseInt(marker, 10) : null,
  });
  let here = at;
  while (here < lines.length) {
    const item = ITEM.exec(lines[here]);
    if (!item || item[1].length !== indent.length || /\d/.test(item[2]) !== ordered) break;
    let end = here + 1;
    const belongs = (line) => line.search(/\S/) > indent.length;
    while (end < lines.length && (belongs(lines[end])
      || (!lines[end].trim() && end + 1 < lines.length && belongs(lines[end + 1])))) end += 1;
    element.append(listItem(item, lines.slice(here + 1, end), first + here, making, depth));
    while (end < lines.length && !lines[end].trim() && ITEM.exec(lines[end + 1] ?? "")?.[1].length
      === indent.length) end += 1;
    here = end;
  }
  return [element, here];
}

function listItem([, indent, marker, text], rest, line, making, depth) {
  const task = TASK.exec(text);
  const box = task && (BOXES[task[1]] ?? "☐");
  const width = indent.length + marker.length + 1;
  const inner = rest.map((one) => one.slice(Math.min(width, Math.max(one.search(/\S/), 0))));
  const item = el("li", { class: task ? "task" : null },
    task ? el("span", { class: "box", role: "img", "aria-label": box }, box) : null,
    inline((task ? task[2] : text).replace(BLOCK_ID, ""), making.linked));
  if (inner.some((one) => one.trim())) item.append(...blocks(inner, line + 1, making, depth + 1));
  return item;
}

function table(lines, at, making) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim().replace(/\\\|/g, "|"), making.linked));
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const head = el("tr", {}, cells(lines[at]).map((cell) => el("th", { scope: "col" }, cell)));
  const rows = lines.slice(at + 2, end).map((line) =>
    el("tr", {}, cells(line).map((cell) => el("td", {}, cell))));
  return [el("div", { class: "wide", tabindex: "0" },
    el("table", {}, el("thead", {}, head), el("tbody", {}, rows))), end];
}

function paragraph(lines, at, making) {
  let end = at + 1;
  const interrupts = (line) => !line.trim() || HEADING.test(line) || FENCE.test(line)
    || QUOTE.test(line) || ITEM.test(line) || RULE.test(line);
  while (end < lines.length && !interrupts(lines[end])) end += 1;
  const text = lines.slice(at, end).join("\n").replace(BLOCK_ID, "");
  return [el("p", {}, inline(text, making.linked)), end];
}

// Each way to write something inline, in the order in which they are tried at one place.
// What is opened is looked for so far and no further: each sign that opens nothing costs as much.
const INLINE = new RegExp([
  "(?<!`)(?<code>`{1,9})(?!`)(?<coded>[^`](?:.{0,999}?[^`])?)\\k<code>(?!`)",
  "(?<image>!)?\\[\\[(?<wiki>[^\\[\\]\\n|]+)(?:\\|(?<alias>[^\\[\\]\\n]+))?\\]\\]",
  "\\[\\^(?<footnote>[\\p{L}\\p{N}_]{1,32})\\]:?",
  "(?<picture>!)?\\[(?<words>[^\\[\\]\\n]*)\\]\\((?<target>[^()\\s]+(?:\\([^()\\s]*\\))?)(?:\\s+\"[^\"\\n]*\")?\\)",
  "<(?<auto>https?://[^\\s<>]+)>",
  "(?<bare>https?://[^\\s<>()]+[^\\s<>().,;:!?'\"])",
  "(?<strong>\\*\\*|__)(?=\\S)(?<bold>.{1,1000}?)(?<=\\S)\\k<strong>",
  "(?<![\\p{L}\\p{N}])(?<em>[*_])(?=\\S)(?<italic>[^*_\\n]{1,1000}?)(?<=\\S)\\k<em>(?![\\p{L}\\p{N}])",
  "~~(?=\\S)(?<struck>.{1,1000}?)~~",
  "==(?=\\S)(?<shining>.{1,1000}?)==",
].join("|"), "su");

function pieces(text, linked, depth) {
  const nodes = [];
  let rest = text;
  while (rest) {
    const found = depth < DEEPEST ? INLINE.exec(rest) : null;
    if (!found) break;
    if (found.index) nodes.push(rest.slice(0, found.index));
    nodes.push(piece(found, linked, depth + 1));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest) nodes.push(rest);
  return nodes;
}

function piece(found, linked, depth) {
  const is = found.groups;
  if (is.code) return el("code", {}, is.coded.trim());
  if (is.wiki) {
    const [file, part] = is.wiki.split("#");
    const target = file.trim();
    if (is.image && PICTURE.test(target)) return picture(target, part ?? "", is.alias ?? "");
    const words = is.alias ?? is.wiki;
    if (is.image || !linked || !target) return el("span", { class: "wiki" }, words);
    return el("a", { class: "wiki", href: linked(target) }, words);
  }
  if (is.footnote) return el("sup", {}, is.footnote);
  if (is.target) return link(is, depth, linked);
  if (is.auto ?? is.bare) return outward(is.auto ?? is.bare, is.auto ?? is.bare);
  if (is.bold) return el("strong", {}, pieces(is.bold, linked, depth));
  if (is.italic) return el("em", {}, pieces(is.italic, linked, depth));
  if (is.struck) return el("s", {}, pieces(is.struck, linked, depth));
  return el("span", { class: "shining" }, pieces(is.shining, linked, depth));
}

/** What is said of a picture that is not shown here, or its name; nothing in place of an icon. */
function picture(file, part, words) {
  if ([part, words].some((one) => one.trim().toLowerCase() === "icon")) return "";
  return el("span", { class: "wiki" }, `▧ ${SIZE.test(words.trim()) ? file : words}`);
}

function link(is, depth, linked) {
  const words = is.words || is.target;
  if (is.picture) return outward(is.target, `▧ ${words}`);
  return outward(is.target, is.words ? pieces(is.words, null, depth) : words, linked);
}

function outward(target, words, linked = null) {
  const href = safeUrl(target);
  if (href) return el("a", { href, rel: "noopener noreferrer", target: "_blank" }, words);
  if (linked && /\.(?:md|markdown)(?:#.*)?$/i.test(target) && !/^[a-z][\w+.-]*:/i.test(target)) {
    return el("a", { class: "wiki", href: linked(decoded(target.split("#")[0])) }, words);
  }
  return el("span", { class: "wiki" }, words);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function within(passage, first, last) {
  return passage !== null && first <= passage[1] && last >= passage[0];
}
