"""The reference of settings is what the settings say of themselves."""

from __future__ import annotations

from dataclasses import fields

from docs import generate
from tests.docs.pages import read, rows
from twolane.settings import Settings, meanings


def test_the_page_is_current() -> None:
    """The file is what docs/generate.py writes today; run that after a change of settings."""
    assert read(generate.SETTINGS_PAGE) == generate.settings_page()


def test_every_setting_has_a_row() -> None:
    """Each setting is there with its default and its meaning."""
    told = {cells[0].strip("`"): cells for cells in rows(read(generate.SETTINGS_PAGE))}
    assert {name: cells[3] for name, cells in told.items()} == meanings()
    for one in fields(Settings):
        shown = told[one.name][1]
        for part in one.default if isinstance(one.default, tuple) else (one.default,):
            expected = f"{part:g}" if isinstance(part, float) else str(part).lower()
            assert (part is None and shown == "unset") or expected in shown.lower()


def test_settings_that_read_notes_again_are_named() -> None:
    """What changes how notes are analysed is announced, and nothing else is."""
    (line,) = [
        line for line in read(generate.SETTINGS_PAGE).splitlines() if "every note again" in line
    ]
    assert "`chunk_tokens`" in line and "`languages`" in line
    assert "`limit`" not in line and "`rrf_k`" not in line
