// The page's own icons: lines on a grid of 24, in the colour of the text.

import { svg } from "./dom.js";

const PATHS = {
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20.5 20.5",
  note: "M6 3.5h8l4 4v13H6ZM14 3.5v4h4M9 12h6M9 16h6",
  bookmark: "M7 3.5h10v17l-5-4-5 4Z",
  prompt: "M4 5h16v11H10l-4 4v-4H4ZM8 9l2 1.7L8 12.5M12.5 12.5H16",
  close: "M6 6l12 12M18 6 6 18",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7Z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  outside: "M9 5H5v14h14v-4M13 5h6v6M19 5l-9 9",
  chevron: "M7 10l5 5 5-5",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7 7 17",
  warning: "M12 4 2.8 20h18.4ZM12 10v4.5M12 17.3v.2",
  tag: "M4 4h7.5l8.5 8.5-7.5 7.5L4 11.5ZM8.2 8.2v.1",
};

/** An icon by its name; it is decoration, so whoever listens hears nothing of it. */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] ?? PATHS.note }));
}
