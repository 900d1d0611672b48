"""The web page is documented: every key that its help lists, every script that it loads."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, ROOT, coded, read, rows, section

WEB = ROOT / "src" / "twolane" / "interfaces" / "web"


def test_the_guide_has_the_keys_of_the_help() -> None:
    """Each key of the page stands in the guide, and no other does."""
    lists = re.findall(r"keys: \[([^\]]*)\]", read(WEB / "js" / "keys.js"))
    real = [re.findall(r'"([^"]+)"', one) for one in lists]
    guide = section(read(DOCS / "howto" / "use-the-page.md"), "## Keys")
    assert len(real) > 5
    assert [coded(cells[0]) for cells in rows(guide)] == real


def test_every_file_of_the_page_answers_a_question() -> None:
    """The code map names each script and style sheet of the page."""
    told = coded(section(read(ROOT / "ARCHITECTURE.md"), "## Code map"))
    for path in [WEB / "index.html", *WEB.glob("*.css"), *WEB.glob("js/*.js")]:
        assert path.relative_to(ROOT / "src" / "twolane").as_posix() in told, path.name
