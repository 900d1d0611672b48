"""The options that commands share, and the library that they name."""

from __future__ import annotations

import logging
import os
import re
import time
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.models import TyperPath

import twolane.interfaces.cli.output as output
from twolane.model.answer import Mode
from twolane.model.errors import BadInput, NoSuchDocument
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.settings import Loaded, Settings
from twolane.settings.machine import cores

if TYPE_CHECKING:
    from twolane.library import Library

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        # A path for the shell, which completes it; an address would lose a slash as one here.
        click_type=TyperPath(),
        help="The database: a file, or postgresql://…; otherwise TWOLANE_DB, or a file of yours.",
        show_default=False,
    ),
]
# The database of a command that asks golden sets.
GoldenDb = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        click_type=TyperPath(),
        help="Ask this database, not the vault that the golden set names.",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print what is being done.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Modes = Annotated[
    Mode, typer.Option("--mode", metavar="MODE", help="hybrid, lexical, semantic or exact.")
]
Number = Annotated[
    int | None,
    typer.Option("-n", metavar="N", min=1, help="How many results.", show_default=False),
]
AllSpaces = Annotated[
    bool, typer.Option("--all-spaces", help="Also fill the better, slower embedding space.")
]

# How a time may be written, in UTC.
TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]


def require_utf8(path: Path | str) -> None:
    """Refuse a path that no database can keep and SQLite cannot open."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "replace")
        if "\ufffd" in shown:
            raise BadInput(f"the name of {shown} is not valid UTF-8; rename it") from None
        # The name is fine, but Python was told to take names for ASCII.
        remedy = "use a UTF-8 locale, or set PYTHONUTF8=1"
        raise BadInput(f"names like {shown} cannot be read in this locale; {remedy}") from None


def typed(text: str) -> str:
    """A text from the command line as notes spell it: NFC, and without bytes that are no text."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", whole)


@dataclass(frozen=True, slots=True)
class Call:
    """How a command was called: a command that takes one has the options of every command."""

    as_json: bool = False
    db: str | None = None
    quiet: bool = False
    verbose: bool = False
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """How long the command has taken so far."""
        return time.perf_counter() - self.started

    def load(self, others: Mapping[str, object] | None = None) -> Loaded:
        """The settings of this run; `others` are those that more options give, by name."""
        return load_settings(self.db, quiet=self.quiet, verbose=self.verbose, others=others)

    def library(self, *, create: bool = False) -> Library:
        """The library that the settings name; only what writes may create it."""
        return open_library(self.load().settings, create=create)


# The call of a command that prints nothing for programs, and so has no `--json`.
PlainCall = Annotated[Call, "plain"]
# That of a command that asks the vault of a golden set, unless `--db` names a database.
GoldenCall = Annotated[Call, "golden"]
# That of a command that asks many vaults, and so has no `--db`.
SuiteCall = Annotated[Call, "suite"]


def load_settings(
    db: str | None,
    *,
    quiet: bool = False,
    verbose: bool = False,
    others: Mapping[str, object] | None = None,
) -> Loaded:
    """The settings of this run; from here on the log goes to standard error.

    `others` are settings by name that the command line gives beside the database.
    """
    level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.WARNING
    output.log_to_stderr(level)
    if db is not None:
        require_utf8(db)
    return Settings.load(arguments={**(others or {}), "db": db})


def for_mode(settings: Settings, mode: Mode) -> Settings:
    """The settings for searches of this mode: words and letters need no model."""
    by_words = mode in (Mode.LEXICAL, Mode.EXACT)
    return settings.changed(embedding={"embedder": "none"}) if by_words else settings


def open_library(settings: Settings, *, create: bool = False) -> Library:
    """The library that the settings name; only `index` may create it."""
    from twolane.library import Library

    # Our own main module may run again in other processes; that of a library's caller may not.
    settings = settings.changed(index={"cores": settings.index.cores or cores()})
    library = Library.open(settings=settings, create=create)
    if settings.embedding.gate is not None:
        from twolane.interfaces.gates import guard_by_settings

        guard_by_settings(library)
    return library


Reference = Annotated[
    str, typer.Argument(metavar="DOC", help="An id, path, URL, unique title or alias.")
]
References = Annotated[
    list[str], typer.Argument(metavar="DOC...", help="Ids, paths, URLs, unique titles or aliases.")
]

# Who names a document means it, archived or not.
NAMED = Scope(archived=True)

# After the name of a document may stand lines (`:3-7`) or a heading (`#Tools`).
_ENDS = re.compile("[:#]|$")


def reference_to(library: Library, text: str) -> str:
    """The reference as typed, or the id of the note whose file it names.

    A shell completes names of files, from wherever it is; a library knows them from its roots.
    """
    for end in reversed([found.start() for found in _ENDS.finditer(text)]):
        id = _id_of_file(library, text[:end])
        if id is not None:
            return typed(id + text[end:])
    return typed(text)


@contextmanager
def suggesting(library: Library) -> Iterator[None]:
    """Name what is spelled alike if a document that is asked for inside is not there."""
    try:
        yield
    except NoSuchDocument as error:
        near = library.near_names(error.reference, scope=NAMED)
        raise NoSuchDocument(error.reference, near) from None


def _id_of_file(library: Library, name: str) -> str | None:
    # A name without a dot or slash is rather a title than a file.
    if not ("." in name or "/" in name) or not _is_file(path := Path(name)):
        return None
    file = path.resolve()
    roots = {
        Path(collection.root): collection.name
        for collection in library.collections()
        if collection.root is not None
    }
    holding = [root for root in roots if file.is_relative_to(root)]
    if not holding:
        return None
    root = max(holding, key=lambda one: len(one.parts))
    return f"{roots[root]}/{file.relative_to(root).as_posix()}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # A title may be longer than the name of any file.
        return False
