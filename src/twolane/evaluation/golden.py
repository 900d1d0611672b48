"""Golden sets: read them from any of four formats, check them, write them.

What a set holds is in `golden_values`, what makes it sound in `golden_checks`;
this is the door to both.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from twolane.errors import BadGoldenSet
from twolane.evaluation.golden_checks import validate
from twolane.evaluation.golden_collections import (
    BEIR_QUERIES,
    corpus_ids,
    read_beir,
    read_trec,
    topics_beside,
)
from twolane.evaluation.golden_json import FORMAT, as_json, read_json
from twolane.evaluation.golden_values import Evidence, GoldenQuery, GoldenSet
from twolane.evaluation.references import as_references, same_document
from twolane.evaluation.text_files import read_text, write_text

__all__ = [
    "FORMAT",
    "Evidence",
    "GoldenQuery",
    "GoldenSet",
    "as_references",
    "corpus_ids",
    "load_golden",
    "same_document",
    "save_golden",
    "validate",
]


def load_golden(path: str | os.PathLike[str], topics: Path | None = None) -> GoldenSet:
    """The golden set at `path`, whatever its format.

    - a JSON file: `twolane-golden/1`, or queries with `expected_urls`;
    - a BEIR folder (judgments of its `test` split), or one file of its `qrels` folder;
    - a TREC qrels file, with the queries in `topics`,
      or in `topics.tsv` or `queries.tsv` beside it.

    Raises `BadInput` if a file cannot be read,
    and `BadGoldenSet` with everything in it that cannot be understood.
    What can be understood but makes no sense is found by `validate`.
    """
    place = Path(path)
    if topics is not None:
        return read_trec(place, topics)
    if place.is_dir():
        return read_beir(place)
    if (place.parent.parent / BEIR_QUERIES).is_file() and place.parent.name == "qrels":
        return read_beir(place.parent.parent, place)
    text = read_text(place)
    if place.suffix.lower() == ".json" or text.lstrip().startswith(("{", "[")):
        return read_json(text, place.name, place.stem)
    beside = topics_beside(place)
    if beside is None:
        raise BadGoldenSet(
            place.name,
            [
                "neither JSON nor a file of a BEIR folder; if these are TREC judgments, "
                "put their queries (id, tab, text) into topics.tsv beside the file"
            ],
        )
    return read_trec(place, beside)


def save_golden(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Write the set as `twolane-golden/1`; the file is complete or untouched.

    Reading it again gives an equal set. The set is not validated: drafts can be saved.
    """
    write_text(Path(path), json.dumps(as_json(golden), ensure_ascii=False, indent=2) + "\n")
