"""The web page is documented: every key that its help lists."""

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
