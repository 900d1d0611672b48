"""`python -m twolane` is `twolane`."""

from __future__ import annotations

from twolane.interfaces.cli import main

if __name__ == "__main__":
    main()
