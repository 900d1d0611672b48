"""When two URLs are one address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit, urlunsplit

from twolane.ingest.drafting import LONGEST_ID
from twolane.model.document import digest

_PORTS = {"http": 80, "https": 443, "ftp": 21}

# Who followed which advertisement says nothing about the page.
_TRACKING = ("utm_", "fbclid=", "gclid=", "mc_cid=", "mc_eid=", "igshid=", "yclid=")


def normalised(url: str) -> str:
    """The URL under which its spellings are one: case, port, last slash, trackers, place in it.

    Only for comparing: it need not lead anywhere.
    """
    try:
        split = urlsplit(url.strip())
        port = split.port
    except ValueError:
        return url.strip()
    if not split.hostname:
        return url.strip()
    host = split.hostname.rstrip(".")
    named = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS.get(split.scheme):
        named = f"{named}:{port}"
    query = "&".join(
        part for part in split.query.split("&") if part and not part.startswith(_TRACKING)
    )
    # A page of some applications is named behind the `#`; elsewhere that is a place in a page.
    fragment = split.fragment if split.fragment.startswith(("!", "/")) else ""
    path = split.path.rstrip("/")
    return urlunsplit(SplitResult(split.scheme, named, path, query, fragment))


def id_in(collection: str, name: str) -> str:
    """The id of something that is called `name` in a collection."""
    id = f"{collection}/{name}"
    plain = len(id) <= LONGEST_ID and id == id.strip() and id.isprintable()
    return id if plain else f"{collection}/{digest(name)}"


def path_of(names: Iterable[str]) -> str:
    """A path of these names, with what no part of a path may hold taken out."""
    safe = [re.sub(r"[/\\\x00-\x1f\x7f-\x9f]", "-", name).strip() for name in names]
    return "/".join(name if name.strip(".") else "-" for name in safe)
