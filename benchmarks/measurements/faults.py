"""What faults do to indexing and embedding: kills, an embedder that fails, two workers at once.

Kills: `twolane index` and `twolane embed` run over a vault, one process after the other, and each
is killed with SIGKILL at a random moment; before each, a tenth of the notes is edited.
The moments are drawn so that about one process in three ends before it is killed: the others die
anywhere between their start and their end.
After each kill the database must be sound, no document may have gone, and the vectors of a sample
of passages must be those of the passages' text as it stands (all of them after every twentieth).
In the end one undisturbed run completes the work, and the result must be that of a new database
made from the same vault in one go: same digest, same passages, same vectors.
A failing embedder: three calls of ten raise an error, at random; retries are due at once.
Two workers: two processes embed one database; each writes down what it embeds.
The embedder is `hashing`, so that the time goes into the faults and not into a model.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import corpus
from outcome import Goal, Outcome, Room, Table
from processes import environment, run
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.ingest.chunking import embedded_text
from twolane.library import Library
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import Part
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix

_SAMPLE = 50
_EVERY = 20

# A worker that writes down the hash of every text it embeds; it waits for the start sign.
_WORKER = """
import hashlib, pathlib, sys, time
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.library import Library
from twolane.settings import Settings
from twolane.stores.sqlite import open_stores
db, log, sign = map(pathlib.Path, sys.argv[1:])
class Writing(HashingEmbedder):
    def embed_passages(self, texts):
        time.sleep(0.002 * len(texts))
        with log.open("a") as file:
            file.writelines(hashlib.sha256(text.encode()).hexdigest() + "\\n" for text in texts)
        return super().embed_passages(texts)
settings = Settings(embedding={"embedder": "hashing"})
with Library(open_stores(db), settings, Writing()) as library:
    log.touch()
    while not sign.exists():
        time.sleep(0.01)
    library.embed(backfill=True)
"""


def measure(room: Room) -> Outcome:
    """Kill, fail and compete; every goal is a count of harm done."""
    vault = _vault(room.folder / "faults-notes", room.size(2_000, 200))
    kills = _Kills(room.folder, vault, room.size(40, 10))
    kills.all()
    shaky = _failing(room.folder, vault)
    workers = _two_workers(room.folder, vault)
    goals = [
        Goal("Kills", kills.killed, "kills", at_least=kills.wanted),
        Goal("Notes lost after kills", kills.lost, "notes", at_most=0),
        Goal("Databases damaged by kills", kills.damaged, "databases", at_most=0),
        Goal("Vectors that are not of their passage", kills.stale, "vectors", at_most=0),
        Goal("Differences from a database made in one go", kills.differences, "", at_most=0),
        Goal("Passages left by an embedder that fails", shaky["left"], "passages", at_most=0),
        Goal("Passages embedded twice by two workers", workers["twice"], "passages", at_most=0),
        Goal("Passages left by two workers", workers["left"], "passages", at_most=0),
    ]
    shares = ", ".join(f"{share:,}" for share in workers["shares"])
    table = Table(
        f"{kills.notes:,} notes with {kills.passages:,} passages",
        ("fault", "what happened"),
        [
            ("kills", f"{kills.killed} processes killed, {kills.ended} had ended before"),
            ("checked", f"{kills.checked:,} vectors compared with the text they belong to"),
            ("failing embedder", f"{shaky['failed calls']} of {shaky['calls']} calls failed"),
            ("two workers", f"embedded {shares} passages"),
        ],
    )
    return Outcome(goals, [table], kills.rows, {**corpus.facts(), "kills": kills.wanted})


def _vault(folder: Path, count: int) -> Path:
    for note in corpus.notes(count):
        path = folder / note.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.markdown(), "utf-8")
    return folder


@dataclass(slots=True)
class _Kills:
    """A vault that is edited, and processes that are killed while they follow."""

    folder: Path
    vault: Path
    wanted: int
    killed: int = 0
    ended: int = 0
    lost: int = 0
    damaged: int = 0
    stale: int = 0
    differences: int = 0
    checked: int = 0
    notes: int = 0
    passages: int = 0
    patience: float = 2.0
    rows: list[dict[str, Any]] = field(default_factory=list)

    def all(self) -> None:
        """Kill as often as wanted, then let one run end and compare."""
        dice = random.Random(20_260_101)
        files = sorted(self.vault.rglob("*.md"))
        self.notes = len(files)
        settings = Settings(
            db=self.folder / "faults.db", embedding={"embedder": "hashing"}, index={"batch": 50}
        )
        held = 0
        while self.killed < self.wanted:
            for file in dice.sample(files, max(1, len(files) // 10)):
                with file.open("a", encoding="utf-8") as text:
                    text.write(f"\nAn edit, number {dice.randrange(10**9)}.\n")
            verb = "embed" if held == self.notes and dice.random() < 0.3 else "index"
            row = self._kill(verb, dice.uniform(0.2, 1.0) * self.patience, settings)
            held = self._look(settings, dice, held, row)
            self.rows.append(row)
        self._compare(settings)

    def _kill(self, verb: str, after: float, settings: Settings) -> dict[str, Any]:
        words = [sys.executable, "-m", "twolane", verb, "--quiet", "--db", str(settings.db)]
        if verb == "index":
            words.append(str(self.vault))
        process = subprocess.Popen(
            words, env=_variables(self.folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(after)
        alive = process.poll() is None
        if alive:
            process.send_signal(signal.SIGKILL)
        process.wait()
        # Some processes must end before their time, or most would be killed while they start.
        self.patience *= 1.1 if alive else 0.8
        self.killed += alive
        self.ended += not alive
        return {"verb": verb, "after": round(after, 3), "killed": alive}

    def _look(self, settings: Settings, dice: random.Random, held: int, row: dict[str, Any]) -> int:
        if settings.db is None or not settings.db.exists():
            return 0
        with Library.open(settings=settings) as library:
            problems = library.check()
            status = library.status()
        self.damaged += bool(problems)
        self.lost += max(0, held - status.stats.documents)
        sample = None if len(self.rows) % _EVERY == 0 else _SAMPLE
        checked, stale = _stale(settings.db, dice, sample)
        self.checked += checked
        self.stale += stale
        ready, pending = status.progress.ready, status.progress.pending
        row.update(documents=status.stats.documents, ready=ready, pending=pending, checked=checked)
        return status.stats.documents

    def _compare(self, settings: Settings) -> None:
        """One run that nobody disturbs, against a database made anew."""
        digests, counts = [], []
        for db in (settings.db, self.folder / "faults-anew.db"):
            words: Sequence[str | Path] = ["-m", "twolane", "index", "--quiet", "--db", str(db)]
            run([*words, self.vault], _variables(self.folder))
            with Library.open(settings=replace(settings, db=db)) as library:
                status = library.status()
                digests.append(library.digest())
                counts.append((status.stats.documents, status.stats.chunks, status.progress))
            checked, stale = _stale(Path(str(db)), random.Random(0), None)
            self.checked += checked
            self.stale += stale
        self.passages = counts[1][1]
        self.differences = (digests[0] != digests[1]) + (counts[0] != counts[1])


def _variables(folder: Path) -> dict[str, str]:
    return environment(folder, TWOLANE_EMBEDDING_EMBEDDER="hashing", TWOLANE_INDEX_BATCH="50")


def _stale(db: Path, dice: random.Random, sample: int | None) -> tuple[int, int]:
    """How many vectors were compared with the text of their passage, and how many differ."""
    store = open_stores(db, create=False)
    try:
        serving = store.vectors.generations()
        if not serving:
            return 0, 0
        ids = [one.id for one in store.documents.list(ANYWHERE)]
        chosen = ids if sample is None else dice.sample(ids, min(sample, len(ids)))
        checked = stale = 0
        for at in range(0, len(chosen), 200):
            some = chosen[at : at + 200]
            vectors = store.vectors.get(serving[0].number, some)
            for id, stored in store.documents.get(some, ANYWHERE, frozenset(Part)).items():
                document = stored.document
                held = {one.position: one.vector for one in vectors.get(id, ())}
                for one in stored.chunks:
                    if one.position in held:
                        text = document.body[one.start : one.end]
                        told = embedded_text(document.title, one.headings, text)
                        right = HashingEmbedder().embed_passages([told])[0]
                        checked += 1
                        stale += not np.allclose(right, held[one.position], atol=1e-6)
        return checked, stale
    finally:
        store.maintenance.close()


class _Shaky(HashingEmbedder):
    """Fails three calls of ten."""

    def __init__(self) -> None:
        self.calls = self.failed = 0
        self._dice = random.Random(7)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.calls += 1
        if self._dice.random() < 0.3:
            self.failed += 1
            raise ConnectionError("not now")
        return super().embed_passages(texts)


def _failing(folder: Path, vault: Path) -> dict[str, int]:
    db = folder / "faults-failing.db"
    embedder = _Shaky()
    settings = Settings(
        db=db, embedding={"embedder": "hashing", "retry_seconds": 0.01, "passage_tries": 50}
    )
    with Library(open_stores(db), settings, embedder) as library:
        library.index(vault)
        library.embed(backfill=True)
        left = library.status().progress
    return {
        "calls": embedder.calls,
        "failed calls": embedder.failed,
        "left": left.pending + left.failed,
    }


def _two_workers(folder: Path, vault: Path) -> dict[str, Any]:
    db, sign = folder / "faults-two.db", folder / "faults-start"
    with Library.open(db, settings=Settings(embedding={"embedder": "hashing"})) as library:
        library.index(vault)
    logs = [folder / f"faults-worker-{number}" for number in range(2)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(db), str(log), str(sign)], env=_variables(folder)
        )
        for log in logs
    ]
    deadline = time.monotonic() + 60
    while not all(log.exists() for log in logs) and time.monotonic() < deadline:
        time.sleep(0.05)
    sign.touch()
    for one in started:
        if one.wait(600):
            raise RuntimeError("a worker failed")
    shares = [log.read_text("utf-8").split() for log in logs]
    counted = Counter(line for share in shares for line in share)
    with Library.open(db, settings=Settings(embedding={"embedder": "hashing"})) as library:
        left = library.status().progress
    return {
        "shares": [len(share) for share in shares],
        "twice": sum(count - 1 for count in counted.values()),
        "left": left.pending + left.failed,
    }
