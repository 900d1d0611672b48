"""Bookmark files as the browsers write them, for tests."""

from __future__ import annotations

import html
import random
from pathlib import Path

HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks Menu</H1>
<DL><p>
"""
TAIL = "</DL><p>\n"
FOLDERS = ("Рецепты", "Dev & tools", "TCP/IP", "旅行", "Long reads")
WORDS = "garden soup rust cluster Москва tokens печь ocean 🍕 café naïve index".split()


def generated(path: Path, count: int, *, seed: int = 1) -> Path:
    """A file with `count` bookmarks in nested folders, some of them more than once."""
    chance = random.Random(seed)
    lines = [HEAD]
    lines.append('    <DT><H3 ADD_DATE="1600000000" PERSONAL_TOOLBAR_FOLDER="true">Bar</H3>\n')
    lines.append("    <DL><p>\n")
    depth = 0
    for number in range(count):
        if number % 25 == 0:
            lines += ["    </DL><p>\n"] * depth
            depth = chance.randint(0, 3)
            for _ in range(depth):
                name = html.escape(chance.choice(FOLDERS))
                lines.append(f'    <DT><H3 ADD_DATE="1600000000">{name}</H3>\n    <DL><p>\n')
        # Every fiftieth is the one before again, spelled in another way.
        same = number - 1 if number % 50 == 49 else number
        host = "Example.ORG" if same != number else "example.org"
        title = html.escape(" ".join(chance.choices(WORDS, k=4)))
        lines.append(
            f'        <DT><A HREF="https://{host}/page/{same}" ADD_DATE="{1600000000 + number}"'
            f' ICON="data:image/png;base64,iVBORw0KGgo=" TAGS="t{number % 7},a b">{title}</A>\n'
        )
        if number % 3 == 0:
            lines.append(f"        <DD>{html.escape(chance.choice(WORDS))} &amp; more\n")
    lines += ["    </DL><p>\n"] * (depth + 1)
    path.write_text("".join([*lines, TAIL]), "utf-8")
    return path
