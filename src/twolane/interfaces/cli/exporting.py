"""`twolane export`: documents as JSON lines, which `twolane import jsonl` reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose, require_utf8, typed
from twolane.interfaces.cli.progress import steps_bar
from twolane.interfaces.wire.documents import Exported


class Format(StrEnum):
    """What can be written."""

    JSONL = "jsonl"


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")
    ],
    form: Annotated[
        Format, typer.Option("--format", metavar="FORMAT", help="jsonl: one object a line.")
    ] = Format.JSONL,
    collection: Annotated[
        list[str] | None, typer.Option("--collection", metavar="NAME", help="This collection only.")
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write documents as `twolane import jsonl` reads them, without loss."""
    del form  # There is one.
    require_utf8(file)
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    wanted = [typed(one) for one in collection or ()]
    with open_library(settings) as library, steps_bar(quiet=quiet) as steps:
        scope = library.scope({"collection": wanted, "archived": "any"})
        steps.step(f"exporting to {file.name}")
        count = library.export(file, scope=scope, progress=steps.show)
    if str(file) == "-":
        return
    if as_json:
        output.say_json(Exported(exported=str(file), documents=count))
    elif not quiet:
        output.say(f"{output.counted(count, 'document')} written to {file}")
