"""Every link of the documents leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import DOCS, ROOT, documents, read

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def prose(page: Path) -> str:
    """The page without its fenced code."""
    return _FENCED.sub("", read(page))


def anchors(page: Path) -> set[str]:
    """The anchors that a page offers: its headings, as the usual renderers spell them."""
    headings = _HEADING.findall(prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", documents(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_project_resolve(page: Path) -> None:
    """Each relative link names a file that is there, and a heading that it has."""
    for link in _LINK.findall(_SPAN.sub("", prose(page))):
        if "://" in link:
            continue
        target, _, anchor = unquote(link).partition("#")
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), link
        assert place.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(place), link


def test_every_page_can_be_reached() -> None:
    """The index of the documents links to each page."""
    index = DOCS / "README.md"
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall(read(index))}
    for page in DOCS.rglob("*.md"):
        assert page == index or page in linked, page.relative_to(ROOT)
