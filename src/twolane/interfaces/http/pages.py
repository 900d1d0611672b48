"""The web page: files of this package, held in memory, nothing else of the disk."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it is sent; `packed` for those who take gzip, where that is smaller."""

    content: bytes
    media: str
    etag: str
    packed: bytes | None = None


def pages() -> dict[str, Page]:
    """Every file of the page by its address; `/` is `index.html`.

    An address is looked up, never joined to a folder, so none can lead out of it.
    """
    found = dict(_below(files("twolane.interfaces").joinpath("web"), ""))
    if "/index.html" in found:
        found["/"] = found["/index.html"]
    return found


def _below(folder: Traversable, address: str) -> list[tuple[str, Page]]:
    found: list[tuple[str, Page]] = []
    for one in folder.iterdir() if folder.is_dir() else ():
        here = f"{address}/{one.name}"
        suffix = f".{one.name.rpartition('.')[2]}"
        if one.is_dir():
            found += _below(one, here)
        elif suffix in _TYPES:
            content = one.read_bytes()
            name = hashlib.sha256(content).hexdigest()[:20]
            packed = gzip.compress(content, mtime=0)
            smaller = packed if len(packed) < len(content) else None
            found.append((here, Page(content, _TYPES[suffix], name, smaller)))
    return found
