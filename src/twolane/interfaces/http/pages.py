"""The web page: files of this package, held in memory, nothing else of the disk."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from twolane.model.values import dataclass

_TYPES: Mapping[str, str] = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


# What the page shows there is said by its own scripts.
VIEWS = ("/", "/coverage", "/judge")


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it is sent; `packed` for those who take gzip, where that is smaller."""

    content: bytes
    media: str
    etag: str
    packed: bytes | None = None


def pages() -> dict[str, Page]:
    """Every file of the page by its address; `/` and the paths of views are `index.html`.

    An address is looked up, never joined to a folder, so none can lead out of it.
    """
    found = dict(_below(files("twolane.interfaces").joinpath("web"), ""))
    return {**found, **dict.fromkeys(VIEWS, found["/index.html"])}


def _below(folder: Traversable, address: str) -> Iterator[tuple[str, Page]]:
    for one in folder.iterdir():
        here = f"{address}/{one.name}"
        suffix = f".{one.name.rpartition('.')[2]}"
        if one.is_dir():
            yield from _below(one, here)
        elif suffix in _TYPES:
            content = one.read_bytes()
            name = hashlib.sha256(content).hexdigest()[:20]
            packed = gzip.compress(content, mtime=0)
            smaller = packed if len(packed) < len(content) else None
            yield here, Page(content, _TYPES[suffix], name, smaller)
