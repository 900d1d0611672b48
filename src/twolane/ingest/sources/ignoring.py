"""Which files the user does not want: gitignore rules, from settings and from ignore files.

The rules are those of git: the last matching line of a file decides, a deeper file overrules a
higher one, a line that begins with `!` takes a file back in, and what lies in an ignored folder
stays ignored.

pathspec translates each line into a regular expression; which line decides is settled here.
Its own verdict is about a file below folders that nobody has judged yet, and calls a folder
ignored that git would enter (`*` followed by `!*/`); a walk judges every folder on its way.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from twolane.model.errors import BadSetting
from twolane.model.values import dataclass

# Later names overrule earlier ones in the same folder: ours is the more specific wish.
IGNORE_FILES = (".gitignore", ".twolaneignore")


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore rules that hold in one folder; `within` gives those of a folder below it.

    A layer is the length of the path it is relative to, and its lines, the last one first.
    """

    layers: tuple[tuple[int, tuple[_Line, ...]], ...]

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Whether the rules leave out this path, given that no folder above it is left out."""
        full = f"{path}/" if folder else path
        name = full[path.rfind("/") + 1 :]
        for depth, lines in self.layers:
            below = full[depth:]
            for line in lines:
                if line.matches(below, name):
                    return line.ignored
        return False

    def within(self, folder: str, lines: Sequence[str]) -> Rules:
        """The rules inside `folder` (empty for the root), whose ignore files hold `lines`."""
        compiled = _compile(lines, strict=False)
        if not compiled:
            return self
        depth = len(folder) + 1 if folder else 0
        settings, *files = self.layers
        return Rules((settings, (depth, compiled), *files))


def rules(exclude: Sequence[str]) -> Rules:
    """The rules of the settings alone; they overrule every ignore file."""
    return Rules(((0, _compile(exclude, strict=True)),))


class Names:
    """Which names are notes: patterns without a slash are names, those with one are paths.

    Letter case does not matter, since `README.MD` is as much a note as `readme.md`.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        lowered = [pattern.casefold() for pattern in patterns]
        names = [pattern for pattern in lowered if "/" not in pattern]
        # Nearly every setting is a list of `*.suffix`, and one call settles all of these.
        self._suffixes = tuple(name[1:] for name in names if _is_suffix(name))
        self._names = [name for name in names if not _is_suffix(name)]
        self._paths = rules([pattern for pattern in lowered if "/" in pattern])

    def match(self, path: str, name: str) -> bool:
        """Whether the file at `path`, called `name`, is wanted."""
        lowered = name.casefold()
        return (
            lowered.endswith(self._suffixes)
            or any(fnmatchcase(lowered, pattern) for pattern in self._names)
            or self._paths.ignores(path.casefold())
        )


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: whether it leaves out or takes back in, and what it is about."""

    ignored: bool
    regex: re.Pattern[str]
    by_name: bool

    def matches(self, path: str, name: str) -> bool:
        if self.by_name:
            return self.regex.search(name) is not None
        match = self.regex.match(path)
        # A match that ends early is about a folder above, which has been judged already.
        return match is not None and match.end() == len(path)


def _is_suffix(pattern: str) -> bool:
    return re.fullmatch(r"\*[^*?\[\]\\]+", pattern) is not None


def _compile(lines: Sequence[str], *, strict: bool) -> tuple[_Line, ...]:
    """The lines, last one first; one that cannot be understood is an error only if `strict`."""
    compiled = []
    for line in lines:
        try:
            compiled += _line(unicodedata.normalize("NFC", line))
        except (ValueError, re.error) as error:
            if strict:
                raise BadSetting(
                    f"{line!r} is not a pattern; write it as you would in a .gitignore file"
                ) from error
            # Git passes over such a line too, and the file is not ours to judge.
    return tuple(reversed(compiled))


def _line(text: str) -> list[_Line]:
    """One line compiled, or nothing if it is empty or a comment."""
    if text.startswith("#"):
        return []
    sign = "!" if text.startswith("!") else ""
    body = text.removeprefix("!")
    if not body.endswith("\\ "):
        body = body.rstrip()
    body = _plainly(body)
    pattern = GitIgnoreSpecPattern(sign + body)
    if pattern.regex is None or pattern.include is None:
        return []
    return [_Line(pattern.include, pattern.regex, "/" not in body.rstrip("/"))]


def _plainly(body: str) -> str:
    """The same pattern in a spelling whose translation matches what git says it matches."""
    body = re.sub(r"(?<![^/])(?:\*\*/){2,}", "**/", body)
    if body.startswith("/**/") or body == "/**":
        body = body[1:]  # Any number of folders below the root is any number of folders.
    if body.startswith("**/") and "/" not in body[3:].rstrip("/"):
        return body[3:] or body  # In any folder is what a name alone means.
    if body.endswith("/**"):
        return body + "/*"  # Everything in the folder is meant, and not the folder itself.
    if body.endswith("/**/"):
        return body + "*/"
    return body
