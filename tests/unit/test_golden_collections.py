"""Golden sets are read from BEIR folders and TREC files, with their grades."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.small_sets import written
from twolane.evaluation.golden import GoldenQuery, validate
from twolane.evaluation.golden_formats import corpus_ids, load_golden
from twolane.model.errors import BadGoldenSet


def problems_of(path: Path, topics: Path | None = None) -> tuple[str, ...]:
    """What is wrong with a file that cannot be understood."""
    with pytest.raises(BadGoldenSet) as caught:
        load_golden(path, topics)
    return caught.value.problems


# -------------------------------------------------------------------------------------- BEIR


def beir(folder: Path, **files: str) -> Path:
    """A small BEIR folder."""
    root = folder / "beir"
    written(root, '{"_id": "d1", "title": "", "text": "x"}\n', "corpus.jsonl")
    lines = ('{"_id": "q2", "text": "two"}', '{"_id": "q1", "text": "one", "metadata": {}}')
    written(root, "\n".join(lines), "queries.jsonl")
    for name, text in files.items():
        written(root, f"query-id\tcorpus-id\tscore\n{text}", f"qrels/{name}.tsv")
    return root


def test_a_beir_folder_keeps_its_grades(tmp_path: Path) -> None:
    """The test split is read, in the order of the queries, with grades as whole numbers."""
    root = beir(tmp_path, test="q1\td1\t3\nq1\td 2\t0\nq2\td1\t1\n", train="q1\td9\t1\n")
    golden = load_golden(root)
    assert golden.name == "beir.test"
    assert [one.id for one in golden.queries] == ["q2", "q1"]
    assert golden.queries[1].grades == {"d1": 3, "d 2": 0}
    validate(golden)


def test_a_beir_split_is_named_by_its_file(tmp_path: Path) -> None:
    """Another split is read by its path; queries that it does not judge are left out."""
    root = beir(tmp_path, test="q1\td1\t1\n", dev="q2\td1\t2\n")
    golden = load_golden(root / "qrels" / "dev.tsv")
    assert golden.name == "beir.dev"
    assert [(one.query, one.grades) for one in golden.queries] == [("two", {"d1": 2})]
    assert load_golden(beir(tmp_path / "other", dev="q1\td1\t1")).name == "beir.dev"


def test_a_beir_corpus_tells_which_documents_exist(tmp_path: Path) -> None:
    """Judgments can be checked against the ids of the corpus."""
    root = beir(tmp_path, test="q1\td1\t1\nq2\tghost\t1\n")
    assert corpus_ids(root) == {"d1"}
    with pytest.raises(BadGoldenSet, match="query 'q2': no document 'ghost'"):
        validate(load_golden(root), corpus_ids(root))


def test_a_folder_that_is_no_beir_folder_is_refused(tmp_path: Path) -> None:
    """A folder without queries, without judgments or with several splits says what it lacks."""
    assert "no queries.jsonl" in problems_of(tmp_path)[0]
    assert "qrels/test.tsv" in problems_of(beir(tmp_path / "a"))[0]
    several = beir(tmp_path / "b", dev="q1\td1\t1", train="q1\td1\t1")
    assert "name one of qrels/dev.tsv, qrels/train.tsv" in problems_of(several)[0]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 d1 1", "line 3: write three fields with tabs"),
        ("q1\t\t1", "line 3: write three fields with tabs"),
        ("q1\td1\thigh", "line 3: the grade 'high' is not a whole number"),
        ("q2\td1\t2", "line 3: 'd1' is judged twice for query 'q2'"),
        ("q3\td1\t2", "query 'q3': judged in test.tsv, but queries.jsonl has no such query"),
    ],
)
def test_a_bad_beir_judgment_is_named(tmp_path: Path, line: str, problem: str) -> None:
    """A line that is no judgment is reported with its number and what to do."""
    (found,) = problems_of(beir(tmp_path, test=f"q2\td1\t1\n{line}"))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: column 2: not JSON"),
        ("[" * 100_000, "line 2: not usable JSON"),
        ("[]", "line 2: not a JSON object"),
        ('{"_id": 7, "text": "x"}', 'line 2: field "_id" must be a text'),
        ('{"_id": "q2"}', 'line 2: field "text" must be a text'),
        ('{"_id": "q1", "text": "x"}', "line 2: the _id 'q1' is used before"),
    ],
)
def test_a_bad_beir_query_is_named(tmp_path: Path, line: str, problem: str) -> None:
    """A line that is no query is reported with its number and what to do."""
    root = beir(tmp_path, test="q1\td1\t1")
    written(root, f'{{"_id": "q1", "text": "one"}}\n{line}\n', "queries.jsonl")
    (found,) = problems_of(root)
    assert found.startswith(problem)


# -------------------------------------------------------------------------------------- TREC


@pytest.mark.parametrize("beside", ["topics.tsv", "queries.tsv", None])
def test_trec_judgments_find_their_queries(tmp_path: Path, beside: str | None) -> None:
    """Queries are in the file that is named, or beside the judgments."""
    qrels = written(tmp_path, "1 0 half%20marathon.md 2\n1 0 x -1\n2 0 y 1\n", "web.qrels")
    topics = written(tmp_path, "1\trunning\n2\tlong runs\n3\tnot judged\n", beside or "elsewhere")
    golden = load_golden(qrels, None if beside else topics)
    assert golden.name == "web"
    assert golden.queries == (
        GoldenQuery("1", "running", graded=(("half marathon.md", 2), ("x", -1))),
        GoldenQuery("2", "long runs", graded=(("y", 1),)),
    )


def test_trec_judgments_need_queries(tmp_path: Path) -> None:
    """Judgments whose queries cannot be found, or lack one, say where to put them."""
    qrels = written(tmp_path, "1 0 a 2\n", "qrels.txt")
    assert "topics.tsv beside the file" in problems_of(qrels)[0]
    topics = written(tmp_path, "2\tother\n", "topics.tsv")
    assert problems_of(qrels, topics)[0].startswith("query '1': judged in qrels.txt")
