"""What a browser has to fetch before the page can be used."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.interfaces.web.conftest import PageMaker, search

# Bytes as they come over the line, with their headers; answers of the API do not count.
START = 60_000
EVERYTHING = 80_000

WEIGHT = """() => {
    const all = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
    return all.filter((one) => !one.name.includes("/api/")).map((one) => one.transferSize);
}"""


def test_the_page_is_light(new_page: PageMaker) -> None:
    """The start, and then every part of the page together, stay within their weight."""
    page = new_page()
    expect(page.locator("#about")).to_contain_text("documents")
    start = page.evaluate(WEIGHT)
    assert sum(start) < START
    _visit_everything(page)
    everything = page.evaluate(WEIGHT)
    assert len(everything) > len(start) > 10
    assert sum(everything) < EVERYTHING


def _visit_everything(page: Page) -> None:
    search(page, "pruning tomatoes")
    for panel in ("Explain", "Similar"):
        page.locator(".result .actions a", has_text=panel).first.click()
        expect(page.locator("#drawer .panel[aria-busy=false]")).to_be_visible()
    for panel in ("Why", "Read"):
        page.locator(".tabs a", has_text=panel).click()
        expect(page.locator("#drawer .panel[aria-busy=false]")).to_be_visible()
    page.locator("#drawer-close").click()
    page.get_by_role("link", name="Coverage").click()
    expect(page.locator(".cards")).to_be_visible()
    page.get_by_role("link", name="Judge").click()
    expect(page.locator(".board h2")).to_be_visible()
