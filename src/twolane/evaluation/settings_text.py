"""Put one value into a settings file and leave the rest of its text as it is."""

from __future__ import annotations

import difflib
import re
import tomllib
from typing import Any

from twolane import BadInput


def with_setting(text: str, name: str, value: float) -> str:
    """The TOML text with `value` for the setting `group.name`; comments and order stay.

    Raises `BadInput` where the text is written in a way that this cannot change safely.
    """
    before = _parsed(text)
    group, _, own = name.partition(".")
    inside = before.get(group, {})
    wanted = {**before, group: {**inside, own: float(f"{value:g}")}}
    changed = _changed(text, group, own, f"{value:g}", known=own in inside)
    if _reading(changed) != wanted:
        raise BadInput(
            f"the settings file is written in a way that cannot be changed safely; "
            f"write {own} = {value:g} below [{group}] into it yourself"
        )
    return changed


def difference(before: str, after: str, name: str) -> str:
    """What changed, as `diff -u` shows it."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, name, lineterm="", n=2
    )
    return "\n".join(lines)


def _changed(text: str, group: str, own: str, value: str, *, known: bool) -> str:
    """The text with another value, or with one more line at the end of the group's table.

    A bracket may also begin a line inside a list; then the result is refused, not written.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    table = re.search(rf"(?m)^[ \t]*\[[ \t]*{group}[ \t]*\].*$", text)
    if table is None:
        separate = end if text.endswith("\n") else 2 * end
        return f"{text}{separate if text else ''}[{group}]{end}{own} = {value}{end}"
    following = re.search(r"(?m)^[ \t]*\[", text[table.end() :])
    close = table.end() + following.start() if following else len(text)
    head, lines, tail = text[: table.end()], text[table.end() : close], text[close:]
    if known:
        line = rf"""(?m)^([ \t]*(?:{own}|"{own}"|'{own}')[ \t]*=[ \t]*)[^\s#]+"""
        return head + re.sub(line, lambda found: f"{found[1]}{value}", lines) + tail
    kept = lines.rstrip()
    return f"{head}{kept}{end}{own} = {value}{lines[len(kept) :] or end}{tail}"


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"the settings file is not valid TOML ({error}); correct it") from error


def _reading(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
