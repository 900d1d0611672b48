"""What documents are called, spelled so that slips of the hand compare well.

A document's names are its title, its aliases, its path from any folder on, and its address.
In a key, letters are folded and every other sign is a space: `kitchen/sourdough.md`,
`Kitchen — Sourdough` and `kitchen_sourdough` share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from twolane.answers import Names
from twolane.substrings import spelled

# The ending of a note says nothing of its name.
_ENDING = re.compile(r"\.(?:md|markdown|txt)$", re.IGNORECASE)
_ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?|^www\.", re.IGNORECASE)


def key(text: str) -> str:
    """The spelling under which two names are the same."""
    return " ".join(loose(_ENDING.sub("", text.strip())).split())


def loose(text: str) -> str:
    """The folded text with a space for each sign that is no letter and no digit.

    Whatever stands in a text also stands, so spelled, in its loose spelling.
    """
    folded = spelled(text)
    signs = {ord(sign): " " for sign in set(folded) if not sign.isalnum()}
    return folded.translate(signs)


def lines(names: Names, tags: Iterable[str] = ()) -> str:
    """All that a document is called, and its tags, in loose spelling, each between line breaks."""
    written = (names.title, *names.aliases, names.path or "", names.url or "", *tags)
    spelling = dict.fromkeys((*map(loose, written), *keys(names)))
    return "\n" + "\n".join(filter(None, spelling)) + "\n"


def keys(names: Names) -> Iterator[str]:
    """The keys of all that a document may be called by; the title's first."""
    for name in (names.title, *names.aliases):
        yield key(name)
    folders = names.path.split("/") if names.path else []
    for at in range(len(folders)):
        yield key("/".join(folders[at:]))
    address = _ADDRESS.sub("", names.url or "").rstrip("/")
    if address:
        yield key(address)
        yield key(address.rpartition("/")[2])
