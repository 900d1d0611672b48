"""Whether one document links to another, judged by the names that a link may use.

A link in a note names another note by its path, its file name, its title or an alias;
no index of links is needed to tell whether two given documents are linked.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from urllib.parse import unquote

from twolane.model.document import Document, Link
from twolane.text.tokens import fold

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
