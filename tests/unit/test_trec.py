"""TREC files can be written, read back, and complain with line numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.errors import BadGoldenSet, BadInput
from twolane.evaluation.trec import (
    Scored,
    decoded,
    encoded,
    read_qrels,
    read_run,
    read_topics,
    write_qrels,
    write_run,
)


def file(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "file.txt"
    path.write_text(text, "utf-8")
    return path


def test_a_run_is_written_as_trec_eval_reads_it(tmp_path: Path) -> None:
    """Six fields, ranks from 1, and blanks in ids percent-encoded."""
    run = {"q 1": [Scored("half marathon plan.md", 0.5), Scored("100%.md", 0.25)]}
    write_run(tmp_path / "run", run, tag="a tag")
    assert (tmp_path / "run").read_text("utf-8") == (
        "q%201 Q0 half%20marathon%20plan.md 1 0.5 a%20tag\nq%201 Q0 100%25.md 2 0.25 a%20tag\n"
    )
    assert read_run(tmp_path / "run") == {"q 1": tuple(run["q 1"])}


IDS = st.text(min_size=1, max_size=12)


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.floats(-1e9, 1e9), min_size=1, max_size=5)))
def test_runs_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, dict[str, float]]
) -> None:
    """Any ids and scores come back as they were, ties in the order that was written."""
    run = {
        query: tuple(
            sorted((Scored(id, score) for id, score in found.items()), key=lambda one: -one.score)
        )
        for query, found in scores.items()
    }
    path = tmp_path_factory.mktemp("run") / "run"
    write_run(path, run)
    assert read_run(path) == run


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-2, 4), min_size=1, max_size=5)))
def test_qrels_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory, judgments: dict[str, dict[str, int]]
) -> None:
    """Any judgments come back as they were."""
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    write_qrels(path, judgments)
    assert read_qrels(path) == judgments


@given(st.text(min_size=1))
def test_encoded_ids_are_one_field(id: str) -> None:
    """An encoded id holds no blank, and decoding gives it back."""
    assert len(encoded(id).split()) == 1
    assert decoded(encoded(id)) == id


def test_a_percent_sign_that_encodes_nothing_is_kept() -> None:
    """Ids of foreign files with stray percent signs are not damaged."""
    assert decoded("100%") == "100%"
    assert decoded("%FF") == "%FF"


@pytest.mark.parametrize("id", ["", "\ud800"])
def test_ids_that_cannot_be_written_are_refused(id: str) -> None:
    """An empty id and half a character are refused rather than written as something else."""
    with pytest.raises(BadInput, match="id"):
        encoded(id)


def test_the_score_decides_then_the_rank_then_the_id(tmp_path: Path) -> None:
    """A run is ordered as trec_eval does it; the rank column settles ties only."""
    path = file(
        tmp_path,
        "q Q0 low 1 1.0 t\nq Q0 c 4 2.0 t\nq Q0 b 3 2.0 t\nq Q0 a 4 2.0 t\n",
    )
    assert [one.id for one in read_run(path)["q"]] == ["b", "a", "c", "low"]


def test_a_run_can_have_windows_line_ends_and_blank_lines(tmp_path: Path) -> None:
    """Files from other systems are read: CRLF, tabs, a byte order mark, blank lines."""
    path = file(tmp_path, "\ufeffq\tQ0\ta\t1\t2.0\tt\r\n\r\nq Q0 b 2 1e0 t")
    assert read_run(path) == {"q": (Scored("a", 2.0), Scored("b", 1.0))}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 a 1 0.5", "line 2: 5 fields; write six"),
        ("q Q0 my note.md 1 0.5 t", "line 2: 7 fields; write six"),
        ("q Q0 a first 0.5 t", "line 2: the rank 'first'"),
        ("q Q0 a 1 high t", "line 2: the score 'high'"),
        ("q Q0 a 1 nan t", "line 2: the score 'nan'"),
        ("q Q0 first 2 0.5 t", "line 2: 'first' is ranked twice for query 'q'"),
    ],
)
def test_a_bad_run_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    """A line that is no run line is reported with its number and what to write."""
    with pytest.raises(BadInput, match=message):
        read_run(file(tmp_path, f"q Q0 first 1 0.9 t\n{line}\n"))


def test_all_bad_lines_are_reported(tmp_path: Path) -> None:
    """One reading finds every bad line."""
    with pytest.raises(BadInput, match=r"(?s)line 1.*line 3"):
        read_run(file(tmp_path, "x\nq Q0 a 1 1 t\ny\n"))


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ([Scored("a", 1.0), Scored("b", 2.0)], "query 'q', rank 2"),
        ([Scored("a", float("inf"))], "rank 1"),
        ([Scored("a", 1.0), Scored("a", 1.0)], "twice"),
    ],
)
def test_a_run_that_would_be_read_otherwise_is_not_written(
    tmp_path: Path, ranking: list[Scored], message: str
) -> None:
    """Rising or endless scores and repeated documents are refused before a file exists."""
    with pytest.raises(BadInput, match=message):
        write_run(tmp_path / "run", {"q": ranking})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q a 1", "line 2: 3 fields; write four"),
        ("q 0 a yes", "line 2: the grade 'yes'"),
        ("q 0 a 1.5", "line 2: the grade '1.5'"),
        ("q 0 first 1", "line 2: 'first' is judged twice for query 'q'"),
    ],
)
def test_a_bad_qrels_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    """A line that is no judgment is reported with its number and what to write."""
    with pytest.raises(BadGoldenSet, match=message):
        read_qrels(file(tmp_path, f"q 0 first 2\n{line}\n"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 no tab here", "line 2: write the id"),
        ("2\t ", "line 2: write the id"),
        ("1\tagain", "line 2: the id '1' is used before"),
    ],
)
def test_a_bad_topics_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    """A line that is no topic is reported with its number and what to write."""
    with pytest.raises(BadGoldenSet, match=message):
        read_topics(file(tmp_path, f"1\tgreen tea\n{line}\n"))


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors of ours, with the path."""
    with pytest.raises(BadInput, match=r"nowhere cannot be read .*check the path"):
        read_run(tmp_path / "nowhere")
    (tmp_path / "latin").write_bytes(b"q Q0 a 1 1 t\nq Q0 caf\xe9 1 1 t\n")
    with pytest.raises(BadInput, match=r"latin is not UTF-8"):
        read_run(tmp_path / "latin")
    with pytest.raises(BadInput, match="cannot be written"):
        write_run(tmp_path / "no" / "folder", {})
