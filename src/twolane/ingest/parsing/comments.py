"""Comments, which are for the author alone: `<!-- … -->` and `%% … %%`."""

from __future__ import annotations

import re

from twolane.text.fences import closing_ticks, fence_end

_INTERESTING = re.compile(r"\\[!-/:-@\[-`{-~]|`+|~~~+|<!--|%%")

_LONGEST_LEAD = 200


def drop_comments(text: str) -> str:
    """The text without its comments; their line ends stay, so that lines keep their numbers.

    What looks like a comment inside code is code.
    A comment that is never closed is text: losing the rest of a note to a typing mistake is worse.
    """
    if "<!--" not in text and "%%" not in text:
        return text
    spans = closing_ticks(text)
    kept: list[str] = []
    # A mark that is not closed once is not closed later either.
    open_marks = {"<!--", "%%"}
    done = 0
    position = 0
    while found := _INTERESTING.search(text, position):
        start, mark = found.start(), found.group()
        position = found.end()
        if mark in open_marks:
            end = _comment_end(text, start, mark)
            if end is None:
                open_marks.remove(mark)
                continue
            kept += (text[done:start], "\n" * text.count("\n", start, end))
            done = position = end
        elif mark[0] in "`~":
            position = _code_end(text, found, spans)
    kept.append(text[done:])
    return "".join(kept)


def _comment_end(text: str, start: int, mark: str) -> int | None:
    """Where the comment ends, if it ever does."""
    closing = "-->" if mark == "<!--" else mark
    # `<!-->` and `<!--->` are whole comments: the closing mark may share their dashes.
    found = text.find(closing, start + 2)
    return None if found < 0 else found + len(closing)


def _code_end(text: str, found: re.Match[str], spans: dict[int, int]) -> int:
    """Where the code ends that this mark opens, or else where the mark ends."""
    start = found.start()
    if len(found.group()) >= 3:
        # A fence is the first thing on its line; markers of lists before it are short.
        line = text.rfind("\n", max(0, start - _LONGEST_LEAD), start) + 1
        if line or start < _LONGEST_LEAD:
            end = fence_end(text, line)
            if end is not None and end > start:
                return end
    return spans.get(start, found.end())
