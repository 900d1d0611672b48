"""A real browser in front of a real server; whatever the page complains about fails the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.interfaces.http.conftest import Server, serving_notes

HOSTILE_TITLE = "<script>window.hacked=1</script> & <b>bold</b>"
HOSTILE_PATH = "odd/<img src=x onerror='window.hacked=1'>.md"

NOTES = {
    "garden/tomatoes.md": """\
---
tags: [garden, summer]
---
# Pruning tomatoes

Pinch out the side shoots every week. See [[compost]] for what to do with them.

## Watering

Water the soil of tomatoes, never the leaves, twice a week and deeply.

| When | How much |
|---|---|
| June | ten litres |

## Tools

- clean scissors
- a string

```sh
echo "scissors"
```
""",
    "garden/compost.md": """\
---
tags: [garden, autumn]
---
# Compost that does not smell

Leaves and grass lie until spring. Tomatoes like it.
""",
    "garden/помидоры.md": """\
---
tags: [сад]
---
# Помидоры на грядке

Пасынки выламывают каждую неделю. Помидоры любят тепло.
""",
    "kitchen/soup.md": """\
---
tags: [kitchen]
---
# Tomato soup

Roast tomatoes, onions and garlic, then blend.

> [!tip] Keep the **skins**
> They give colour.

> [!warning]-
> Hot steam.
""",
    "links/seeds.md": """\
---
kind: bookmark
url: https://example.org/seeds
tags: [garden]
---
# Seeds of old tomatoes

A shop with tomatoes that nobody else has.
""",
    **{
        f"{folder}/mill.md": """\
# Tide mill

The wheel was mended in spring, when the water stood low and clear.
"""
        for folder in ("2019", "2020", "2021", "2022", "2023")
    },
    HOSTILE_PATH: f"""\
---
title: "{HOSTILE_TITLE}"
tags: ["<svg/onload=alert(1)>", "x'\\"onmouseover=window.hacked=1"]
url: "javascript:window.hacked=1"
---
A zebra says <script>window.hacked=1</script> and <img src=x onerror="window.hacked=1">.

[zebra link](javascript:window.hacked=1) and ![zebra](x" onerror="window.hacked=1) and
<a href="javascript:window.hacked=1">zebra</a> [[javascript:window.hacked=1]]

<mark>zebra</mark> &lt;script&gt;
""",
    **{
        f"filler/walk {number:02}.md": f"# Walk {number}\n\nA walk along river number {number}.\n"
        for number in range(30)
    },
}

PageMaker = Callable[..., Page]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over notes of all sorts."""
    # A quick machine opens more pages in a minute than any person would.
    often = {"TWOLANE_SERVER_REQUESTS_PER_MINUTE": "0"}
    with serving_notes(tmp_path_factory.mktemp("page") / "vault", NOTES, **often) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it; nothing is downloaded."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "these tests need Chromium; on Debian: apt-get install chromium"
    # Stopped with the module: a loop that goes on would be in the way of other tests' own.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser: Browser, served: Server) -> Iterator[PageMaker]:
    """Makes pages; at the end, none of them may have complained about anything."""
    complaints: list[str] = []
    contexts = []

    def make(
        address: str = "/", *, fails: bool = False, at: str = served.address, **options: Any
    ) -> Page:
        options = {"locale": "en-GB", "viewport": {"width": 1280, "height": 860}, **options}
        context = browser.new_context(base_url=at, **options)
        contexts.append(context)
        context.set_default_timeout(8000)
        page = context.new_page()
        # A refused policy and a script error are both told on the console.
        if not fails:
            page.on("console", lambda said: complaints.extend(_bad(said.type, said.text)))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.extend(_foreign(asked.url, at)))
        page.goto(address)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def page(new_page: PageMaker) -> Page:
    """The page as a person finds it who opens it first."""
    return new_page()


def search(page: Page, text: str) -> None:
    """Type a query and wait until its answer is on the screen."""
    with page.expect_response(lambda answer: "/api/v1/search?" in answer.url):
        page.fill("#q", text)
    page.wait_for_selector("#found[aria-busy=false] .summary")


def titles(page: Page) -> list[str]:
    """The titles of the results, best first."""
    return page.locator(".result .open").all_text_contents()


def changed(change: Callable[[Any], None]) -> Callable[[Route], None]:
    """A handler that lets the server answer, and then changes what it said."""

    def handle(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        change(said)
        route.fulfill(response=answer, json=said)

    return handle


def _bad(kind: str, text: str) -> list[str]:
    return [text] if kind in ("error", "warning") else []


def _foreign(url: str, address: str) -> list[str]:
    return [] if url.startswith((address, "data:")) else [f"the page asked {url}"]
