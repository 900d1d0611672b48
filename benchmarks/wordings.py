"""What the other wordings of a query are worth that a calling agent supplies.

    python benchmarks/wordings.py COLLECTIONS CACHE OUT

COLLECTIONS is a folder of BEIR folders, none of which is part of this project; CACHE is where
their indexes are kept, OUT the file of the result.
The wordings (`phrasings/fields.jsonl`) were written from the queries alone, before any ranking of
them was seen; queries and documents are named by their ids.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from twolane import Library, Settings
from twolane.evaluation.calibration import names_by_id
from twolane.evaluation.files import write_text
from twolane.evaluation.golden import GoldenQuery, as_references
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench, ranking_code
from twolane.evaluation.metrics import measure
from twolane.evaluation.runs import machine
from twolane.evaluation.significance import mean_interval
from twolane.ranking.model import WORDING_WEIGHTS
from twolane.ranking.phrasings import Phrasings

FIELDS = Path(__file__).parent / "phrasings" / "fields.jsonl"
NAMES = ("short_query", "rephrased_query", "expected_answer")


def main(collections: Path, cache: Path, out: Path) -> None:
    """Ask every query plainly, with each wording, and with all of them."""
    wordings: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in FIELDS.read_text("utf-8").splitlines():
        one = json.loads(line)
        wordings[one["set"]].append(one)
    settings = Settings.load({"embedding.embedder": "use"}, environment={}).settings
    rows = []
    for name, fields in wordings.items():
        golden = load_golden(collections / name)
        queries = {query.id: query for query in golden.queries}
        with bench(golden, collections / name, settings, cache) as library:
            called = names_by_id(library)
            rows += [
                {"set": name, "query": one["query"]}
                | _asked(library, called, queries[one["query"]], one)
                for one in fields
            ]
        print(name, _means([row for row in rows if row["set"] == name]), flush=True)
    gains = [row["all"] - row["plain"] for row in rows]
    interval = mean_interval(gains)
    document = {
        "format": "twolane-wordings/1",
        "measure": "ndcg@10",
        "code": ranking_code(),
        "machine": dict(machine()),
        "weights": {feature.value: weight for feature, weight in WORDING_WEIGHTS.items()},
        "means": _means(rows),
        "gain": {"mean": fmean(gains), "low": interval.low, "high": interval.high},
        "better": sum(gain > 0 for gain in gains),
        "worse": sum(gain < 0 for gain in gains),
        "rows": rows,
    }
    write_text(out, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    print(document["means"], document["gain"])


def _asked(
    library: Library, called: Mapping[str, str], query: GoldenQuery, one: dict[str, str]
) -> dict[str, float]:
    given: dict[str, Phrasings | None] = {
        "plain": None,
        "all": Phrasings(*(one[name] for name in NAMES)),
    }
    given |= {name: Phrasings(**{name: one[name]}) for name in NAMES}
    figures = {}
    for name, phrasings in given.items():
        answer = library.search(query.query, limit=100, phrasings=phrasings)
        found = as_references([called[result.id] for result in answer.results], query.grades)
        figures[name] = round(measure("ndcg@10").of(found, query.grades), 4)
    return figures


def _means(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = ("plain", *NAMES, "all")
    return {name: round(fmean(row[name] for row in rows), 4) for name in names}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
