"""What documents are called, spelled so that slips of the hand compare well.

A document's names are its title, its aliases, its path from any folder on, and its address.
In a key, letters are folded and every other sign is a space: `kitchen/sourdough.md`,
`Kitchen — Sourdough` and `kitchen_sourdough` share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from twolane.model.candidate import Names
from twolane.text.substrings import Spellings, spelled

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
