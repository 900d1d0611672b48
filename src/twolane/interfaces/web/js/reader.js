// The reader: a document as it reads, opened at the passage, with its outline beside it.

import * as api from "./api.js";
import { el, markedWords, safeUrl } from "./dom.js";
import { day, t } from "./i18n.js";
import { resultOf } from "./latest.js";
import { inline, rendered } from "./markdown.js";
import { form } from "./prompts.js";
import { kindName, programLink } from "./results.js";
import { address, go } from "./state.js";

// Text is marked up to here; more marks than this are noise.
const MOST_MARKS = 200;

/** The panel of a document's text. */
export async function panel(state, signal) {
  const document_ = await opened(state.doc, signal);
  const first = document_.lines?.[0] ?? 1;
  const passage = range(state.lines);
  const { nodes, headings } = rendered(document_.text ?? "", first, passage, (target) =>
    address({ panel: "read", doc: `[[${target}]]`, lines: "" }));
  const article = el("article", { class: "prose" }, nodes);
  markFound(article, state.doc);
  return {
    title: document_.title,
    content: [facts(document_), document_.kind === "prompt" ? form(document_) : null,
      outline(headings), article],
    placed(body) {
      const target = body.querySelector(".passage");
      if (!target) return;
      // The panel scrolls, never the page behind it.
      body.scrollTop += target.getBoundingClientRect().top - body.getBoundingClientRect().top - 72;
    },
  };
}

/** The document of an id; what stands in double brackets is a wiki-link: a file or a title. */
async function opened(doc, signal) {
  const link = /^\[\[(.*)\]\]$/.exec(doc)?.[1];
  if (link === undefined) return api.open(doc, signal);
  const found = await api.open(await api.linked(link, signal) ?? link, signal);
  // From here on the document is known by its id, as if it had been found by a search.
  go({ doc: found.id }, { replace: true, quiet: true });
  return found;
}

function facts(one) {
  const link = one.url ? safeUrl(one.url) : null;
  return el("div", { class: "facts" },
    el("p", { class: "place" }, [kindName(one.kind), one.path ? `${one.collection}/${one.path}`
      : one.collection, one.updated ? day(one.updated) : null].filter(Boolean).join(" · ")),
    link ? el("p", {}, el("a", { href: link, rel: "noopener noreferrer", target: "_blank" },
      one.url)) : null,
    one.link ? el("p", {}, programLink(one)) : null,
    one.description ? el("p", { class: "description" }, inline(one.description)) : null,
    one.tags?.length ? el("p", { class: "faint" }, one.tags.map((tag) => `#${tag}`).join("  ")) : null);
}

function outline(headings) {
  if (headings.length < 2) return null;
  const top = Math.min(...headings.map((one) => one.level));
  return el("details", { class: "outline", open: innerWidth > 700 },
    el("summary", {}, t("outline")),
    el("ul", {}, headings.map((one) => el("li", { class: `depth-${one.level - top}` },
      el("button", { type: "button", class: "quiet", onclick: () => {
        one.element.scrollIntoView({ block: "start" });
        one.element.focus({ preventScroll: true });
      } }, one.text)))));
}

function range(lines) {
  const found = /^(\d+)-(\d+)$/.exec(lines ?? "");
  return found ? [Number(found[1]), Number(found[2])] : null;
}

/** Mark the words by which the search found the document, unless that is done or not known yet. */
export function markFound(article, doc) {
  const result = resultOf(doc);
  if (!article || !result || article.querySelector("mark")) return;
  markWords(article, markedWords(`${result.title_html} ${result.snippet}`));
}

/** Mark words wherever they stand in the passage. */
function markWords(article, words) {
  const wanted = words.filter((word) => word.length > 1)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${wanted.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const places = article.querySelector(".passage") ? article.querySelectorAll(".passage") : [article];
  let left = MOST_MARKS;
  for (const place of places) {
    const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const found = [...text.data.matchAll(pattern)].slice(0, left);
      left -= found.length;
      for (const one of found.reverse()) {
        const word = text.splitText(one.index);
        word.splitText(one[0].length);
        const mark = el("mark");
        word.replaceWith(mark);
        mark.append(word);
      }
    }
  }
}
