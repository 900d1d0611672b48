"""The reader's Markdown: whatever a note holds, it is rendered in a moment."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

LONG = 100_000

HOSTILE = {
    "bold": "**a " * 25_000,
    "bold with lines": "__a " * 25_000,
    "italic": "*a " * 33_000,
    "struck": "~~a " * 25_000,
    "shining": "==a " * 25_000,
    "stars": "*" * LONG,
    "backticks": "`" * LONG,
    "codes": "`a ``b " * 15_000,
    "brackets": "[" * LONG,
    "wiki-links": "[[a|" * 25_000,
    "links": "[a](x " * 20_000,
    "a link and blanks": "[a](x" + " " * LONG,
    "pictures": "![a](" * 20_000,
    "addresses": "https://" * 12_000,
    "an address and dots": "https://" + "." * LONG,
    "a heading of blanks": "# " + " " * LONG + "x",
    "a heading of signs": "# " + "# " * 50_000 + "x",
    "a fence of blanks": "```" + " " * LONG + "`",
    "a table of blanks": "a|b\n-" + " " * LONG + "-",
    "a table that is none": "a|b\n" + " " * LONG + "x",
    "delimiters": "a|b\n" + "-|" * 50_000 + "x",
    "a rule that is none": "* " * 50_000 + "x",
    "quotations": "> " * 50_000,
    "a list of blanks": "- a\n" + "\n" * LONG,
    "names of blocks": "a ^b" * 25_000,
    "a long name of a block": "a ^" + "1" * LONG + "!",
    "footnotes": "[^a" * 33_000,
    "everything": "**a _b `c ~~d ==e [f " * 5_000,
}

RENDER = """
async (text) => {
  const { rendered } = await import("/js/markdown.js");
  const began = performance.now();
  const made = rendered(text);
  const whole = document.createElement("div");
  whole.append(...made.nodes);
  return [performance.now() - began, whole.innerHTML.slice(0, 500)];
}
"""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_note_freezes_the_page(page: Page, text: str) -> None:
    """A hundred kilobytes of anything are rendered within three seconds, on a busy machine, too."""
    page.set_default_timeout(20_000)
    milliseconds, _ = page.evaluate(RENDER, text)
    assert milliseconds < 3000


def test_what_is_usual_is_rendered_as_ever(page: Page) -> None:
    """Headings, emphasis, code, links and tables are what they were."""
    text = (
        "## Tea ##\n\n**bold** and *soft*, ~~gone~~, ==bright==, `code`, ``a ` b``, [[note]]\n\n"
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n\n``` sh\necho\n```\n"
    )
    _, made = page.evaluate(RENDER, text)
    for part in (
        ">Tea</h4>",
        "<strong>bold</strong>",
        "<em>soft</em>",
        "<s>gone</s>",
        "<code>code</code>",
        "<code>a ` b</code>",
        "<table>",
        "<td>2</td>",
        "<pre",
    ):
        assert part in made, json.dumps(made)


def test_what_obsidian_hides_is_hidden(page: Page) -> None:
    """Ids of blocks, sizes of pictures and icons are not read; footnotes and tasks are signs."""
    text = (
        "Moved to Zurich[^1]. ^office\n\n- [/] half ^a1b2c3\n- [-] dropped\n\n"
        "![[bolt.svg|16]] ![[cat.png|A cat]] Tap ![[plus.svg#icon]] now, n ^2\n\n[^1]: In May.\n"
    )
    _, made = page.evaluate(RENDER, text)
    for part in (
        "Moved to Zurich<sup>1</sup>.</p>",
        ">☐</span>half</li>",
        ">☒</span>dropped</li>",
        ">▧ bolt.svg</span>",
        ">▧ A cat</span>",
        "Tap  now, n ^2</p>",
        "<sup>1</sup> In May.</p>",
    ):
        assert part in made, json.dumps(made)
