"""The page for everybody: by keyboard, on a phone, in the dark, in Russian, by ear."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.interfaces.web.conftest import PageMaker, search

WHOLE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
CONTRAST = {"runOnly": ["color-contrast"]}
FOUND = "q=tomatoes&mode=lexical"
TOMATOES = "doc=vault/garden/tomatoes.md"
STATES = {
    "start": "/",
    "results": f"/?{FOUND}&tag=garden&kind=note",
    "reader": f"/?{FOUND}&panel=read&{TOMATOES}&lines=5-7",
    "explanation": f"/?{FOUND}&panel=explain&{TOMATOES}",
    "similar": f"/?{FOUND}&panel=similar&{TOMATOES}",
    "why": f"/?{FOUND}&kind=bookmark&panel=why&{TOMATOES}",
    "picker": f"/?{FOUND}&panel=why",
    "coverage": "/coverage",
    "judging": "/judge?q=tomatoes",
}


def settled(page: Page) -> None:
    """Wait until nothing is on its way any more."""
    page.wait_for_selector("#main *")
    # What stands there until the program runs.
    expect(page.locator("#main .early")).to_have_count(0)
    expect(page.locator("[aria-busy=true], .waiting")).to_have_count(0)


def violations(page: Page, options: dict[str, list[str]]) -> list[str]:
    """What axe finds wrong with the page as it is."""
    settled(page)
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_axe_finds_no_violation(new_page: PageMaker, state: str) -> None:
    """Every state of the page passes the accessibility checks; in the dark, contrast is enough."""
    page = new_page(STATES[state])
    assert not violations(page, WHOLE)
    page.get_by_role("button", name="Dark theme").click(force=True)
    assert not violations(page, CONTRAST)


@pytest.mark.slow
def test_axe_on_menus_and_help(new_page: PageMaker) -> None:
    """What opens above the page passes them, too."""
    page = new_page(STATES["results"])
    page.locator("[data-pick=tag] summary").click()
    assert not violations(page, WHOLE)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert not violations(page, WHOLE)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["results", "reader"])
def test_axe_on_a_phone(new_page: PageMaker, state: str) -> None:
    """The narrow layout passes them, too."""
    page = new_page(STATES[state], viewport={"width": 360, "height": 740})
    assert not violations(page, WHOLE)


def test_keyboard_only(page: Page) -> None:
    """A search, the way through results, reading, explaining, comparing and back need no mouse."""
    keyboard = page.keyboard
    expect(page.locator("#q")).to_be_focused()
    keyboard.type("tomatoes")
    expect(page.locator("#found[aria-busy=false] .result").nth(2)).to_be_visible()
    keyboard.press("ArrowDown")
    expect(page.locator(".result .open").nth(0)).to_be_focused()
    keyboard.press("j")
    keyboard.press("ArrowDown")
    expect(page.locator(".result .open").nth(2)).to_be_focused()
    keyboard.press("k")
    second = page.locator(".result .open").nth(1)
    expect(second).to_be_focused()
    keyboard.press("Enter")
    expect(page.locator("#drawer-title")).to_be_focused()
    expect(page.locator("#drawer-title")).to_have_text(second.text_content() or "")
    keyboard.press("e")
    expect(page.locator("#drawer .panel.explain .drawing").first).to_be_visible()
    keyboard.press("s")
    expect(page.locator("#drawer .panel.similar")).to_be_visible()
    keyboard.press("w")
    expect(page.locator("#drawer .standing")).to_be_visible()
    keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(second).to_be_focused()
    keyboard.press("m")
    expect(page.locator("#mode-lexical")).to_be_checked()
    keyboard.press("f")
    expect(page.locator("[data-pick=kind]")).to_have_attribute("open", "")
    keyboard.press("Escape")
    expect(page.locator("[data-pick=kind] summary")).to_be_focused()
    keyboard.press("?")
    expect(page.locator("#help kbd", has_text="Esc")).to_be_visible()
    keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    keyboard.press("Escape")
    expect(page.locator("#q")).to_have_value("")


def test_keys_on_a_russian_keyboard(page: Page) -> None:
    """Letters work by their place where the keyboard writes Cyrillic ones."""
    search(page, "tomatoes")
    page.press("#q", "ArrowDown")
    for key, code in (("о", "KeyJ"), ("л", "KeyK")):
        page.evaluate(
            """([key, code]) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }))""",
            [key, code],
        )
        expected = 1 if key == "о" else 0
        expect(page.locator(".result .open").nth(expected)).to_be_focused()


def test_letters_belong_to_the_box(page: Page) -> None:
    """While one types, shortcuts are letters."""
    page.locator("#q").press_sequentially("jesk/?")
    expect(page.locator("#q")).to_have_value("jesk/?")
    expect(page.locator("#help")).to_be_hidden()


def test_focus_is_visible(page: Page) -> None:
    """Whatever the tab key reaches is outlined."""
    search(page, "soup")
    for _ in range(12):
        page.keyboard.press("Tab")
        outlined = page.evaluate("""() => {
            const here = document.activeElement;
            const label = here.id && document.querySelector(`label[for="${here.id}"]`);
            const outlined = (one) => one && getComputedStyle(one).outlineStyle !== "none";
            return outlined(here) || outlined(label);
        }""")
        assert outlined, page.evaluate("document.activeElement.outerHTML")


def test_phone(new_page: PageMaker) -> None:
    """On a phone nothing is cut off, and the reader takes the whole screen."""
    page = new_page("/?q=tomatoes", viewport={"width": 360, "height": 740}, has_touch=True)
    expect(page.locator(".result").first).to_be_visible()
    for address in STATES.values():
        page.goto(address)
        settled(page)
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= 360, address
    page.goto(STATES["results"])
    page.locator(".result .open").first.tap()
    box = page.locator("#drawer").bounding_box()
    assert box and (box["x"], box["width"], box["height"]) == (0, 360, 740)
    page.locator("#drawer-close").tap()
    expect(page.locator("#drawer")).to_be_hidden()


def test_dark_and_light(new_page: PageMaker) -> None:
    """The system's preference is taken, and the switch overrules it and is remembered."""
    page = new_page(color_scheme="dark")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Light theme").click()
    light = page.evaluate(ground)
    assert _brightness(dark) < 60 < 200 < _brightness(light)
    page.reload()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) == dark


def test_russian(new_page: PageMaker) -> None:
    """A Russian browser gets a Russian page, with its plurals; the switch is remembered."""
    page = new_page("/?q=помидоры&mode=lexical", locale="ru-RU")
    expect(page.locator("html")).to_have_attribute("lang", "ru")
    expect(page.locator(".result .open").first).to_have_text("Помидоры на грядке")
    expect(page.locator(".count")).to_contain_text("результат")
    expect(page.locator("#q")).to_have_attribute("placeholder", "Ищите по слову или по смыслу")
    page.locator(".result .actions a", has_text="Объяснить").first.click()
    expect(page.locator("#drawer")).to_contain_text("Почему он на этом месте")
    page.get_by_role("button", name="English").click()
    expect(page.locator("#drawer")).to_contain_text("Why it ranks here")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_motion_is_reduced(new_page: PageMaker) -> None:
    """Whoever asks for less motion sees none."""
    page = new_page("/coverage", reduced_motion="reduce")
    duration = "getComputedStyle(document.querySelector('.progress .fill')).transitionDuration"
    page.wait_for_selector(".progress .fill")
    assert page.evaluate(duration) == "0s"


def _brightness(colour: str) -> float:
    numbers = [float(one) for one in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3]]
    return sum(numbers) / 3
