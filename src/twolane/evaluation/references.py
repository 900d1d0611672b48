"""When does a reference in a golden set name the document that a search returned?

A golden set names documents by path (`ru/zakvaska.md`), by the path of their page on a site
(`/ru/zakvaska`), by absolute URL (bookmarks), or by whatever id a collection uses.
A search returns paths, URLs or ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import unquote, urlsplit, urlunsplit

MARKDOWN = (".md", ".markdown")
INDEX = "index"


def same_document(reference: str, path: str) -> bool:
    """Whether `reference`, as a golden set spells it, names the document found at `path`.

    Both are compared in Unicode form NFC, letter case included:

    - a path names itself; it may leave out `.md` or `.markdown`;
    - `/ru/zakvaska`, a page of a site, names `ru/zakvaska.md`; percent-encoding, a trailing slash
      and a `#section` do not count; a page that is a folder names its `index.md`;
    - `https://…` names a document with that URL; the case of scheme and host, a trailing slash,
      percent-encoding and a `#section` do not count.

    A reference with its suffix written out never names a file with another suffix.
    """
    return normal(reference) in names_of(path)


def normal(reference: str) -> str:
    """The reference without the differences that do not count."""
    text = unicodedata.normalize("NFC", reference)
    if "://" in text:
        return _normal_url(text)
    if text.startswith("/"):
        return _decoded(text.partition("#")[0]).strip("/")
    return text.removeprefix("./")


def names_of(path: str) -> tuple[str, ...]:
    """Every normal form of a reference that names the document at `path`, the fullest first."""
    full = normal(path)
    for suffix in MARKDOWN:
        if full.endswith(suffix) and "://" not in full:
            short = full.removesuffix(suffix)
            if short == INDEX or short.endswith(f"/{INDEX}"):
                return full, short, short.removesuffix(INDEX).rstrip("/")
            return full, short
    return (full,)


def as_references(ranking: Sequence[str], references: Iterable[str]) -> list[str]:
    """The ranking with each path replaced by the reference that names it, if any does.

    One reference stands for one document: if two paths answer to it, the one that is spelt
    like it takes it, else the better ranked.
    """
    waiting: dict[str, str] = {}
    for reference in references:
        waiting.setdefault(normal(reference), reference)
    spelt = {normal(path) for path in ranking}
    renamed = []
    for path in ranking:
        full, *shorter = names_of(path)
        names = [full, *(name for name in shorter if name not in spelt)]
        name = next((name for name in names if name in waiting), None)
        renamed.append(path if name is None else waiting.pop(name))
    return renamed


def _normal_url(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:  # Not a URL after all, such as `http://[`: it can still equal itself.
        return text
    return urlunsplit(
        (
            parts.scheme.lower(),
            parts.netloc.lower(),
            _decoded(parts.path).rstrip("/"),
            parts.query,
            "",
        )
    )


def _decoded(text: str) -> str:
    try:
        return unicodedata.normalize("NFC", unquote(text, errors="strict"))
    except UnicodeDecodeError:  # A percent sign that encodes nothing is just a percent sign.
        return text
