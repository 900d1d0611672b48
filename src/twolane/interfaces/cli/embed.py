"""`twolane embed`: give every passage its vector."""

from __future__ import annotations

import twolane.interfaces.cli.output as output
from twolane.errors import EmbedderUnavailable
from twolane.interfaces import failures, wire
from twolane.interfaces.cli.opening import load_settings, open_library
from twolane.interfaces.cli.options import AsJson, Db, Quiet, Verbose
from twolane.interfaces.cli.progress import passages_bar


def embed(
    as_json: AsJson = False, db: Db = None, quiet: Quiet = False, verbose: Verbose = False
) -> int:
    """Give the passages that lack a vector one."""
    settings = load_settings(db, quiet=quiet, verbose=verbose).settings
    try:
        with (
            open_library(settings) as library,
            passages_bar(quiet=quiet) as show,
        ):
            filled = library.embed(progress=show)
    except KeyboardInterrupt:
        output.error("interrupted; what was embedded is kept; run the same command to go on")
        return failures.INTERRUPTED
    if as_json:
        output.say_json(wire.filled_json(filled))
    else:
        if not quiet:
            output.say(f"{output.counted(filled.embedded, 'passage')} embedded")
        if filled.failed:
            output.say(
                (f"{filled.failed:,} passages could not be embedded", output.BAD),
                ": twolane status --files",
            )
    if filled.stopped is not None:
        raise EmbedderUnavailable(filled.stopped)
    return failures.OK
