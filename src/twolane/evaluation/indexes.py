"""The library that a golden set is asked of: its own documents, indexed once and kept.

A golden set names a folder of notes, its vault; a BEIR folder brings its documents along.
Either is indexed into a database of its own, in a cache folder, and used again while it holds
what it should. A vault is indexed anew when code that makes indexes has changed. A collection
may take an hour to embed, so it is only analysed anew: passages that come out the same keep
their vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

import twolane
from twolane import BadInput, Draft, EmbedderUnavailable, Library, Settings
from twolane.evaluation.files import write_text
from twolane.evaluation.golden import GoldenSet, Names, validate
from twolane.evaluation.golden_formats import BEIR_CORPUS, as_json, beir_folder, corpus

# What changes the index itself; a database is shared by settings that agree on these.
ANALYSIS = (
    "embedding.embedder",
    "experiment.centring",
    "index.languages",
    "index.include",
    "index.exclude",
    "index.max_file_bytes",
    "index.chunk_tokens",
    "index.chunk_overlap",
    "experiment.chunk_characters",
    "experiment.breadcrumb",
    "experiment.stemming",
    "summaries.enabled",
    "summaries.model",
    "summaries.min_tokens",
    "summaries.max_tokens",
)

# These neither read notes nor rank them.
OUTSIDE = frozenset({"__init__", "__main__", "evaluation", "interfaces", "sample_vault"})

# These only answer: a change of theirs leaves every index as it is.
# What is not listed counts as code that makes an index, so that forgetting a module costs
# time and never a wrong figure.
ANSWERING = frozenset({"explain", "query", "ranking", "results"})

# So many documents are saved in one transaction.
_BATCH = 200

# So many seconds may a query take.
_PATIENCE = 3600.0

Say = Callable[[str], None]


def bench(
    golden: GoldenSet,
    source: Path,
    settings: Settings,
    folder: Path,
    progress: Say = lambda text: None,
) -> Library:
    """The library of the set's own documents, complete, in a database under `folder`.

    `source` is where the set was read from: its file, or the BEIR folder with its corpus.
    """
    collection = beir_folder(source)
    documents = _vault(golden, source) if collection is None else collection
    if collection is None:
        database = _vault_database(documents, settings, folder)
    else:
        database = _collection_database(documents, settings, folder)
        # Vectors come after all texts, many at a time, and not with every save.
        settings = settings.changed(embedding={"save_seconds": 0.0})
    # A figure must not depend on how busy the machine is: no lane is left out for being late.
    settings = settings.changed(search={"query_seconds": _PATIENCE, "embed_seconds": _PATIENCE})
    folder.mkdir(parents=True, exist_ok=True)
    library = Library.open(settings=replace(settings, db=database))
    try:
        progress(f"indexing {documents.name}")
        if collection is None:
            library.index(documents)
        else:
            _save(library, collection, database)
        if settings.embedding.embedder != "none":
            progress(f"embedding {documents.name}")
            _embed(library)
        validate(golden, Names(library).known())
    except BaseException:
        library.close()
        raise
    return library


def _embed(library: Library) -> None:
    """Give every passage its vector; figures over half of them would be figures of nothing."""
    # Summaries are part of what is measured, so it waits for them.
    stopped = library.embed(backfill=library.settings.summaries.enabled).stopped
    if stopped is not None:
        raise EmbedderUnavailable(stopped)


# ------------------------------------------------------------------------------- vaults


def _vault(golden: GoldenSet, source: Path) -> Path:
    if golden.vault is None:
        raise BadInput(
            f"{golden.name} names no vault; give the database to ask with --db "
            "(`twolane status` names yours), "
            'or add "vault" to the golden set'
        )
    vault = (source.parent / golden.vault).resolve()
    if not vault.is_dir():
        raise BadInput(
            f"{golden.name} names the vault {golden.vault!r}, but {vault} is no folder; "
            f"correct it (it is seen from the folder of {source.name}), or give --db"
        )
    return vault


def _vault_database(vault: Path, settings: Settings, folder: Path) -> Path:
    """Where the index of the vault under these settings is, made by the code as it is now."""
    stem = f"{vault.name}-{_key(str(vault), settings)}-"
    # A change of the code that reads notes may change any index, noted in a version or not.
    database = folder / f"{stem}{analysis_code()[:12]}.db"
    if not database.exists() and folder.is_dir():
        for old in [path for path in folder.iterdir() if path.name.startswith(stem)]:
            # Another process may still ask the old index, or be tidying up itself.
            with suppress(OSError):
                old.unlink()
    return database


# ------------------------------------------------------------------------------- collections


def _collection_database(collection: Path, settings: Settings, folder: Path) -> Path:
    """Where the index of this very corpus under these settings is, whatever code made it.

    Sets of queries over the same documents share it, however their folders are called.
    """
    try:
        with (collection / BEIR_CORPUS).open("rb") as file:
            content = hashlib.file_digest(file, "blake2b").hexdigest()
    except OSError as error:
        raise BadInput(
            f"{collection / BEIR_CORPUS} cannot be read ({error.strerror}); "
            "give the database to ask with --db, or add the documents"
        ) from error
    return folder / f"corpus-{_key(content, settings)}.db"


def _save(library: Library, collection: Path, database: Path) -> None:
    """Save the documents of a BEIR folder, unless this code has saved them already."""
    stamp = database.with_suffix(".code")
    if stamp.is_file() and stamp.read_text("utf-8") == analysis_code():
        return
    # Another time makes another version, so that every document is analysed again.
    now = datetime.now(UTC)
    drafts = (
        Draft(id=id, title=title, body=text, collection=collection.name, updated=now)
        for id, title, text in corpus(collection)
    )
    while some := list(islice(drafts, _BATCH)):
        library.save_all(some)
    write_text(stamp, analysis_code())


def _key(content: str, settings: Settings) -> str:
    analysis = [value for name, value in settings.flat().items() if name in ANALYSIS]
    return twolane.digest(f"{content} {analysis}")[:12]


# ------------------------------------------------------------------------------- fingerprints

_SOURCES = {".py", ".sql"}


@lru_cache(maxsize=1)
def ranking_code() -> str:
    """A name for the code that decides what a search answers."""
    return sources_digest(_package(), OUTSIDE)


@lru_cache(maxsize=1)
def analysis_code() -> str:
    """A name for the code that decides what an index holds."""
    return sources_digest(_package(), OUTSIDE | ANSWERING)


def sources_digest(folder: Path, without: Collection[str]) -> str:
    """A digest of the version and of all source files below the folder.

    `without` names the modules and packages directly below it that do not count.
    """
    code = hashlib.blake2b(twolane.__version__.encode(), digest_size=16)
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.suffix in _SOURCES and place.with_suffix("").parts[0] not in without:
            content = path.read_bytes()
            # The lengths keep one file's end apart from the next one's beginning.
            code.update(f"{place.as_posix()} {len(content)} ".encode())
            code.update(content)
    return code.hexdigest()


def golden_digest(golden: GoldenSet) -> str:
    """A name for everything a golden set says."""
    return twolane.digest(json.dumps(as_json(golden), sort_keys=True))


def _package() -> Path:
    return Path(twolane.__file__).parent
