"""Take the pictures of the web page that the documents show.

    python docs/screenshots.py

`twolane serve` shows the sample vault to headless Chromium; each picture goes to `docs/images`.
"""

# ruff: noqa: INP001, S603 - this is a script, and what it runs is our own program.

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
DESK, WIDE, WALL, PHONE = (1280, 720), (1440, 560), (1920, 700), (390, 780)
# Good enough to read, and small enough to keep.
QUALITY = 52
MOST_BYTES = 60_000

# Picture → the page's address, the theme, the size, and what must be there before it is taken.
PICTURES = {
    "page-explanation": (
        "/?q=running a race&panel=explain&doc=notes/running/half marathon plan.md",
        "light",
        DESK,
        "#drawer .drawing",
    ),
    "page-reader": (
        "/?q=помидоры в теплице&panel=read&doc=notes/garden/tomatoes.md&lines=18-22",
        "dark",
        DESK,
        ".prose .passage",
    ),
    "page-wide": (
        "/?q=compost&panel=read&doc=notes/garden/compost.md",
        "light",
        WIDE,
        ".prose",
    ),
    "page-wall": (
        "/?q=compost&panel=explain&doc=notes/garden/compost.md",
        "dark",
        WALL,
        "#drawer .drawing",
    ),
    "page-phone": ("/?q=compost", "dark", PHONE, ".result"),
    "page-phone-light": ("/?q=помидоры", "light", PHONE, ".result"),
}


def main() -> int:
    """Take them all; the exit code is 1 if one is too large to keep."""
    IMAGES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    code = 0
    with _served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (path, theme, (width, height), awaited) in PICTURES.items():
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=theme, locale="en-GB")
            page.goto(address + path)
            page.wait_for_selector(".result")
            page.wait_for_selector(awaited)
            picture = _taken(page)
            (IMAGES / f"{name}.webp").write_bytes(picture)
            print(f"{name}.webp  {len(picture):,} bytes")
            code |= len(picture) > MOST_BYTES
        browser.close()
    return code


def _taken(page: Page) -> bytes:
    # Playwright itself takes no WebP, which is a third of the size.
    asked = {"format": "webp", "quality": QUALITY}
    said = page.context.new_cdp_session(page).send("Page.captureScreenshot", asked)
    return base64.b64decode(said["data"])


@contextmanager
def _served() -> Iterator[str]:
    """The address of a server over a copy of the sample vault, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="twolane-pictures-") as folder:
        home = Path(folder)
        with as_file(files("twolane").joinpath("sample_vault")) as vault:
            shutil.copytree(vault, home / "notes")
        words = [sys.executable, "-m", "twolane"]
        options = ["--db", str(home / "notes.db")]
        environment = {**os.environ, "TWOLANE_CACHE": str(home / "cache")}
        subprocess.run(
            [*words, "index", "--quiet", str(home / "notes"), *options], env=environment, check=True
        )
        with subprocess.Popen(
            [*words, "serve", "--port", "0", *options],
            env=environment,
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


if __name__ == "__main__":
    sys.exit(main())
