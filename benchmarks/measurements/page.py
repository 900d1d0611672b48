"""How long after the last key the results of a search are painted in a real browser.

`twolane serve` runs in a process of its own, over notes of about 150 words that were indexed with
the default settings and the default model; headless Chromium shows its page over loopback.
A query is put into the box at once, as the last key of a quick typist would do it.
The clock runs in the page, from there to the first frame after the results are in the document;
the page waits 120 ms for further keys before it asks, and that is taken off.
The answer's own time is from the request to its last byte, as the browser saw it.
Queries are two to ten words in English and Russian by turns, each asked once in every repetition,
after a warm-up with other queries; a query counts with its median.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import corpus
import processes
from outcome import Goal, Outcome, Room, Table, median, percentile

_DEBOUNCE_MS = 120
_REPETITIONS = 3
_AT_MOST_MS = 150

# Gives milliseconds from the key to the frame, and those that the request took.
_TYPE = """async (text) => {
  const box = document.getElementById("q");
  const found = document.getElementById("found");
  const before = found.querySelector(".summary");
  const typed = performance.now();
  box.value = text;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((painted) => {
    const watching = new MutationObserver(() => {
      const now = found.querySelector(".summary");
      if (!now || now === before) return;
      watching.disconnect();
      requestAnimationFrame(() => {
        // A message is handled after the frame that is being made now.
        const line = new MessageChannel();
        line.port1.onmessage = painted;
        line.port2.postMessage(null);
      });
    });
    watching.observe(found, { childList: true });
  });
  const taken = performance.now() - typed;
  const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes("q="));
  performance.clearResourceTimings();
  return [taken, asked.at(-1).duration, found.querySelectorAll(".result").length];
}"""


def measure(room: Room) -> Outcome:
    """Serve, type, and look at the clock."""
    count = room.size(2_000, 100)
    variables = processes.environment(room.folder)
    vault = corpus.write_vault(room.folder, count)
    db = room.folder / f"page-{count}.db"
    processes.run(["-m", "twolane", "index", "--quiet", "--db", db, vault], variables)
    with _served(["--db", str(db)], variables) as address, _page(address) as page:
        for _, text in corpus.queries(10, seed=corpus.SEED + 100):
            page.evaluate(_TYPE, text)
        queries = corpus.queries(room.size(60, 8))
        raw = [
            {"repetition": turn, "kind": kind, "query": text, **_typed(page, text)}
            for turn in range(_REPETITIONS)
            for kind, text in queries
        ]
    return _outcome(count, raw)


@contextmanager
def _served(options: list[str], variables: dict[str, str]) -> Iterator[str]:
    """The address of a server, until the block ends."""
    with subprocess.Popen(
        [sys.executable, "-m", "twolane", "serve", "--port", "0", *options],
        env=variables,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            for line in process.stderr or ():
                if found := re.search(r"serving on (http://\S+)", line):
                    yield found[1]
                    return
            raise RuntimeError("the server did not start")
        finally:
            process.terminate()


@contextmanager
def _page(address: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise RuntimeError("this measurement needs Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("#q")
        yield page
        browser.close()


def _typed(page: Any, text: str) -> dict[str, Any]:
    taken, asked, results = page.evaluate(_TYPE, text)
    return {
        "painted ms": round(taken - _DEBOUNCE_MS, 3),
        "request ms": round(asked, 3),
        "results": results,
    }


def _outcome(count: int, raw: list[dict[str, Any]]) -> Outcome:
    painted, asked = _medians(raw, "painted ms"), _medians(raw, "request ms")
    drawing = [whole - part for whole, part in zip(painted, asked, strict=True)]
    shown = {
        "request": asked,
        "making and painting the results": drawing,
        "from the end of the wait to the painted results": painted,
    }
    return Outcome(
        goals=[
            Goal(
                f"Results painted after the wait for keys, {count:,} notes, p95",
                percentile(painted, 0.95),
                "ms",
                at_most=_AT_MOST_MS,
            )
        ],
        tables=[
            Table(
                f"{len(painted)} queries over {count:,} notes, ms",
                ("what", "p50", "p95", "longest"),
                [
                    (
                        what,
                        round(percentile(times, 0.5), 1),
                        round(percentile(times, 0.95), 1),
                        round(max(times), 1),
                    )
                    for what, times in shown.items()
                ],
            )
        ],
        rows=raw,
        facts={**corpus.facts(), "notes": count, "debounce ms": _DEBOUNCE_MS},
    )


def _medians(raw: list[dict[str, Any]], column: str) -> list[float]:
    by_query: dict[str, list[float]] = {}
    for row in raw:
        by_query.setdefault(row["query"], []).append(row[column])
    return [median(values) for values in by_query.values()]
