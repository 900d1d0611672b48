"""Judging in the page: a search becomes a golden query, and golden queries become figures."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.interfaces.http.conftest import Server, serving_notes
from tests.interfaces.web.conftest import NOTES, PageMaker


@pytest.fixture
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own, whose golden set may be written to."""
    with serving_notes(tmp_path_factory.mktemp("judged") / "vault", NOTES) as running:
        yield running


def ask(page: Page, text: str) -> None:
    """Ask another query and wait until its results can be judged."""
    page.fill("#q", text)
    page.press("#q", "Enter")
    expect(page.locator(".sheet h2")).to_contain_text(text)


def grade(page: Page, title: str, choice: str) -> None:
    """Mark one result."""
    page.locator(".judged", has_text=title).get_by_role("radio", name=choice).check()


def test_searches_become_golden_queries(new_page: PageMaker, judged: Server) -> None:
    """Judgments are kept as a golden set that the command line reads, and come back as figures."""
    page = new_page("/judge?q=soup", at=judged.address)
    save = page.get_by_role("button", name="Save judgment")
    expect(save).to_be_disabled()
    expect(page.locator(".board")).to_contain_text("No query has been judged yet")
    grade(page, "Tomato soup", "Relevant")
    expect(page.locator(".live")).to_have_text("This ranking scores nDCG 1.000")
    save.click()
    expect(page.locator(".saved")).to_have_text("Saved.")
    expect(page.locator(".golden li")).to_have_count(1)
    expect(page.locator(".golden")).to_contain_text("1.00")

    ask(page, "pruning tomatoes")
    page.locator(".judged .open").first.focus()
    page.keyboard.press("2")
    page.get_by_label("Is a good document missing?").fill("compost")
    page.locator(".choices button", has_text="Compost").click()
    save.click()
    expect(page.locator(".golden li")).to_have_count(2)
    expect(page.locator(".board .bars li").first).to_contain_text("nDCG@10")
    expect(page.locator(".board circle.dot")).to_have_count(2)

    ask(page, "zebra in space")
    page.get_by_label("No document answers this").check()
    save.click()
    expect(page.locator(".golden li")).to_have_count(3)
    expect(page.locator(".golden")).to_contain_text("no answer")

    kept = json.loads(next(judged.cli.db.parent.glob("*.golden.json")).read_text("utf-8"))
    assert kept["format"] == "twolane-golden/1"
    assert [query["query"] for query in kept["queries"]] == [
        "soup",
        "pruning tomatoes",
        "zebra in space",
    ]


def test_a_judgment_can_be_changed(new_page: PageMaker, judged: Server) -> None:
    """A query that was judged opens with its judgments, and keeping it again replaces them."""
    page = new_page("/judge?q=soup", at=judged.address)
    grade(page, "Tomato soup", "Relevant")
    page.get_by_role("button", name="Save judgment").click()
    expect(page.locator(".golden li")).to_have_count(1)
    page.reload()
    soup = page.locator(".judged", has_text="Tomato soup")
    expect(soup.get_by_role("radio", name="Relevant")).to_be_checked()
    soup.get_by_role("radio", name="Partly").check()
    expect(page.locator(".live")).to_have_text("Mark at least one result as relevant.")
    others = page.locator(".judged").filter(has_not_text="Tomato soup")
    others.first.get_by_role("radio", name="Relevant").check()
    page.get_by_role("button", name="Save judgment").click()
    expect(page.locator(".saved")).to_have_text("Saved.")
    expect(page.locator(".golden li")).to_have_count(1)
    page.reload()
    expect(soup.get_by_role("radio", name="Partly")).to_be_checked()


def test_the_pool_is_of_several_modes_and_shuffled(new_page: PageMaker, judged: Server) -> None:
    """What any mode finds is judged, in an order that favours none and stays the same."""
    page = new_page("/judge?q=tomatoes in the garden", at=judged.address)
    expect(page.locator(".sheet h2")).to_contain_text("tomatoes")
    results = {
        mode: [
            result["id"]
            for result in page.request.get(
                f"{judged.address}/api/v1/search?q=tomatoes in the garden&n=10&mode={mode}"
            ).json()["results"]
        ]
        for mode in ("hybrid", "lexical", "semantic")
    }
    ids = "[...document.querySelectorAll('.judged')].map((item) => item.dataset.doc)"
    shown = page.evaluate(ids)
    assert sorted(shown) == sorted({id for found in results.values() for id in found})
    assert shown not in ([id for id in found if id in shown] for found in results.values())
    page.reload()
    expect(page.locator(".judged").first).to_be_visible()
    assert page.evaluate(ids) == shown
