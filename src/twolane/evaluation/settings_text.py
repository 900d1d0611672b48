"""Put one value into a settings file and leave the rest of its text as it is."""

from __future__ import annotations

import difflib
import re
import tomllib
from typing import Any

from twolane.errors import BadInput


def with_setting(text: str, name: str, value: float) -> str:
    """The TOML text with `name = value` at its top level; comments and order stay.

    Raises `BadInput` where the text is written in a way that this cannot change safely.
    """
    before = _parsed(text)
    line = rf"""(?m)^([ \t]*(?:{name}|"{name}"|'{name}')[ \t]*=[ \t]*)[^\s#]+"""
    if name in before:
        changed, count = re.subn(line, lambda found: f"{found[1]}{value:g}", text)
    else:
        changed, count = _added(text, f"{name} = {value:g}"), 1
    if count != 1 or _reading(changed) != {**before, name: float(f"{value:g}")}:
        raise BadInput(
            f"the settings file is written in a way that cannot be changed safely; "
            f"write {name} = {value:g} into it yourself"
        )
    return changed


def difference(before: str, after: str, name: str) -> str:
    """What changed, as `diff -u` shows it."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, name, lineterm="", n=2
    )
    return "\n".join(lines)


def _added(text: str, line: str) -> str:
    """The text with one more line, before the first table if there is one."""
    end = "\r\n" if "\r\n" in text else "\n"
    table = re.search(r"(?m)^[ \t]*\[", text)
    # A bracket may also begin a line inside a list; then the result is refused, not written.
    head, tail = (text[: table.start()], text[table.start() :]) if table else (text, "")
    if head and not head.endswith("\n"):
        head += end
    return f"{head}{line}{end}{tail}"


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
