"""Two processes that embed one database share the work: each passage is embedded once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.builders import write_notes
from tests.waiting import PATIENCE, eventually
from twolane import Library, Settings

WORKER = """
import pathlib, sys, time
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.library import Library
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores
db, log, sign = map(pathlib.Path, sys.argv[1:])
class Writing(HashingEmbedder):
    def embed_passages(self, texts):
        time.sleep(0.003 * len(texts))
        with log.open("a") as file:
            file.writelines(text.replace("\\n", " ") + "\\n" for text in texts)
        return super().embed_passages(texts)
settings = Settings(embedding={"embedder": "hashing"})
with Library(open_stores(db), settings, Writing()) as library:
    log.touch()
    while not sign.exists():
        time.sleep(0.01)
    library.embed(backfill=True)
"""


def test_each_passage_is_embedded_once(tmp_path: Path) -> None:
    """Nothing is done twice, nothing is left, and both had their share."""
    notes = {f"n{number}.md": f"# Note {number}\n\ntext {number}" for number in range(600)}
    db, sign = tmp_path / "x.db", tmp_path / "start"
    settings = Settings(db=db, embedding={"embedder": "hashing"})
    with Library.open(settings=settings) as library:
        library.index(write_notes(tmp_path / "notes", notes))
    logs = [tmp_path / f"log{number}" for number in range(2)]
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(db), str(log), str(sign)])
        for log in logs
    ]
    eventually(lambda: all(log.exists() for log in logs))
    sign.touch()
    assert [one.wait(PATIENCE) for one in workers] == [0, 0]
    shares = [log.read_text("utf-8").splitlines() for log in logs]
    counted = Counter(line for share in shares for line in share)
    assert (len(counted), set(counted.values())) == (len(notes), {1})
    assert all(shares)
    with Library.open(settings=settings) as library:
        progress = library.status().progress
    assert (progress.ready, progress.pending, progress.failed) == (len(notes), 0, 0)
