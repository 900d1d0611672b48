"""Golden sets in the formats of research collections: BEIR folders and TREC files.

Their grades are whole numbers with a meaning of their own, so they are kept as numbers.
A query without any judgment is left out: it belongs to another split.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from twolane.errors import BadGoldenSet, BadInput
from twolane.evaluation.golden_values import GoldenQuery, GoldenSet
from twolane.evaluation.text_files import numbered_lines
from twolane.evaluation.trec import add_judgment, read_qrels, read_topics

BEIR_QUERIES = "queries.jsonl"
BEIR_CORPUS = "corpus.jsonl"
BEIR_SPLIT = "test"


def read_beir(folder: Path, qrels: Path | None = None) -> GoldenSet:
    """The queries of a BEIR folder that one file of its `qrels` folder judges.

    Without `qrels` that is `test.tsv`, or the only file there is.
    """
    if not (folder / BEIR_QUERIES).is_file():
        problem = f"a folder is read as a BEIR collection, but this one has no {BEIR_QUERIES}"
        raise BadGoldenSet(folder.name, [f"{problem}; name the file of the golden set instead"])
    qrels = qrels or _split(folder)
    return _join(
        name=f"{folder.resolve().name}.{qrels.stem}",
        judgments=_beir_qrels(qrels),
        texts=dict(_records(folder / BEIR_QUERIES, "text")),
        judged_in=qrels.name,
        asked_in=BEIR_QUERIES,
    )


def corpus_ids(folder: Path) -> frozenset[str]:
    """The ids of the documents of a BEIR folder: what `validate` wants as known paths."""
    return frozenset(id for id, _ in _records(folder / BEIR_CORPUS, "text"))


def read_trec(qrels: Path, topics: Path) -> GoldenSet:
    """The queries of a topics file that a qrels file judges."""
    return _join(
        name=qrels.stem,
        judgments=read_qrels(qrels),
        texts=read_topics(topics),
        judged_in=qrels.name,
        asked_in=topics.name,
    )


def topics_beside(qrels: Path) -> Path | None:
    """The topics file in the same folder, if there is one."""
    for name in ("topics.tsv", "queries.tsv"):
        if (found := qrels.with_name(name)).is_file() and found != qrels:
            return found
    return None


def _join(
    *,
    name: str,
    judgments: Mapping[str, Mapping[str, int]],
    texts: Mapping[str, str],
    judged_in: str,
    asked_in: str,
) -> GoldenSet:
    problems = [
        f"query {id!r}: judged in {judged_in}, but {asked_in} has no such query; add its text"
        for id in judgments
        if id not in texts
    ]
    if problems:
        raise BadGoldenSet(judged_in, problems)
    return GoldenSet(
        name=name,
        queries=tuple(
            GoldenQuery(id=id, query=text, graded=tuple(judgments[id].items()))
            for id, text in texts.items()
            if id in judgments
        ),
    )


def _split(folder: Path) -> Path:
    found = sorted((folder / "qrels").glob("*.tsv"))
    for path in found:
        if path.stem == BEIR_SPLIT or len(found) == 1:
            return path
    if not found:
        raise BadGoldenSet(folder.name, ["no judgments; a BEIR folder has them in qrels/test.tsv"])
    names = ", ".join(f"qrels/{path.name}" for path in found)
    raise BadGoldenSet(folder.name, [f"several splits and no test.tsv; name one of {names}"])


def _beir_qrels(path: Path) -> dict[str, dict[str, int]]:
    judgments: dict[str, dict[str, int]] = {}
    problems = []
    for number, line in numbered_lines(path):
        fields = [field.strip() for field in line.split("\t")]
        if number == 1 and fields[-1] == "score":
            continue
        if len(fields) != 3 or not all(fields):
            problems.append(
                f"line {number}: write three fields with tabs between: query, document, grade"
            )
            continue
        try:
            add_judgment(judgments, *fields)
        except BadInput as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise BadGoldenSet(f"qrels/{path.name}", problems)
    return judgments


def _records(path: Path, field: str) -> Iterator[tuple[str, str]]:
    """The `_id` and one text field of every line of a JSON lines file."""
    problems = []
    seen = set()
    for number, line in numbered_lines(path):
        try:
            id, text = _record(line, field)
        except BadInput as error:
            problems.append(f"line {number}: {error}")
            continue
        if id in seen:
            problems.append(f"line {number}: the _id {id!r} is used before; give each its own")
        seen.add(id)
        yield id, text
    if problems:
        raise BadGoldenSet(path.name, problems)


def _record(line: str, field: str) -> tuple[str, str]:
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"column {error.colno}: not JSON ({error.msg}); correct it") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not usable JSON ({error}); correct it") from error
    if not isinstance(data, dict):
        raise BadInput("not a JSON object; write one per line")
    for name in ("_id", field):
        if not isinstance(data.get(name), str):
            raise BadInput(f'field "{name}" must be a text; correct it')
    return data["_id"], data[field]
