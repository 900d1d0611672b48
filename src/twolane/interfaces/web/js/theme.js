// Runs before the first paint, so that no theme ever flashes before the other.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("twolane.theme");
  } catch {
    // Storage may be forbidden; the system's preference then decides.
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = ["light", "dark"].includes(chosen) ? chosen : system;
  // Where the field stands until the scripts are there: in the middle, above results, or nowhere.
  const early = /\/(coverage|judge)$/.test(location.pathname) ? "none" : location.search && "results";
  document.documentElement.dataset.early = early || "home";
})();
