"""What the body of a note is made of: headings, links and tags.

markdown-it finds the blocks: which lines are headings and which are code.
Its inline rules are left out; they cost more than all the rest, and 10 µs for each `[` of a
hostile file, while links and tags need only a linear look at what is not code.
It is not asked at all where nothing can be meant but paragraphs, lists, quotations and headings
that begin a line, as in most notes: these headings are found without it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from twolane.model.document import Heading, Link
from twolane.model.values import dataclass
from twolane.text.plaintext import blank, code_spans, plain_line


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings, links and inline tags of a body, each in order of appearance."""

    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[str, ...]


def outline(body: str, *, first_line: int) -> Outline:
    """Read the structure of a body whose first line is line `first_line` of the file.

    Headings count only at the top level: one inside a quotation or a list starts no section.
    Pictures are no links, but embedded notes are.
    """
    known: dict[str, Any] = {}
    if _needs_parser(body):
        tokens = _blocks().parse(body, known)
        starts = [0, *(found.end() for found in _LINE_END.finditer(body))]
        headings = tuple(_headings(tokens, starts, first_line))
        text = blank(body, _code_lines(tokens, starts, len(body)))
    else:
        headings, text = tuple(_plain_headings(body, first_line)), body
    if "`" in text:
        text = blank(text, code_spans(text))
    found = list(_links(body, text, known.get("references", {})))
    links = dict.fromkeys(link for link, _ in found if link is not None)
    tags = tuple(_tags(text, [span for _, span in found])) if "#" in text else ()
    return Outline(headings, tuple(links), tags)


@cache
def _blocks() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("inline")


_LINE_END = re.compile(r"\n")
_RAW_HTML = re.compile(r"\s*<(?:pre|script|style|textarea)\b", re.IGNORECASE)


# Code, HTML and references begin with these; without a tab or four spaces no code is indented.
_BLOCKS = ("```", "~~~", "    ", "\t", "<", "]:", "\0")

# An indented heading may belong to a list; dashes may underline a heading or make a table.
_UNCLEAR = re.compile(r"^(?: +#| *[-:|=][-:|= ]*$)", re.MULTILINE)
_PLAIN_HEADING = re.compile(r"^(#{1,6})(?![^ \n])(.*)", re.MULTILINE)


def _needs_parser(body: str) -> bool:
    return any(sign in body for sign in _BLOCKS) or _UNCLEAR.search(body) is not None


def _plain_headings(body: str, first_line: int) -> Iterator[Heading]:
    line, counted = first_line, 0
    for match in _PLAIN_HEADING.finditer(body):
        content = match[2].rstrip(" ")
        bare = content.rstrip("#")
        # Signs at the end belong to the heading unless a space stands before them.
        text = plain_line((bare if bare.endswith(" ") else content).strip())
        line += body.count("\n", counted, match.start())
        counted = match.start()
        if text:
            yield Heading(len(match[1]), text, line, match.start())


def _headings(tokens: list[Token], starts: list[int], first_line: int) -> Iterator[Heading]:
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            text = plain_line(tokens[position + 1].content)
            if text:
                line = token.map[0]
                yield Heading(int(token.tag[1:]), text, first_line + line, starts[line])


def _code_lines(tokens: list[Token], starts: list[int], end: int) -> Iterator[tuple[int, int]]:
    """The stretches that hold code or styles, by offset."""
    for token in tokens:
        if token.map is not None and (
            token.type in ("fence", "code_block")
            or (token.type == "html_block" and _RAW_HTML.match(token.content))
        ):
            first, after = token.map
            yield starts[first], starts[after] if after < len(starts) else end


# A link's destination holds no space unless it stands in angle brackets.
_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    r"|!?\[\[(?P<wiki>[^\[\]\n]++)\]\]"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])(?:\(\s*+(?P<target><[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?\s*+\)"
    r"|\[(?P<label>[^\[\]\n]*+)\])?"
    r"|<(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*+)>"
)


def _links(
    body: str, text: str, references: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Link | None, tuple[int, int]]]:
    """Each link with the stretch that is not prose; pictures give a stretch and no link.

    `text` is the body without its code, which is looked at; the words come from the body.
    """
    opened: list[tuple[int, bool]] = []
    for match in _TOKEN.finditer(text):
        if match["wiki"] is not None:
            target, _, anchor = match["wiki"].partition("|")
            target = target.removesuffix("\\").strip()
            if target:
                yield Link(target, anchor.strip() or target, wiki=True), match.span()
        elif match["address"] is not None:
            yield Link(match["address"], match["address"]), match.span()
        elif match["open"] is not None:
            opened.append((match.end(), match["open"] == "!["))
        elif match["close"] is not None and opened:
            start, picture = opened.pop()
            target = _target(match, text[start : match.start()], references)
            if target is None or _is_definition(text, start, match.end()):
                continue
            span = (match.start(), match.end())
            if picture:
                yield None, span
                continue
            anchor = plain_line(body[start : match.start()])
            yield Link(target, anchor or target), span
            # Links do not nest, so whatever is still open is no link; and to read
            # the words of a thousand nested ones would take forever.
            opened.clear()


def _target(
    match: re.Match[str], words: str, references: Mapping[str, Mapping[str, Any]]
) -> str | None:
    """Where a closing bracket's link leads: by its own destination or by a reference."""
    if match["target"] is not None:
        return match["target"].removeprefix("<").removesuffix(">") or None
    if not references or len(words) > 999:
        return None
    reference = references.get(normalizeReference(match["label"] or words))
    return None if reference is None else str(reference["href"])


def _is_definition(text: str, start: int, end: int) -> bool:
    """Whether the brackets name a reference (`[name]: target`) and use none."""
    return text.startswith(":", end) and text[max(0, start - 2) : start - 1] in ("", "\n")


# A tag may hold letters of any script with their accents, digits, `_`, `-`, `/` and emoji,
# so the pattern lists what it may not hold: white space and punctuation.
_TAG = re.compile(
    r"#(?<![^\s(,;*~|«“]#)"
    r"([^\s!-,.:-@\[-^`{-~\u00a0-\u00bf\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f"
    r"\u3000-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff5b-\uff65\ufffd]++)"
)
_NO_TAG = re.compile(r"[\d_/-]*+")


def _tags(text: str, not_prose: list[tuple[int, int]]) -> Iterator[str]:
    spans = sorted(not_prose)
    starts = [start for start, _ in spans]
    for match in _TAG.finditer(text):
        tag = match[1].rstrip("/-").lstrip("/")
        if _NO_TAG.fullmatch(tag):
            continue
        before = bisect_right(starts, match.start()) - 1
        if before >= 0 and match.start() < spans[before][1]:
            continue
        if not _in_address(text, match.start()):
            yield tag


def _in_address(text: str, position: int) -> bool:
    """Whether the character is part of a bare URL; a bracket or a comma may come before it."""
    before = text[max(0, position - 300) : position]
    if not before or before[-1].isspace():
        return False
    word = before.split()[-1]
    return "://" in word or word.startswith("www.")
