"""TREC files: judgments and topics are read, and complain with line numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from twolane.evaluation.golden_formats import read_qrels, read_topics
from twolane.model.errors import BadGoldenSet, BadInput


def file(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "file.txt"
    path.write_text(text, "utf-8")
    return path


def test_judgments_are_read_as_trec_eval_reads_them(tmp_path: Path) -> None:
    """Four fields with blanks between, which ids spell with percent signs; grades may be low."""
    path = file(tmp_path, "q%201 0 half%20marathon.md 2\nq%201 0 100% -1\nq2 0 %FF 0\n")
    assert read_qrels(path) == {"q 1": {"half marathon.md": 2, "100%": -1}, "q2": {"%FF": 0}}


def test_files_can_have_windows_line_ends_and_blank_lines(tmp_path: Path) -> None:
    """Files from other systems are read: CRLF, tabs, a byte order mark, blank lines."""
    path = file(tmp_path, "\ufeffq\t0\ta\t1\r\n\r\nq 0 b 2")
    assert read_qrels(path) == {"q": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_qrels, "q 0 first 2\nq a 1\n", "line 2: 3 fields; write four"),
        (read_qrels, "q 0 first 2\nq 0 a yes\n", "line 2: the grade 'yes'"),
        (read_qrels, "q 0 first 2\nq 0 a 1.5\n", "line 2: the grade '1.5'"),
        (read_qrels, "q 0 first 2\nq 0 first 1\n", "line 2: 'first' is judged twice for query 'q'"),
        (read_qrels, "x\nq 0 a 1\ny\n", r"(?s)line 1.*line 3"),
        (read_topics, "1\tgreen tea\n2 no tab here\n", "line 2: write the id"),
        (read_topics, "1\tgreen tea\n2\t \n", "line 2: write the id"),
        (read_topics, "1\tgreen tea\n1\tagain\n", "line 2: the id '1' is used before"),
    ],
)
def test_every_bad_line_is_named(
    tmp_path: Path, read: Callable[[Path], object], text: str, message: str
) -> None:
    """What is no judgment or no topic is reported with its number and what to write."""
    with pytest.raises(BadGoldenSet, match=message):
        read(file(tmp_path, text))


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors of ours, with the path."""
    with pytest.raises(BadInput, match=r"nowhere cannot be read .*check the path"):
        read_qrels(tmp_path / "nowhere")
    (tmp_path / "latin").write_bytes(b"q 0 a 1\nq 0 caf\xe9 1\n")
    with pytest.raises(BadInput, match=r"latin is not UTF-8"):
        read_qrels(tmp_path / "latin")
