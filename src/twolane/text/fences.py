"""Where a Markdown text is code: fenced blocks and spans between backticks.

Markup inside code is not markup, so everything that reads or removes markup asks here first.
All of it is linear in the text, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# A fence may stand inside quotations and list items, so their markers may come before it.
# The information after backticks holds no backtick, otherwise the line is a span of code.
_OPENING = re.compile(
    r"(?P<lead>(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+)"
    r"(?:(?P<ticks>`{3,}+)[^`\n]*+|(?P<tildes>~{3,}+)[^\n]*+)(?:\n|$)"
)
_MARK = re.compile("```|~~~")
_RUN = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t>]*+\n")


def fences(text: str) -> list[tuple[int, int]]:
    """The fenced blocks in order: from the start of the first line to the end of the last one."""
    found = []
    position = 0
    while mark := _MARK.search(text, position):
        start = text.rfind("\n", 0, mark.start()) + 1
        end = fence_end(text, start)
        if end is not None:
            found.append((start, end))
        position = _line_end(text, mark.end()) if end is None else end
    return found


def fence_end(text: str, start: int) -> int | None:
    """Where the fenced block ends that begins with the line at `start`, if one does.

    A block that is never closed goes on to the end of the text.
    """
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    mark = opening["ticks"] or opening["tildes"]
    lead = opening["lead"]
    closing = rf"[ \t>]*+{mark[0]}{{{len(mark)},}}+[ \t]*+$"
    if ">" in lead:
        closing += r"|(?![ \t]*+>)"  # The quotation ends, and the block with it.
    elif lead.strip():
        closing += r"|(?=\S)"  # So does the list item.
    first = _line_end(text, opening.start())
    found = re.compile(rf"\n(?:{closing})", re.MULTILINE).search(text, first)
    return found.end() if found else len(text)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def code_spans(text: str) -> list[tuple[int, int]]:
    """The spans of code between equally long runs of backticks, outermost only, in order."""
    found = []
    position = 0
    for start, end in closing_ticks(text).items():
        if start >= position:
            found.append((start, end))
            position = end
    return found


def closing_ticks(text: str) -> dict[int, int]:
    """For each run of backticks that could open a span of code: where that span would end.

    A span does not reach over a blank line.
    """
    runs = [found.span() for found in _RUN.finditer(text)]
    ends: dict[int, int] = {}
    following: dict[int, tuple[int, int]] = {}
    blank = len(text)
    bound = len(text)
    for start, end in reversed(runs):
        # Walking backwards, the nearest blank line after a run is found by looking
        # at the stretch between it and the run after it, and at nothing twice.
        broken = _BLANK_LINE.search(text, end, bound)
        blank = broken.start() if broken else blank
        bound = start
        closing = following.get(end - start)
        if closing is not None and closing[0] <= blank and text[start - 1 : start] != "\\":
            ends[start] = closing[1]
        following[end - start] = (start, end)
    return dict(reversed(ends.items()))


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of the spans, so that lines and offsets stay."""
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            begin = max(start, position)
            pieces += (text[position:begin], _NOT_LINE_END.sub(" ", text[begin:end]))
            position = end
    return "".join((*pieces, text[position:]))


_NOT_LINE_END = re.compile(r"[^\n]")
