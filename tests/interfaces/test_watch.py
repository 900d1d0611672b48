"""`twolane watch`."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write
from tests.waiting import PATIENCE, eventually


@pytest.mark.parametrize("options", [[], ["--poll"]])
def test_changes_are_found_by_another_process(
    twolane: Cli, tmp_path: Path, options: list[str]
) -> None:
    """A note that is written while watching is found; Ctrl-C ends it with 0."""
    folder = write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves.\n"})
    quick = twolane.where(TWOLANE_INDEX_WATCH_SECONDS="0.1")
    with quick.beside("watch", "--json", *options, folder) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert first["collections"][0]["indexed"] == 1
        write(folder, {"rye.md": "# Rye\n\nA quagga among cereals.\n"})
        second = json.loads(process.stdout.readline())
        assert second["collections"][0]["indexed"] == 1
        eventually(lambda: not twolane.json("status")["pending"])
        found = twolane.json("search", "quagga")
        assert found["results"][0]["title"] == "Rye"
        assert not found["degraded"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def test_a_folder_that_is_not_there_is_refused(twolane: Cli, tmp_path: Path) -> None:
    """Nothing is created for a folder that does not exist."""
    assert "twolane index FOLDER" in twolane("watch", tmp_path / "nowhere", code=3).stderr
    assert not twolane.db.exists()
