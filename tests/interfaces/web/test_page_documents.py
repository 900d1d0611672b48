"""One document in the drawer: read, explained, compared, and missed; a hostile one does nothing."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.interfaces.http.conftest import Server, serving
from tests.interfaces.web.conftest import HOSTILE_TITLE, PageMaker, search


def test_the_reader_opens_at_the_passage(page: Page) -> None:
    """A result opens as it reads, at its passage, with the words marked and an outline."""
    search(page, "water the soil deeply")
    page.locator(".result .open").first.click()
    passage = page.locator(".prose .passage").first
    expect(passage).to_be_in_viewport()
    expect(page.locator(".prose .passage mark", has_text="Water").first).to_be_visible()
    expect(page.locator(".prose td").first).to_have_text("June")
    expect(page.locator(".prose pre code")).to_have_text('echo "scissors"')
    expect(page.locator(".prose li")).to_have_text(["clean scissors", "a string"])
    page.locator(".outline button", has_text="Tools").click()
    expect(page.locator(".prose h4", has_text="Tools")).to_be_focused()
    page.locator(".prose a.wiki", has_text="compost").click()
    expect(page.locator("#drawer-title")).to_have_text("Compost that does not smell")


def test_words_are_marked_whichever_comes_first(page: Page) -> None:
    """A document opened by its address has its words marked, also when the answer comes late."""
    waiting: list[Route] = []
    search(page, "soup")
    doc = page.locator("[data-doc]", has_text="Tomato soup").first.get_attribute("data-doc")

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/v1/search?**", hold)
    page.goto(f"/?q=soup&panel=read&doc={doc}")
    expect(page.locator(".prose h1, .prose p").first).to_be_visible()
    expect(page.locator(".prose mark")).to_have_count(0)
    waiting.pop().continue_()
    expect(page.locator(".prose mark").first).to_be_visible()


def test_callouts_are_boxes(page: Page) -> None:
    """A callout shows its title, not its sign; a folded one opens and closes."""
    search(page, "tomato soup")
    page.locator(".result .open", has_text="Tomato soup").first.click()
    expect(page.locator(".prose .callout-title").first).to_have_text("Keep the skins")
    expect(page.locator(".prose .callout").first).to_contain_text("They give colour.")
    folded = page.locator(".prose details.callout")
    expect(folded.locator("summary")).to_have_text("Warning")
    expect(folded.get_by_text("Hot steam.")).not_to_be_visible()
    folded.locator("summary").click()
    expect(folded.get_by_text("Hot steam.")).to_be_visible()
    expect(page.locator(".prose")).not_to_contain_text("[!")


def test_a_prompt_is_filled_and_copied(new_page: PageMaker, served: Server) -> None:
    """Its arguments have a form, and the button copies the text with them in it."""
    named = ("--kind", "prompt", "--id", "p1", "--title", "Zorilla prompt")
    served.cli("save", "-", *named, stdin=b"Describe {{animal}} in {{words}} words.")
    try:
        page = new_page()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        search(page, "zorilla prompt")
        page.locator(".result .open", has_text="Zorilla prompt").first.click()
        page.get_by_label("animal").fill("a zorilla")
        page.get_by_role("button", name="Copy").click()
        expect(page.locator(".prompt-form .copy")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "Describe a zorilla in {{words}} words."
    finally:
        # Other tests count the documents of this server.
        served.cli("delete", "p1")
        served.cli("purge", "p1")


def test_documents_lead_to_their_program(new_page: PageMaker, served: Server) -> None:
    """With a template for links, results and the reader open the document in its own program."""
    template = "obsidian://open?file={file}"
    with serving(served.cli, served.vault, TWOLANE_RESULTS_LINK_TEMPLATE=template) as server:
        page = new_page(at=server.address)
        search(page, "compost that does not smell")
        wanted = "obsidian://open?file=garden/compost.md"
        expect(page.locator(".result a.program").first).to_have_attribute("href", wanted)
        page.locator(".result .open").first.click()
        expect(page.locator("#drawer a.program")).to_have_attribute("href", wanted)


def test_the_explanation_is_drawn(page: Page) -> None:
    """What each feature gave and each rank is a shape, and the numbers stand below."""
    search(page, "pruning tomatoes")
    page.locator(".result .actions a", has_text="Explain").first.click()
    bars = page.locator("#drawer .drawing").first
    drawn = bars.locator(".row rect")
    expect(drawn.nth(1)).to_be_visible()
    widths = [float(one.get_attribute("width") or 0) for one in drawn.all()]
    values = [float(text) for text in page.locator("#drawer td:last-child").all_text_contents()]
    assert len(widths) == len(values) >= 2
    assert [width / widths[0] for width in widths] == _about(
        [abs(value / values[0]) for value in values]
    )
    assert page.locator("#drawer .line.chosen path").count() >= 2
    expect(page.locator("#drawer .drawing svg").first).to_have_attribute("role", "img")
    expect(page.locator("#drawer")).to_contain_text("Words found: pruning, tomatoes")


def test_why_not_this_note(page: Page) -> None:
    """A missing note is chosen by its name; the page says what keeps it out, and a click helps."""
    search(page, "tomatoes kind:bookmark")
    page.get_by_role("link", name="Is a note missing? Find out why").click()
    page.get_by_label("Which document do you miss?").fill("pruning")
    page.locator(".choices button", has_text="Pruning tomatoes").click()
    expect(page.locator(".standing")).to_have_text("Not found")
    expect(page.locator(".obstacles")).to_contain_text("It is of another kind")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#q")).to_have_value("tomatoes")
    expect(page.locator(".result .open", has_text="Pruning tomatoes")).to_be_visible()


def test_why_is_told_in_the_language_of_the_page(new_page: PageMaker) -> None:
    """In Russian the server's English sentences are shown to whoever opens them, not before."""
    page = new_page(locale="ru-RU")
    page.goto("/?q=quagga okapi&mode=lexical&panel=why&doc=vault/garden/tomatoes.md")
    expect(page.locator(".obstacles")).to_contain_text("В нём нет ни одного из слов")
    expect(page.locator("#drawer [lang=en]")).to_be_hidden()
    page.locator("#drawer details.english summary").click()
    expect(page.locator("#drawer [lang=en]")).to_contain_text("it holds none of the words")


def test_a_reason_is_told_once(page: Page) -> None:
    """What keeps a note out is not said twice, and a setting's name is set as code."""
    page.goto("/?q=quagga okapi&mode=lexical&panel=why&doc=vault/garden/tomatoes.md")
    expect(page.locator(".obstacles li").first).to_have_text("It holds none of the words")
    assert "`" not in page.locator("#drawer").inner_text()


def test_a_filter_that_hides_a_note_is_taken_away(page: Page) -> None:
    """A suggestion to drop a filter of the page drops it there."""
    page.goto("/?q=tomatoes&kind=bookmark&panel=why&doc=vault/garden/tomatoes.md")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".result .open", has_text="Pruning tomatoes")).to_be_visible()
    assert "kind=" not in page.url


def test_similar_documents_have_reasons(page: Page) -> None:
    """Similar documents come with what they share, and lead on."""
    search(page, "pruning tomatoes")
    page.locator(".result .actions a", has_text="Similar").first.click()
    first = page.locator(".similar > li").first
    expect(first.locator(".reasons")).to_be_visible()
    expect(page.locator("ol.similar")).to_contain_text("One links to the other.")
    title = first.locator("h3").text_content() or ""
    first.locator("h3 a").click()
    expect(page.locator("#drawer-title")).to_have_text(title)
    expect(page.locator(".prose")).to_be_visible()


def test_a_document_that_is_gone(new_page: PageMaker) -> None:
    """An address of a document that is no more says so."""
    page = new_page("/?q=soup&panel=read&doc=vault/no.md", fails=True)
    expect(page.locator("#drawer .notice.bad")).to_contain_text("There is no such document")


def test_a_hostile_note_does_nothing(page: Page) -> None:
    """Markup in title, path, tags, address and body is shown as text in every part of the page."""
    search(page, "zebra")
    first = page.locator(".result").first
    expect(first.locator(".open")).to_have_text(HOSTILE_TITLE)
    expect(first.locator(".path")).to_contain_text("<img src=x onerror=")
    expect(first.locator(".tag").first).to_have_text("<svg/onload=alert(1)>")
    first.locator(".open").click()
    expect(page.locator(".prose")).to_contain_text("<script>window.hacked=1</script>")
    for panel in ("Explanation", "Similar", "Why"):
        page.locator(".tabs a", has_text=panel).click()
        expect(page.locator("#drawer .panel[aria-busy=false]")).to_be_visible()
    page.goto("/judge?q=zebra")
    expect(page.locator(".judged .open", has_text=HOSTILE_TITLE)).to_be_visible()
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#main script, #main img, #drawer img, #drawer script").count() == 0
    assert page.locator("a[href^='javascript' i]").count() == 0


def test_marks_are_the_only_tag(page: Page) -> None:
    """What a snippet says beside `<mark>` is text, also if a server sent more."""
    page.goto("/?q=soup")
    said = page.evaluate("""async () => {
        const { marked } = await import("./js/dom.js");
        const holder = document.createElement("p");
        holder.append(marked("a <mark>b</mark> <i>c</i> &lt;mark&gt; &amp;#60; &#x3c;&nosuch;"));
        return [holder.textContent, holder.querySelectorAll("*").length];
    }""")
    assert said == ["a b <i>c</i> <mark> &#60; <&nosuch;", 1]


def _about(value: list[float]) -> object:
    import pytest

    return pytest.approx(value, rel=0.05)
