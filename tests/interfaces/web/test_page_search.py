"""Searching in the page: as one types, with filters, and never with an old answer on the screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.interfaces.conftest import _at, write
from tests.interfaces.http.conftest import Server, serving
from tests.interfaces.web.conftest import NOTES, PageMaker, changed, search, titles


def test_results_appear_while_typing(page: Page) -> None:
    """A query shows marked titles, passages, places and what each lane voted, without Enter."""
    expect(page.locator("#about")).to_contain_text("documents can be searched")
    page.locator("#q").press_sequentially("pruning tomatoes", delay=10)
    expect(page.locator(".result .open").first).to_have_text("Pruning tomatoes")
    first = page.locator(".result").first
    expect(first.locator("h3 mark")).to_have_text(["Pruning", "tomatoes"])
    expect(first.locator(".place")).to_contain_text("vault/garden/tomatoes.md")
    expect(first.locator(".tag")).to_have_text(["garden", "summer"])
    expect(first.locator(".vote").first).to_have_text("words 1")
    expect(page.locator("#live")).to_contain_text("results")
    assert "q=pruning+tomatoes" in page.url


def test_the_start_lists_what_was_changed_last(page: Page) -> None:
    """Before anything is typed, the latest documents are a click away."""
    expect(page.locator(".recent li")).to_have_count(5)
    title = page.locator(".recent a").first.text_content() or ""
    page.locator(".recent a").first.click()
    expect(page.locator("#drawer-title")).to_have_text(title)
    expect(page.locator(".prose")).to_be_visible()


def test_examples_are_of_this_library(page: Page) -> None:
    """What can be tried at the start is made of its titles and tags, and finds something."""
    chips = page.locator(".examples .chip")
    expect(chips.first).to_be_visible()
    shown = chips.all_text_contents()
    assert shown[:2] == ["walk", "tag:garden"]
    for text in shown:
        page.locator(".examples .chip", has_text=text).first.click()
        expect(page.locator("#found[aria-busy=false] .result").first).to_be_visible()
        expect(page.locator("#nearest")).to_have_count(0)
        page.locator(".brand").click()
        expect(chips.first).to_be_visible()


def test_words_answer_at_once_and_meaning_on_a_pause(page: Page) -> None:
    """The first key is asked by words, as a beginning; when typing stops, by all lanes, once."""
    expect(page.locator(".recent")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/api/v1/search" in one.url else None)
    # Keys in the page itself: how soon they follow is then no matter of this test's process.
    page.evaluate("""() => {
        const box = document.getElementById("q");
        for (const end of [1, 2, 3, 4, 5, 6, 7]) {
          box.value = "tomatoes".slice(0, end);
          box.dispatchEvent(new Event("input", { bubbles: true }));
        }
    }""")
    expect(page.locator("#found[aria-busy=false] .result .open").first).to_be_visible()
    by_words, by_all = asked
    assert "mode=lexical" in by_words and "typing=true" in by_words
    assert "mode=hybrid" in by_all and "q=tomatoe&" in by_all
    page.locator("#q").press_sequentially("s", delay=0)
    expect(page.locator("#found[aria-busy=false] .result .open").first).to_be_visible()
    page.reload()
    expect(page.locator("#found[aria-busy=false] .result .open").first).to_be_visible()
    assert "q=tomatoes&" in asked[-1] and "typing" not in asked[-1]


def test_typing_slowly_asks_again_and_again(page: Page) -> None:
    """Nobody waits for the end of a word: each key that comes after a while is asked by itself."""
    with page.expect_request(lambda one: "q=co&" in one.url and "mode=lexical" in one.url):
        page.locator("#q").press_sequentially("co", delay=120)
    with page.expect_request(lambda one: "q=comp&" in one.url and "mode=lexical" in one.url):
        page.locator("#q").press_sequentially("mp", delay=120)
    expect(page.locator(".result .open").first).to_have_text("Compost that does not smell")


def test_the_first_result_stays_while_a_word_is_typed(page: Page) -> None:
    """From the second letter of a word on, the document that is meant stays where it is."""
    search(page, "tomato")
    page.evaluate("""() => {
        window.firsts = [];
        new MutationObserver(() => {
          const first = document.querySelector(".result .open")?.textContent;
          if (first && first !== window.firsts.at(-1)) window.firsts.push(first);
        }).observe(document.getElementById("found"), { childList: true });
    }""")
    page.locator("#q").press_sequentially(" so", delay=20)
    page.wait_for_selector("#found[aria-busy=false]")
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")
    page.evaluate("window.firsts.length = 0")
    page.locator("#q").press_sequentially("up", delay=300)
    page.wait_for_selector("#found[aria-busy=false]")
    assert page.evaluate("window.firsts") in ([], ["Tomato soup"])


def test_keys_before_the_scripts_are_there_are_kept(new_page: PageMaker) -> None:
    """What is typed while the page is loading is in the box afterwards, and is searched."""
    page = new_page("about:blank")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/js/search.js", hold)
    page.goto("/", wait_until="commit")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("compo")
    expect(page.locator(".bar")).to_have_count(0)
    for one in waiting:
        one.continue_()
    expect(page.locator(".bar")).to_be_visible()
    page.keyboard.type("st")
    expect(page.locator("#q")).to_have_value("compost")
    expect(page.locator(".result .open").first).to_have_text("Compost that does not smell")


@pytest.mark.parametrize(
    ("view", "name"), [("coverage", "Coverage"), ("judge", "Judge")], ids=["coverage", "judge"]
)
def test_views_have_paths(page: Page, view: str, name: str) -> None:
    """A view has an address of its own, which works after a reload, too; back leads back."""
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    expect(page.locator("h1")).to_have_text(name)
    assert page.url.endswith(f"/{view}")
    page.reload()
    expect(page.locator("h1")).to_have_text(name)
    if view == "judge":
        expect(page.locator("#q")).to_be_focused()
    page.go_back()
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator(".recent")).to_be_visible()


@pytest.mark.parametrize("width", [1024, 1280, 1366, 1440, 1920])
def test_the_reader_covers_no_result(new_page: PageMaker, width: int) -> None:
    """Beside the reader all of a result can be seen, on every usual screen."""
    page = new_page("/?q=tomatoes", viewport={"width": width, "height": 860})
    page.locator(".result .open").first.click()
    expect(page.locator(".prose")).to_be_visible()
    drawer = page.locator("#drawer").bounding_box()
    assert drawer is not None
    for part in ("#q", ".bar", ".result", ".result .snippet", ".result .foot"):
        for box in (one.bounding_box() for one in page.locator(part).all()):
            assert box is not None
            assert box["x"] >= 0 and box["x"] + box["width"] <= drawer["x"], part
            assert box["width"] > 280 or part == ".result .snippet"


def test_a_late_answer_is_not_painted(new_page: PageMaker) -> None:
    """An answer that comes after that of a newer query never replaces it, even if not cancelled."""
    page = new_page("about:blank")
    page.add_init_script("""
        AbortController.prototype.abort = () => {};
        const ask = window.fetch;
        window.fetch = async (path, options) => {
          const answer = await ask(path, options);
          if (String(path).includes("q=compost&")) {
            await new Promise((resolve) => setTimeout(resolve, 500));
            setTimeout(() => { document.documentElement.dataset.late = "yes"; }, 50);
          }
          return answer;
        };
    """)
    page.goto("/")
    with page.expect_request(lambda one: "q=compost&" in one.url):
        page.fill("#q", "compost")
    page.fill("#q", "soup")
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")
    expect(page.locator("html")).to_have_attribute("data-late", "yes")
    assert titles(page)[0] == "Tomato soup"
    assert page.input_value("#q") == "soup"


def test_an_unneeded_search_is_cancelled(page: Page) -> None:
    """A query that nobody waits for any more is taken back from the server."""
    page.route("**/api/v1/search?q=compost&**", lambda route: None)
    with page.expect_event("requestfailed", lambda one: "q=compost&" in one.url):
        with page.expect_request(lambda one: "q=compost&" in one.url):
            page.fill("#q", "compost")
        page.fill("#q", "soup")
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")


def test_back_and_forward(page: Page) -> None:
    """Each query that was looked at is a step of the history; sharing the address shares all."""
    search(page, "compost")
    page.press("#q", "Enter")
    search(page, "soup")
    page.press("#q", "Enter")
    page.locator(".result .open").first.click()
    expect(page.locator("#drawer-title")).to_have_text("Tomato soup")
    page.go_back()
    expect(page.locator("#drawer")).to_be_hidden()
    page.go_back()
    expect(page.locator("#q")).to_have_value("compost")
    expect(page.locator(".result .open").first).to_have_text("Compost that does not smell")
    page.go_forward()
    expect(page.locator("#q")).to_have_value("soup")
    page.reload()
    expect(page.locator("#q")).to_have_value("soup")
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")


def test_copies(page: Page) -> None:
    """A result names a few of its copies, and a copy names what it is a copy of."""
    search(page, '"tide mill"')
    best = page.locator(".result").first.locator(".copies")
    expect(best).to_contain_text("4 copies:")
    expect(best).to_contain_text("and 1 more")
    expect(best.locator("a")).to_have_text([f"vault/{year}/mill.md" for year in (2020, 2021, 2022)])
    copy = page.locator(".result", has=page.locator(".path", has_text="vault/2023/mill.md"))
    expect(copy.locator(".copies")).to_have_text("A copy of vault/2019/mill.md")
    best.locator("a").first.click()
    expect(page.locator("#drawer-title")).to_have_text("Tide mill")
    assert "2020" in page.url


def test_filters(page: Page) -> None:
    """Kinds, tags, collections and dates narrow the answer, with counts, chips and the address."""
    search(page, "tomatoes")
    page.locator("[data-pick=kind] summary").click()
    bookmark = page.locator("[data-pick=kind] label", has_text="Bookmark")
    expect(bookmark.locator(".number")).to_have_text("1")
    bookmark.click()
    expect(page.locator(".result")).to_have_count(1)
    assert titles(page) == ["Seeds of old tomatoes"]
    assert "kind=bookmark" in page.url
    page.keyboard.press("Escape")
    page.locator(".chips .chip", has_text="Bookmark").click()
    expect(page.locator(".result").nth(2)).to_be_visible()
    page.locator("[data-pick=tag] summary").click()
    page.locator("[data-pick=tag] label", has_text="kitchen").click()
    expect(page.locator(".result")).to_have_count(1)
    assert titles(page) == ["Tomato soup"]
    page.keyboard.press("Escape")
    page.locator("[data-pick=dates] summary").click()
    page.fill("#before", "2001-01-01")
    page.locator("#before").dispatch_event("change")
    expect(page.locator(".nothing")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear all").click()
    expect(page.locator(".result").nth(2)).to_be_visible()
    page.locator("[data-pick=collection] summary").click()
    expect(page.locator("[data-pick=collection] label")).to_contain_text("vault")


def test_modes_and_order(page: Page) -> None:
    """The mode chooses the lanes, and the results can stand in another order."""
    search(page, "tomatoes")
    page.get_by_role("radio", name="Words").check()
    expect(page.locator(".result .vote").first).to_contain_text("words")
    expect(page.locator(".vote.lane-dense")).to_have_count(0)
    assert "mode=lexical" in page.url
    page.select_option("#sort", "title")
    expect(page).to_have_url(re.compile("sort=title"))
    expect(page.locator(".result .open").first).to_have_text("Compost that does not smell")
    shown = titles(page)
    assert len(shown) > 2 and shown == sorted(shown)


def test_filters_alone(new_page: PageMaker) -> None:
    """Without a query, filters list what they leave."""
    page = new_page("/?tag=kitchen")
    expect(page.locator(".result")).to_have_count(1)
    assert titles(page) == ["Tomato soup"]


def test_more_results(page: Page) -> None:
    """The list begins short, says of how many it is the beginning, and grows when asked."""
    search(page, "walk along the river")
    expect(page.locator(".result")).to_have_count(20)
    expect(page.locator(".count")).to_have_text(re.compile("^20 of 3[0-9] results$"))
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".result").nth(29)).to_be_visible()


def test_nothing_relevant(page: Page) -> None:
    """An answer without anything relevant says so above what is nearest, with relevance drawn."""

    def unanswerable(said: dict) -> None:
        said["answerable"] = False
        for result in said["results"]:
            result["relevance"] = 0.25

    page.route("**/api/v1/search?**", changed(unanswerable))
    search(page, "tomatoes")
    expect(page.locator("#nearest")).to_contain_text("Nothing relevant was found.")
    bar = page.locator(".result .relevance").first
    expect(bar).to_have_attribute("aria-label", "Relevance 25%")
    expect(page.locator("#live")).to_contain_text("Nothing relevant")


def test_the_bar_shows_how_relevant_a_result_is(page: Page) -> None:
    """As much of the bar is filled as the result is likely to be relevant."""
    page.route(
        "**/api/v1/search?**",
        changed(lambda said: [result.update(relevance=0.5) for result in said["results"]] and None),
    )
    search(page, "tomatoes")
    bar = page.locator(".result .relevance").first.bounding_box()
    fill = page.locator(".result .relevance .fill").first.bounding_box()
    assert bar is not None and fill is not None
    assert fill["width"] == pytest.approx(bar["width"] / 2, abs=1)
    assert (fill["y"], fill["height"]) == (bar["y"], bar["height"])


def test_unlikely_results_stand_below_a_line(page: Page) -> None:
    """Where everything from some place on is unlikely, a line says so, once."""

    def fading(said: dict) -> None:
        said["answerable"] = True
        for place, one in enumerate(said["results"]):
            one["relevance"] = (0.9, 0.1, 0.6)[place] if place < 3 else 0.05

    page.route("**/api/v1/search?**", changed(fading))
    search(page, "tomatoes")
    expect(page.locator(".unlikely")).to_have_count(1)
    expect(page.locator(".result").nth(3).locator(".unlikely")).to_have_text("Less likely")


def test_a_slip_is_repaired_visibly(page: Page) -> None:
    """When a word was taken for another one, the page says for which."""
    search(page, "compst")
    expect(page.locator("#repairs")).to_contain_text("Showing results for")
    expect(page.locator("#repairs")).to_contain_text("compst")


def test_a_tag_that_no_document_has_is_told(page: Page) -> None:
    """An empty answer names the tag that is not there."""
    search(page, "compost tag:nosuchtag")
    expect(page.locator("#missing-tags")).to_contain_text("No document here has the tag")


def test_a_filter_that_cannot_be_read_is_told(page: Page) -> None:
    """What looks like a filter and was searched as words is named, with what could be written."""
    search(page, "compost after:someday")
    expect(page.locator("#misread")).to_contain_text("“after:someday” was searched as words")
    expect(page.locator("#misread")).to_contain_text("is not a date; write 2024")


def test_a_lane_that_cannot_run_is_named(
    new_page: PageMaker, tmp_path_factory: object, served: Server
) -> None:
    """Without a model, results still come, under a notice that names the lane and the reason."""
    folder = tmp_path_factory.mktemp("wordy")  # type: ignore[attr-defined]
    cli = _at(folder / "home")
    vault = write(folder / "vault", {"soup.md": NOTES["kitchen/soup.md"]})
    cli("index", vault, "--no-wait")
    with serving(cli, vault, TWOLANE_EMBEDDING_EMBEDDER="none") as running:
        page = new_page(f"{running.address}/?q=soup", at=running.address)
        expect(page.locator("[data-degraded=dense]")).to_contain_text(
            "Search by meaning is unavailable:"
        )
        assert titles(page) == ["Tomato soup"]
        page.goto(f"{running.address}/coverage")
        expect(page.locator("[data-degraded=dense]")).to_contain_text("switched off")
        expect(page.locator(".progress p")).to_have_text("0% done; 1 passage waits for its vector.")


def test_an_empty_library_says_what_to_do(new_page: PageMaker) -> None:
    """A library without documents shows the command that brings some in."""
    page = new_page("about:blank")
    page.route("**/api/v1/status**", changed(lambda said: said.update(documents=0)))
    page.goto("/")
    expect(page.locator("#about")).to_contain_text("twolane index")


def test_a_failure_is_told_and_retried(new_page: PageMaker) -> None:
    """A server that is away or busy is told in words; the search goes on when it is back."""
    page = new_page(fails=True)
    page.route("**/api/v1/search?**", lambda route: route.abort())
    page.fill("#q", "soup")
    expect(page.locator(".notice.bad")).to_contain_text("cannot be reached")
    page.unroute("**/api/v1/search?**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")
    busy = {"title": "busy", "status": 503, "detail": "too many requests wait already"}
    page.route(
        "**/api/v1/search?**mode=hybrid**",
        lambda route: route.fulfill(status=503, json=busy, headers={"Retry-After": "1"}),
        times=1,
    )
    page.fill("#q", "compost")
    expect(page.locator(".notice.bad")).to_contain_text("busy")
    expect(page.locator(".result .open").first).to_have_text("Compost that does not smell")


def test_a_token_is_asked_for(new_page: PageMaker) -> None:
    """Where a token is needed, the page asks for it, keeps it for the tab, and sends it."""
    page = new_page(fails=True)
    seen = []

    def guarded(route):  # type: ignore[no-untyped-def]
        seen.append(route.request.headers.get("authorization"))
        if seen[-1] == "Bearer secret":
            # The server itself knows no token here, and would refuse this one.
            headers = route.request.headers
            route.continue_(headers={k: v for k, v in headers.items() if k != "authorization"})
        else:
            route.fulfill(status=401, json={"title": "A token is needed", "status": 401})

    page.route("**/api/**", guarded)
    page.fill("#q", "soup")
    page.get_by_role("button", name="Enter an access token").click()
    page.get_by_label("Access token", exact=True).fill("secret")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".result .open").first).to_have_text("Tomato soup")
    assert "secret" not in page.url
