"""Readable text from Markdown, and where Markdown is code.

A handful of regular expressions, each of them linear whatever the text is, since every passage is
read this way each time it is embedded or shown.
Markup inside code is not markup, so everything that reads or removes markup asks first where the
fenced blocks and the spans between backticks are.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable


def plain(markdown: str) -> str:
    """The text without its markup.

    Links become the words that carry them, images their alternative text; the markers of
    headings, lists, quotations, tables and emphasis go, and so do HTML tags, the signs of
    footnotes and the ids of blocks.
    Code stays as it is, and so do bare URLs; lines stay lines.
    """
    text = markdown.replace(_HOLD, "")
    code: list[str] = []
    # One sign is found in a tenth of the time that several take.
    if "`" in text or ("~" in text and "~~~" in text):
        text = _set_code_aside(text, code)
    if "^" in text:
        text = _BLOCK_ID.sub("", text)
    if text[:1] in _BEGINNINGS or _UNPLAIN_LINE.search(text) or text[-1:] in _BLANKS:
        lines = [line.strip(" \t") for line in text.split("\n")]
        # Most lines carry no marker, and asking them all here is cheaper than asking each.
        text = "\n".join([_line(line) if line[:1] in _MARKERS else line for line in lines])
    text = _without_marks(text)
    if code:
        text = _HELD.sub(lambda match: code[int(match[1])], text)
    if "\n\n\n" in text:
        text = _BLANK_LINES.sub("\n\n", text)
    return text.strip()


def has_marks(text: str) -> bool:
    """Whether a text may be seen otherwise than it is written."""
    return _MARKED.search(text) is not None


def plain_line(markdown: str) -> str:
    """The text of a heading or a link in one line; numbers and dashes in front belong to it."""
    text = markdown.replace(_HOLD, "")
    code: list[str] = []
    if "`" in text:
        text = _set_spans_aside(text, code)
    text = _HELD.sub(lambda match: code[int(match[1])], _without_marks(text))
    return " ".join(text.split())


def _without_marks(text: str) -> str:
    """The text without the marks that stand inside lines; code must have been set aside."""
    if "[" in text:
        if "[^" in text:
            text = _FOOTNOTE.sub("", text)
        if "![[" in text:
            text = _PICTURE.sub(_picture_words, text)
        text = _WIKI.sub(_wiki_words, text.replace("![[", "[["))
        text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
        text = _REFERENCE.sub(r"\1", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", text)
        text = _TAG.sub("", _BREAK.sub(" ", text))
    # Emphasis is looked for twice: for the inner and for the outer of two that are nested.
    if "*" in text:
        text = _STARS.sub(r"\2", _STARS.sub(r"\2", text))
    if "_" in text:
        text = _UNDERSCORES.sub(r"\2", _UNDERSCORES.sub(r"\2", text))
    if ("~" in text and "~~" in text) or ("=" in text and "==" in text):
        text = _STRUCK.sub(r"\2", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return text


# Without one of these a text is seen as it is written; lists and quotations begin lines.
_MARKED = re.compile(r"[*_`~=\[<&\\|#^]|^[ \t]*(?:[-+>]|\d{1,3}[.)])[ \t]", re.MULTILINE)

# Code is taken out and put back by number; no readable text holds this character.
_HOLD = "\0"
_HELD = re.compile(r"\0(\d+)\0")

# The characters with which a line that carries a marker can begin.
_MARKERS = frozenset(">-*+#|=_:0123456789")
# Lines that begin so, or with a blank, or end with one have to be looked at; most prose has none.
# A search for one certain sign, the end of a line, takes a fraction of the time of cutting lines.
_BEGINNINGS = _MARKERS | frozenset(" \t")
_UNPLAIN_LINE = re.compile(r"\n(?:[ \t>\-*+#|=_:0-9]|(?<=[ \t]\n))")
_BLANKS = frozenset(" \t")
_RULE = re.compile(
    r"=++[ \t]*|(?:-[ \t]*+)++|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+"
    r"|\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+(?::?-++:?[ \t]*+)?)++"
)
_RULE_ENDS = frozenset("=-*_|:")
_LEAD = re.compile(
    r"(?:(?:>|[-*+](?=[ \t]|$)|\d{1,3}[.)](?=[ \t]|$)|#{1,6}(?=[ \t]|$))[ \t]*+)*+"
    r"(?:\[[ xX/<>!?*+-]\](?=[ \t]))?(?:\[![\w-]+\][+-]?)?[ \t]*+"
)
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_FENCE_END = re.compile(r"[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+|")
_QUOTED = re.compile(r"^[ \t]*+(?:>[ \t]?)++")
_CLOSING_HASHES = re.compile(r"(?<![ \t#])[ \t]++#++[ \t]*+$")

# A picture or a recording that is shown in its place, such as an icon; brackets around it go too.
_PICTURE = re.compile(
    r"(?P<open>\([ \t]*+)?!\[\[[^\[\]|\n]*?"
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|mp[34]|m4a|ogg|wav|webm)"
    r"(?:#[^\[\]|\n]*+)?(?:\|(?P<words>[^\[\]\n]*+))?\]\](?(open)[ \t]*+\))",
    re.IGNORECASE,
)
_SIZE = re.compile(r"[\dx \t]*+|icon", re.IGNORECASE)
_WIKI = re.compile(r"\[\[([^\[\]|\n]*+)(?:\|([^\[\]\n]*+))?\]\]")
# A destination holds no space unless it stands in angle brackets, and may hold paired parentheses.
_TARGET = (
    r"\([ \t]*+\n?[ \t]*+(?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?\s*+\)"
)
_IMAGE = re.compile(rf"!\[([^\[\]]*+)\]{_TARGET}")
_LINK = re.compile(rf"\[(?<!\\\[)((?:[^\[\]]++|\[[^\[\]]*+\])*+)\]{_TARGET}")
_REFERENCE = re.compile(r"\[(?<![\w\]\\]\[)([^\[\]\n]++)\]\[[^\[\]\n]*+\]")

# `[^1]` in a text and `[^1]:` before what it says; `[^a-z]` is no footnote but a pattern.
_FOOTNOTE = re.compile(r"\[\^\w{1,32}+\](?::[ \t]*+)?")
# Obsidian's name for a block, at the end of its last line; ` ^2` is an exponent.
_BLOCK_ID = re.compile(
    r"(?:^|(?<![ \t])[ \t]++)\^(?:[0-9-]*+[A-Za-z]|[0-9]{4})[A-Za-z0-9-]*+[ \t]*+"
    r"(?=\n[ \t]*+(?:\n|[-*+>]|[0-9]|\Z)|\Z)",
    re.MULTILINE,
)

# Only names that HTML has: `List<String>` and `<your name>` are words.
_ELEMENTS = (
    "a|abbr|article|aside|audio|b|bdi|bdo|big|body|button|caption|center|cite|code|col|colgroup"
    "|data|dd|del|details|dfn|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|head"
    "|header|html|i|iframe|img|input|ins|kbd|label|legend|link|main|map|mark|meta|nav|noscript"
    "|object|ol|option|picture|pre|q|rp|rt|ruby|s|samp|script|section|select|small|source|span"
    "|strike|strong|style|sub|summary|sup|svg|table|tbody|textarea|tfoot|thead|time|title|tt|u|ul"
    "|var|video|wbr"
)
_BREAK = re.compile(
    r"</?(?:br|div|h[1-6]|hr|li|p|blockquote|td|th|tr)(?:\s[^<>]*+)?/?>", re.IGNORECASE
)
_TAG = re.compile(rf"</?(?:{_ELEMENTS})(?:\s[^<>]*+)?/?>", re.IGNORECASE)
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*+|[^<>\s@]{1,64}@[^<>\s@]++)>")

# Emphasis inside a word counts where words are not set apart by spaces, but `2*3*4` is arithmetic.
# What may not come before the first mark is asked after it, so that the search is for a mark.
_STARS = re.compile(r"\*(?<![0-9A-Za-z\\*]\*)(\*{0,2})(?=[^\s*])([^*\n]++)(?<=\S)\*\1")
_UNDERSCORES = re.compile(r"_(?<![\w\\]_)(_{0,2})(?=[^\s_])([^_\n]++)(?<=\S)_\1(?!\w)")
_STRUCK = re.compile(r"(~~|==)(?=[^\s~=])([^~=\n]++)(?<=\S)\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_BLANK_LINES = re.compile(r"\n{3,}")


def _line(line: str) -> str:
    """A line that begins with a marker, and not with a blank, without the markers of its block."""
    # Most lines end with a letter or a full stop, and are no rules for that reason alone.
    rule = line[-1] in _RULE_ENDS
    bare = line
    if not rule or not _RULE.fullmatch(line):
        match = _LEAD.match(line)
        bare = line[match.end() :] if match else line
    if rule and _RULE.fullmatch(bare):
        return ""
    if bare.startswith("|"):
        return _CELL_EDGE.sub(" ", bare).strip()
    closed = line[0] == "#" and line[-1] == "#"
    return _CLOSING_HASHES.sub("", bare) if closed else bare


def _wiki_words(match: re.Match[str]) -> str:
    """The words of a wiki-link: its anchor, or else the note and heading that it names."""
    target, anchor = match[1].removesuffix("\\"), (match[2] or "").strip()
    if anchor and not anchor.isdigit():  # The anchor of an embedded picture may be its width.
        return anchor
    return target.partition("#^")[0].replace("#", " ").strip()


def _picture_words(match: re.Match[str]) -> str:
    """What is said of a picture, if that is more than its size; its file's name is not seen."""
    words = (match["words"] or "").strip()
    return "" if _SIZE.fullmatch(words) else words


def _set_code_aside(text: str, code: list[str]) -> str:
    """Put a numbered place in place of each piece of code, and the code into the list."""
    pieces = []
    position = 0
    for start, end in (*fences(text), (len(text), len(text))):
        pieces.append(_set_spans_aside(text[position:start], code))
        if start < end:
            block = text[start:end]
            code.append(_without_fence(block))
            pieces.append(f"{_HOLD}{len(code) - 1}{_HOLD}" + "\n" * block.endswith("\n"))
        position = end
    return "".join(pieces)


def _set_spans_aside(text: str, code: list[str]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in code_spans(text):
        code.append(_without_ticks(text[start:end]))
        pieces += (text[position:start], f"{_HOLD}{len(code) - 1}{_HOLD}")
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _without_fence(block: str) -> str:
    first, *lines = block.split("\n")
    if lines and _FENCE_END.fullmatch(lines[-1]):
        lines.pop()
    if ">" in first.partition("`")[0].partition("~")[0]:
        lines = [_QUOTED.sub("", line) for line in lines]
    return "\n".join(lines)


def _without_ticks(span: str) -> str:
    width = len(span) - len(span.lstrip("`"))
    inner = span[width:-width]
    padded = inner.startswith(" ") and inner.endswith(" ") and not inner.isspace()
    return inner[1:-1] if padded else inner


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
    match = re.compile(rf"\n(?:{closing})", re.MULTILINE).search(text, first)
    return match.end() if match else len(text)


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
    runs = [match.span() for match in _RUN.finditer(text)]
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
