"""How a command comes by its library: settings, logging and the database."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.options import require_utf8
from twolane.model.answer import Mode
from twolane.settings import Loaded, Settings
from twolane.settings.machine import cores

if TYPE_CHECKING:
    from twolane.library import Library


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


def settings_file(loaded: Loaded) -> Path:
    """The file that settings came from, or the one that they are looked for in."""
    return loaded.file


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
