"""What documents are called, and whether one links to another by such a name.

A document's names are its title, its aliases, its path from any folder on, and its address.
In a key, letters are folded and every other sign is a space: `kitchen/sourdough.md`,
`Kitchen — Sourdough` and `kitchen_sourdough` share one.
A link in a note names another note by its path, its file name, its title or an alias; no index of
links is needed to tell whether two given documents are linked.
Path patterns are here, too: `*` within a folder, `**` across folders, a folder's name for all
below it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote

from twolane.model.candidate import Names
from twolane.model.document import Document, Link
from twolane.text.substrings import Spellings, spelled
from twolane.text.tokens import fold

# The ending of a note says nothing of its name.
_ENDINGS = frozenset(("md", "markdown", "txt"))
_ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?|^www\.", re.IGNORECASE)


def key(text: str) -> str:
    """The spelling under which two names are the same."""
    name = text.strip()
    stem, dot, ending = name.rpartition(".")
    return " ".join(loose(stem if dot and ending.lower() in _ENDINGS else name).split())


# Titles are spelled twice for each document, and tags and folders for many.
@lru_cache(maxsize=1024)
def loose(text: str) -> str:
    """The folded text with a space for each sign that is no letter and no digit.

    Whatever stands in a text also stands, so spelled, in its loose spelling.
    """
    return spelled(text).translate(_SPACES)


# A space for each sign that is no letter and no digit.
_SPACES = Spellings(lambda sign: sign if sign.isalnum() else " ")


def lines(names: Names, tags: Iterable[str] = ()) -> str:
    """All that a document is called, and its tags, in loose spelling, each between line breaks."""
    written = (names.title, *names.aliases, names.path or "", names.url or "", *tags)
    spelling = dict.fromkeys((*map(loose, written), *keys(names)))
    return "\n" + "\n".join(filter(None, spelling)) + "\n"


def keys(names: Names) -> Iterator[str]:
    """The keys of all that a document may be called by; the title's first."""
    for name in (names.title, *names.aliases):
        yield key(name)
    if names.path:
        # Each folder is spelled once, however many names it is a part of.
        *folders, file = names.path.split("/")
        words = [" ".join(loose(folder).split()) for folder in folders] + [key(file)]
        for at in range(len(words)):
            yield " ".join(filter(None, words[at:]))
    if names.url and (address := _ADDRESS.sub("", names.url).rstrip("/")):
        yield key(address)
        yield key(address.rpartition("/")[2])


# What the file of a note ends in; links leave it out.
EXTENSIONS = (".md", ".markdown")


def linked(one: Document, other: Document) -> bool:
    """Whether either document links to the other."""
    return links_to(one, other) or links_to(other, one)


def links_to(source: Document, target: Document) -> bool:
    """Whether the source links to the target; a link to itself is none."""
    if source.id == target.id or not source.links:
        return False
    names = _names(target)
    return any(_leads_to(link, source, target, names) for link in source.links)


def path_ends_in(path: str, names: Sequence[str]) -> bool:
    """Whether a path is one of the names, or ends in one after a `/`; case makes no difference."""
    folded = f"/{fold(path)}"
    return any(folded.endswith(f"/{fold(name)}") for name in names)


def _leads_to(link: Link, source: Document, target: Document, names: frozenset[str]) -> bool:
    if target.url is not None and link.target == target.url:
        return True
    if ":" in link.target.partition("/")[0] or source.collection != target.collection:
        # An address of the web, or a name that means something in another vault.
        return False
    name = _without_section(link)
    if link.wiki:
        return bool(name) and fold(name) in names
    return bool(name) and target.path is not None and _placed(name, source) in _spelled(target.path)


def _without_section(link: Link) -> str:
    """The part of a link's target that names a document, without `#heading` and `#^block`."""
    name = link.target.partition("#")[0].strip()
    return name if link.wiki else unquote(name)


def _placed(name: str, source: Document) -> str:
    """A path as Markdown means it: from the root after a `/`, else from the source's folder."""
    folder = posixpath.dirname(source.path or "")
    path = name.lstrip("/") if name.startswith("/") else posixpath.join(folder, name)
    return fold(posixpath.normpath(path))


def _names(target: Document) -> frozenset[str]:
    """All names by which a wiki-link may call the document."""
    names = {fold(target.title), *map(fold, target.aliases)}
    if target.path is not None:
        # `[[c]]`, `[[b/c]]` and `[[a/b/c.md]]` all name `a/b/c.md`.
        parts = target.path.split("/")
        for first in range(len(parts)):
            names |= _spelled("/".join(parts[first:]))
    return frozenset(names)


def _spelled(path: str) -> set[str]:
    """The path with and without the ending of a note."""
    folded = fold(path)
    bare = {folded.removesuffix(ending) for ending in EXTENSIONS if folded.endswith(ending)}
    return {folded, *bare}


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether the path fits one of the patterns; case counts, as it does in the file system."""
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


def beginning(pattern: str) -> str:
    """The letters with which every path that fits the pattern begins."""
    return re.split(r"[*?]", _trimmed(pattern), maxsplit=1)[0]


# The last character there is comes after all that begin alike.
LAST = "\U0010ffff"


def expression(pattern: str) -> str:
    """The pattern as a regular expression for a whole path, as any engine spells one."""
    pieces = re.split(r"(\*\*/?|\*|\?)", _trimmed(pattern))
    spelled = "".join(_SIGNS.get(piece, re.escape(piece)) for piece in pieces)
    return f"{spelled}(?:/.*)?"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expression(pattern), re.DOTALL)


def _trimmed(pattern: str) -> str:
    return pattern.strip().removeprefix("./").strip("/")


_SIGNS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
