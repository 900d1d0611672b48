"""Libraries of golden sets' own documents: indexed once, kept, and made anew when they must be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.small_sets import NOTES, quick, small_set
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.evaluation import indexes
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench
from twolane.model.errors import BadGoldenSet, BadInput, EmbedderUnavailable


def beir_folder(folder: Path, *, judged: str = "tea.md") -> Path:
    """The small vault as a BEIR folder, with one query."""
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": path, "title": text.splitlines()[0][2:], "text": text.split("\n\n", 1)[1]}
        for path, text in NOTES.items()
    ]
    lines = [json.dumps(one) for one in documents]
    (folder / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "steep green tea"}', "utf-8")
    (folder / "qrels" / "test.tsv").write_text(f"q1\t{judged}\t1\n", "utf-8")
    return folder


def versions(folder: Path, cache: Path, **changes: object) -> dict[str, int]:
    """How often each document of the collection has been saved by now."""
    with bench(load_golden(folder), folder, quick(**changes), cache) as library:
        return {one.id: one.version for one in library.documents()}


def test_a_collection_is_indexed_with_its_vectors(tmp_path: Path) -> None:
    """The documents of a BEIR folder are found under their own ids, by words and by meaning."""
    folder = beir_folder(tmp_path / "teas")
    with bench(load_golden(folder), folder, quick(), tmp_path / "cache") as library:
        answer = library.search("steep green tea")
        assert (answer.results[0].id, answer.results[0].title) == ("tea.md", "Green tea")
        assert not answer.degraded
        assert library.status().progress.pending == 0


def test_a_collection_is_indexed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run asks what the first one made; another corpus gets another database."""
    folder = beir_folder(tmp_path / "teas")
    first = versions(folder, tmp_path / "cache")
    (kept,) = (tmp_path / "cache").glob("*.db")
    with monkeypatch.context() as patched:
        patched.setattr(indexes.Library, "save_all", None)
        assert versions(folder, tmp_path / "cache") == first
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"_id": "new", "text": "Black tea takes boiling water."}')
    assert versions(folder, tmp_path / "cache")["new"] == 1
    assert kept in (tmp_path / "cache").glob("*.db")
    assert len(list((tmp_path / "cache").glob("*.db"))) == 2


def test_sets_over_the_same_documents_share_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other queries over a copy of a corpus are asked of what is indexed already."""
    first = versions(beir_folder(tmp_path / "teas"), tmp_path / "cache")
    with monkeypatch.context() as patched:
        patched.setattr(indexes.Library, "save_all", None)
        assert versions(beir_folder(tmp_path / "known-teas"), tmp_path / "cache") == first


def test_new_code_analyses_a_collection_again_and_keeps_its_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When code that makes indexes changes, every text is read again but none embedded again."""
    folder = beir_folder(tmp_path / "teas")
    assert set(versions(folder, tmp_path / "cache").values()) == {1}

    def refuse(self: HashingEmbedder, texts: object) -> None:
        raise AssertionError("embedded again")

    monkeypatch.setattr(indexes, "analysis_code", lambda: "other code")
    with monkeypatch.context() as patched:
        patched.setattr(HashingEmbedder, "embed_passages", refuse)
        assert set(versions(folder, tmp_path / "cache").values()) == {2}
        assert set(versions(folder, tmp_path / "cache").values()) == {2}
    with bench(load_golden(folder), folder, quick(), tmp_path / "cache") as library:
        assert library.status().progress.ready == len(NOTES)


def test_a_collection_must_hold_what_is_judged(tmp_path: Path) -> None:
    """A judgment of a document that the corpus lacks is refused, as is a missing corpus."""
    folder = beir_folder(tmp_path / "teas", judged="coffee.md")
    with pytest.raises(BadGoldenSet, match=r"no document 'coffee\.md'"):
        bench(load_golden(folder), folder, quick(), tmp_path / "cache")
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(BadInput, match="--db"):
        bench(load_golden(folder), folder, quick(), tmp_path / "cache")


def test_half_of_the_vectors_are_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the embedder stops half way there is no library to measure."""

    def gone(self: HashingEmbedder, texts: object) -> None:
        raise EmbedderUnavailable("the model went away")

    monkeypatch.setattr(HashingEmbedder, "embed_passages", gone)
    file, golden = small_set(tmp_path)
    with pytest.raises(EmbedderUnavailable, match="went away"):
        bench(golden, file, quick(), tmp_path / "cache")
