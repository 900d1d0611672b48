"""The reference of settings is what the settings say of themselves."""

from __future__ import annotations

import re
import tomllib

from docs import generate
from tests.docs.pages import read, rows
from twolane.settings import DECLARED, Settings

PAGE = read(generate.SETTINGS_PAGE)


def test_the_page_is_current() -> None:
    """The file is what docs/generate.py writes today; run that after a change of settings."""
    assert generate.settings_page() == PAGE


def test_every_setting_has_a_row() -> None:
    """Each setting is there with its default, its meaning and whether it is shown by default."""
    told = {cells[0].partition("`")[2].partition("`")[0]: cells for cells in rows(PAGE)}
    meanings = {name: one.metadata["meaning"] for name, one in DECLARED.items()}
    assert {name: cells[3] for name, cells in told.items()} == meanings
    for name, one in DECLARED.items():
        assert told[name][0].endswith("*") == one.metadata["shown"]
        shown = told[name][1]
        for part in one.default if isinstance(one.default, tuple) else (one.default,):
            expected = f"{part:g}" if isinstance(part, float) else str(part).lower()
            assert (part is None and shown == "unset") or expected in shown.lower()


def test_every_group_has_a_section() -> None:
    """Settings stand below the heading of their group, in the order of `twolane settings`."""
    order = re.findall(r"^(?:## \[(\w+)\]$|\| `([\w.]+)`)", PAGE, re.MULTILINE)
    group = ""
    for heading, name in order:
        group = heading or group
        assert heading or name.rpartition(".")[0] == group
    assert [name for _, name in order if name] == list(DECLARED)


def test_the_example_is_possible() -> None:
    """What the page writes into the file is accepted."""
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert Settings(**tomllib.loads(example)).search.limit == 10


def test_settings_that_read_notes_again_are_named() -> None:
    """What changes how notes are analysed is announced, and nothing else is."""
    (line,) = [line for line in PAGE.splitlines() if "every note again" in line]
    assert "`index.chunk_tokens`" in line and "`index.languages`" in line
    assert "`experiment.stemming`" in line
    assert "`search.limit`" not in line and "`ranking.rrf_k`" not in line
