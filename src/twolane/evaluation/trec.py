"""TREC files: runs (what a system ranked), qrels (what people judged), topics (the queries).

A run line is `query Q0 document rank score tag`, a qrels line `query iteration document grade`,
as `trec_eval` reads them. A topics line is `query`, a tab, and the text.
Fields are separated by blanks, so ids are percent-encoded where they hold a blank or a `%`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from twolane.errors import BadGoldenSet, BadInput
from twolane.evaluation.text_files import numbered_lines, write_text

# Only ASCII blanks separate fields, as in trec_eval: other blanks may be part of a foreign id.
_FIELD = re.compile(r"\S+", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


class Scored(NamedTuple):
    """A document of a run, with the score that ranked it."""

    id: str
    score: float


def read_run(path: Path) -> dict[str, tuple[Scored, ...]]:
    """Query → its documents, best first.

    The score decides, as in `trec_eval`; the rank column only orders equal scores, then the id.
    Raises `BadInput` with the number of every line that cannot be read.
    """
    rows: dict[str, dict[str, tuple[int, float]]] = {}
    problems = []
    for number, line in numbered_lines(path):
        try:
            _add_run_line(rows, line)
        except BadInput as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise BadInput("\n  ".join([f"{path.name} is not a TREC run file:", *problems]))
    return {
        query: tuple(
            Scored(id, score)
            for id, (rank, score) in sorted(
                ranked.items(), key=lambda item: (-item[1][1], item[1][0], item[0])
            )
        )
        for query, ranked in rows.items()
    }


def write_run(path: Path, run: Mapping[str, Sequence[Scored]], tag: str = "twolane") -> None:
    """Write a run, best first as given; a query without documents leaves no line.

    Raises `BadInput` if scores rise, for every reader would put such a ranking in another order.
    """
    lines = []
    for query, ranked in run.items():
        previous = math.inf
        if len({one.id for one in ranked}) < len(ranked):
            raise BadInput(f"query {query!r} ranks a document twice; give each document once")
        for rank, (id, score) in enumerate(ranked, start=1):
            if not (math.isfinite(score) and score <= previous):
                raise BadInput(
                    f"query {query!r}, rank {rank}: the score {score} follows {previous}; "
                    "give finite scores, best first"
                )
            previous = score
            # A NumPy number would write its type along with its value.
            lines.append(
                f"{encoded(query)} Q0 {encoded(id)} {rank} {float(score)!r} {encoded(tag)}\n"
            )
    write_text(path, "".join(lines))


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query → document → grade; a grade below 1 means judged and not relevant.

    Raises `BadGoldenSet` with the number of every line that cannot be read.
    """
    judgments: dict[str, dict[str, int]] = {}
    problems = []
    for number, line in numbered_lines(path):
        fields = _FIELD.findall(line)
        if len(fields) != 4:
            problems.append(
                f"line {number}: {len(fields)} fields; "
                "write four: query, iteration, document, grade"
            )
            continue
        try:
            add_judgment(judgments, decoded(fields[0]), decoded(fields[2]), fields[3])
        except BadInput as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise BadGoldenSet(path.name, problems)
    return judgments


def write_qrels(path: Path, judgments: Mapping[str, Mapping[str, int]]) -> None:
    """Write judgments in the order given."""
    write_text(
        path,
        "".join(
            f"{encoded(query)} 0 {encoded(document)} {grade}\n"
            for query, grades in judgments.items()
            for document, grade in grades.items()
        ),
    )


def read_topics(path: Path) -> dict[str, str]:
    """Query id → text, from lines of id, tab and text."""
    topics: dict[str, str] = {}
    problems = []
    for number, line in numbered_lines(path):
        id, tab, text = line.partition("\t")
        id = decoded(id.strip())
        if not (tab and id and text.strip()):
            problems.append(f"line {number}: write the id of the query, a tab, and its text")
        elif id in topics:
            problems.append(f"line {number}: the id {id!r} is used before; give each query its own")
        else:
            topics[id] = text.strip()
    if problems:
        raise BadGoldenSet(path.name, problems)
    return topics


def add_judgment(
    judgments: dict[str, dict[str, int]], query: str, document: str, grade: str
) -> None:
    """Add a judgment; `BadInput` says why it cannot be one."""
    if not _INTEGER.fullmatch(grade):
        raise BadInput(f"the grade {grade!r} is not a whole number; write 0, 1, 2 …")
    grades = judgments.setdefault(query, {})
    if document in grades:
        raise BadInput(f"{document!r} is judged twice for query {query!r}; keep one line")
    grades[document] = int(grade)


def encoded(id: str) -> str:
    """The id as one field: blanks, control characters and `%` percent-encoded."""
    if not id:
        raise BadInput("an empty id cannot be written to a TREC file; give it a name")
    try:
        return "".join(
            quote(sign, safe="") if sign in "% " or not sign.isprintable() else sign for sign in id
        )
    except UnicodeEncodeError as error:
        raise BadInput(f"the id {id!r} holds half a surrogate pair; rename it") from error


def decoded(field: str) -> str:
    """The id that a field stands for; a `%` that encodes nothing stands for itself."""
    try:
        return unquote(field, errors="strict")
    except UnicodeDecodeError:
        return field


def _add_run_line(rows: dict[str, dict[str, tuple[int, float]]], line: str) -> None:
    fields = _FIELD.findall(line)
    if len(fields) != 6:
        raise BadInput(f"{len(fields)} fields; write six: query, Q0, document, rank, score, tag")
    query, document, rank, score = decoded(fields[0]), decoded(fields[2]), fields[3], fields[4]
    if not _INTEGER.fullmatch(rank):
        raise BadInput(f"the rank {rank!r} is not a whole number; count from 1")
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInput(f"the score {score!r} is not a finite number; write one such as 0.0325")
    ranked = rows.setdefault(query, {})
    if document in ranked:
        raise BadInput(f"{document!r} is ranked twice for query {query!r}; keep one line")
    ranked[document] = int(rank), value
