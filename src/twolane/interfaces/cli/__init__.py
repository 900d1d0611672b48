"""The command line: each command reads its options, asks the library once, and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    try:
        from twolane.interfaces.cli.app import app_for
        from twolane.interfaces.cli.guard import run_app
        from twolane.interfaces.cli.output import prepare_streams

        prepare_streams()
        # The first argument names the command, unless it is an option or a slip.
        run_app(app_for(sys.argv[1] if len(sys.argv) > 1 else None))
    except KeyboardInterrupt:
        # Only an interrupt before or after a command comes here; commands report their own.
        sys.exit(130)
