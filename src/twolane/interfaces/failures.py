"""What an error means to the outside: which exit code, and which words.

The class decides, never the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from twolane.model.answer import Degradation
from twolane.model.errors import (
    BadInput,
    Conflict,
    EmbedderError,
    NoDatabase,
    NotPermitted,
    StageError,
    StoreError,
    TwolaneError,
)

OK = 0
PROBLEMS = 1
BAD_USAGE = 2
NO_DATABASE = 3
UNUSABLE_DATABASE = 4
NO_EMBEDDER = 5
CONFLICT = 6
INTERRUPTED = 130

EXIT_CODES: Mapping[type[BaseException], int] = MappingProxyType(
    {
        TwolaneError: PROBLEMS,
        BadInput: BAD_USAGE,
        NotPermitted: BAD_USAGE,
        Conflict: CONFLICT,
        NoDatabase: NO_DATABASE,
        StoreError: UNUSABLE_DATABASE,
        EmbedderError: NO_EMBEDDER,
        StageError: NO_EMBEDDER,
        # What the operating system refuses was named by the caller: a file, a folder, a stream.
        OSError: BAD_USAGE,
        KeyboardInterrupt: INTERRUPTED,
    }
)


def exit_code(error: BaseException) -> int:
    """The exit code of the nearest class that has one."""
    for kind in type(error).__mro__:
        if kind in EXIT_CODES:
            return EXIT_CODES[kind]
    raise LookupError(f"{type(error).__name__} is not a failure that we expect") from error


def message(error: BaseException) -> str:
    """What to tell the user."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}"
    return str(error)


# Two steps or more from the root, or from a drive; an address of the web does not begin so.
# A step may hold blanks; what follows the last one stays in any case.
_PLACE = re.compile(r"(?<![\w:/.@~-])(?:~|[A-Za-z]:)?(?:[/\\][^\n/\\:;,'\"`()<>]+){2,}[/\\]?")


def discreet(error: TwolaneError) -> str:
    """What to tell somebody who need not know where things lie on this machine's disk."""
    location = getattr(error, "location", "")
    text = str(error).replace(location, "the database") if location else str(error)
    return stranger_text(text)


def without_places(text: str) -> str:
    """The text with the last name of each path instead of all of it."""
    return _PLACE.sub(lambda found: re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], text)


# The second is how PostgreSQL's driver names a server.
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+]*://[^\s;,]*[^\s;,:.)]|\"[^\"\s]+\", port \d+", re.IGNORECASE
)


def for_strangers(degraded: Iterable[Degradation]) -> tuple[Degradation, ...]:
    """Why lanes could not run, without where our models and the servers that we ask are."""
    return tuple(replace(one, reason=stranger_text(one.reason)) for one in degraded)


def stranger_text(reason: str) -> str:
    """A reason without paths on our disk and without addresses of the servers that we ask."""
    return without_places(_ADDRESS.sub("the server", reason))
