// Making elements. Nothing here, or anywhere in the page, parses a string as HTML:
// text from documents only ever becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`onclick: f`) and children (nodes, texts, lists, nothing). */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Escaped HTML whose only tag is `<mark>`, as text nodes and mark elements. */
export function marked(html) {
  const whole = document.createDocumentFragment();
  let inside = null;
  for (const piece of String(html ?? "").split(/(<\/?mark>)/)) {
    if (piece === "<mark>") {
      inside ??= whole.appendChild(document.createElement("mark"));
    } else if (piece === "</mark>") {
      inside = null;
    } else if (piece) {
      (inside ?? whole).append(unescaped(piece));
    }
  }
  return whole;
}

/** A text in which commands and settings stand between backticks, with those as code. */
export function spelled(text) {
  return String(text).split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));
}

/** The distinct marked words of an escaped text. */
export function markedWords(html) {
  const found = String(html ?? "").matchAll(/<mark>(.*?)<\/mark>/gs);
  return [...new Set([...found].map((one) => unescaped(one[1])))];
}

/** Replace all children. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(isThere));
}

/** Say something to people who listen instead of looking. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** An address that may be followed from here, or null: scripts and data have no business in links. */
export function safeUrl(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter(isThere));
  return element;
}

const isThere = (child) => child !== null && child !== undefined && child !== false && child !== "";

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text) {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = hex ? parseInt(hex, 16) : parseInt(decimal, 10);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
