"""Where fits of relevance are found: the user's own first, then those of the package."""

from __future__ import annotations

import logging
from importlib import resources
from pathlib import Path

from twolane.model.errors import BadInput
from twolane.ranking.relevance import Fits, fits_from_text
from twolane.settings import Settings, relevance_path

PACKAGED = "relevance.json"

_log = logging.getLogger("twolane")


def known_fits(settings: Settings) -> Fits:
    """All fits that a search may use.

    A file of the user's that cannot be read is told and passed over: it must not stop a search.
    """
    packaged = fits_from_text(
        resources.files("twolane.ranking").joinpath(PACKAGED).read_text("utf-8")
    )
    file = relevance_path(settings)
    try:
        return fits_in(file).before(packaged)
    except BadInput as error:
        _log.warning("%s", error)
        return packaged


def fits_in(file: Path) -> Fits:
    """The fits of one file; none if there is no such file."""
    try:
        return fits_from_text(file.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return Fits()
    except (OSError, UnicodeDecodeError, BadInput) as error:
        raise BadInput(
            f"{file} holds no fits of relevance ({error}); "
            "remove it, then run `twolane eval calibrate --adopt`"
        ) from error
