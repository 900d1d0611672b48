"""kill -9 at any moment loses no committed work and leaves a sound index."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from twolane import Library, Settings

KILLS = 20
NOTES = 600


def write_vault(folder: Path) -> None:
    folder.mkdir()
    chosen = random.Random(7)
    words = [f"word{number}" for number in range(400)]
    for number in range(NOTES):
        text = " ".join(chosen.choices(words, k=60))
        (folder / f"note{number:04}.md").write_text(
            f"---\ntags: [t{number % 7}]\n---\n# Note {number}\n\n{text}\n\n## More\n\n{text}\n",
            "utf-8",
        )


def command(db: Path, vault: Path) -> list[str]:
    return [sys.executable, "-m", "twolane", "index", str(vault), "--db", str(db), "--quiet"]


@pytest.mark.slow
def test_twenty_kills(tmp_path: Path) -> None:
    """After each of twenty kills at random moments the index is sound; a last run completes it."""
    vault, db = tmp_path / "vault", tmp_path / "x.db"
    write_vault(vault)
    environment = {
        **os.environ,
        "TWOLANE_EMBEDDING_EMBEDDER": "hashing",
        "TWOLANE_INDEX_BATCH": "25",
    }
    chosen = random.Random(11)
    settings = Settings(db=db, embedding={"embedder": "hashing"}, index={"batch": 25})
    killed = 0
    held = 0
    for _ in range(KILLS):
        running = subprocess.Popen(
            command(db, vault), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        time.sleep(chosen.uniform(0.15, 1.2))
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
            killed += 1
        running.communicate()
        if db.exists():
            with Library.open(settings=settings) as library:
                assert library.check() == []
                documents = library.status().stats.documents
                assert documents >= held, "committed notes were lost"
                held = documents
                if held == NOTES and chosen.random() < 0.5:
                    # The work is done too soon to be killed: make some of it new.
                    for number in range(0, NOTES, 2):
                        file = vault / f"note{number:04}.md"
                        file.write_text(file.read_text("utf-8") + "\nmore\n", "utf-8")
    assert killed >= KILLS // 2
    done = subprocess.run(
        [*command(db, vault), "--json"], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)
    with Library.open(settings=settings) as library:
        assert library.check() == []
        status = library.status()
        assert status.stats.documents == NOTES
        assert (status.progress.pending, status.progress.failed) == (0, 0)
        assert status.progress.ready == status.stats.chunks
        assert library.index(vault).unchanged == NOTES
