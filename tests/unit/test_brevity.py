"""Brevity: no note is near a query only because both are short."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest

from tests.builders import indexed_library, write_notes
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.embedders.use import UseEmbedder
from twolane.embedding.length_bias import without_brevity

# Words that no note below is about.
STRAY = ("кварк", "прокрастинация", "juxtaposition", "violin", "зонтик")
STUBS = ("Untitled", "Inbox", "Заметка", "Пусто", "Drafts")


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


def test_words_alone_have_nothing_in_common(embedder: UseEmbedder) -> None:
    """Words that mean different things are similar by their shortness, and no more without it."""
    stubs = embedder.embed_passages(STUBS)
    before = np.stack([embedder.embed_query(word) for word in STRAY])
    after = np.stack([without_brevity(one, embedder.space) for one in before])
    assert (before @ stubs.T).mean() > 0.25
    assert abs((after @ stubs.T).mean()) < 0.08


def test_meaning_stays(embedder: UseEmbedder) -> None:
    """A word is still nearest to the short text that it is about."""
    texts = ("Shopping list", "Meeting notes", "Inbox", "Список дел", "Chess openings")
    found = embedder.embed_passages(texts)
    for word, meant in (("покупки", 0), ("inbox", 2), ("шахматы", 4)):
        query = without_brevity(embedder.embed_query(word), embedder.space)
        assert int((found @ query).argmax()) == meant


def test_longer_queries_stay_as_they_are(embedder: UseEmbedder) -> None:
    """A question of a dozen words hardly holds the direction of short texts."""
    vector = embedder.embed_query("how do I keep tomato plants from dying in a cold greenhouse")
    assert float(without_brevity(vector, embedder.space) @ vector) > 0.99


def test_an_unknown_space_stays_as_it_is() -> None:
    """Where nobody knows the direction of short texts, nothing is taken out."""
    embedder = HashingEmbedder()
    vector = embedder.embed_query("word")
    assert without_brevity(vector, embedder.space) is vector


def with_empty_notes(folder: Path, *names: str) -> Path:
    """The sample vault, and empty notes of these names."""
    with as_file(files("twolane").joinpath("sample_vault")) as vault:
        shutil.copytree(vault, folder)
    return write_notes(folder, {f"{name}.md": "" for name in names})


def test_stubs_do_not_come_first(tmp_path: Path) -> None:
    """Empty notes are not what words find that they do not hold; with the setting off they are."""
    notes = with_empty_notes(tmp_path / "notes", *STUBS)
    stubs = {}
    for brevity in (True, False):
        with indexed_library(
            notes, tmp_path / "library.db", "use", ranking={"brevity": brevity}
        ) as library:
            first = [library.search(word).results[0].title for word in STRAY]
        stubs[brevity] = sum(title in STUBS for title in first)
    assert stubs[True] <= 1
    assert stubs[False] >= 3


def test_stubs_are_not_similar_to_each_other(tmp_path: Path) -> None:
    """A note of one word is similar to what it is about, not to other notes of one word."""
    notes = with_empty_notes(tmp_path / "notes", "Помидоры", *STUBS)
    nearest, tomatoes = {}, {}
    for brevity in (True, False):
        with indexed_library(
            notes, tmp_path / "library.db", "use", ranking={"brevity": brevity}
        ) as library:
            nearest[brevity] = library.similar("Inbox", limit=1).results[0].similarity or 0.0
            similar = library.similar("Помидоры", limit=4).results
            tomatoes[brevity] = {one.title for one in similar} & set(STUBS)
    assert nearest[True] < 0.3 < 0.4 < nearest[False]
    assert tomatoes[False]
    assert not tomatoes[True]
