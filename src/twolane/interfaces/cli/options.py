"""The options that commands share, spelled once."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Annotated

import typer
from typer.models import TyperPath

from twolane.model.answer import Mode
from twolane.model.errors import BadInput

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
