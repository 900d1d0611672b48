"""What a poor reranker does to the order: off, blended, blended with a fitted weight, replacing.

    python benchmarks/reranking.py OUT

The reranker is the small cross-encoder of the tests: it counts which words of the query a passage
holds, and knows neither meaning nor another language.
It shows that a reranker which knows little is held back by its weight, and what it would do if it
ordered alone; nothing of what a good one is worth.
Weights are fitted on the `dev` halves of our own golden sets and measured on the `test` halves.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from twolane import Settings
from twolane.evaluation.files import write_text
from twolane.evaluation.fits import adopt, ask_set, fit_again
from twolane.evaluation.golden import as_references
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench, ranking_code
from twolane.evaluation.metrics import measure
from twolane.evaluation.runs import Asked, machine, run_golden
from twolane.ranking.model_files import known_model

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.cross_encoder import export_cross_encoder  # noqa: E402

SETS = ("short", "long", "lexical", "typo", "help-en", "help-ru")
MEASURE = "ndcg@10"


def main(out: Path) -> None:
    """Measure every way on every set, and keep the means."""
    with tempfile.TemporaryDirectory(prefix="twolane-rerank-") as folder:
        room = Path(folder)
        texts = [path.read_text("utf-8") for path in sorted((HERE / "vaults").rglob("*.md"))]
        tiny = export_cross_encoder(room / "tiny", texts, window=256, vocabulary=8000)
        given = {
            "embedding.embedder": "use",
            "cache": str(room),
            "ranking.model_file": str(room / "none.json"),
            "search.query_seconds": 120.0,
            "rerank.reranker": "onnx",
            "rerank.model": str(tiny),
            "rerank.seconds": 50.0,
        }
        on = Settings.load(given, environment={}).settings
        asked = []
        for name in SETS:
            file = HERE / "golden" / f"{name}.dev.json"
            golden = load_golden(file)
            with bench(golden, file, on, room / "indexes") as library:
                asked.append(ask_set(golden, library))
        fit = fit_again(asked, known_model(on))
        adopt(fit, room / "fitted.json")
        fitted = on.changed(ranking={"model_file": room / "fitted.json"})
        ways = {
            "off": on.changed(rerank={"reranker": "none"}),
            "weight 0.2": on,
            "replaces, passages of 512 characters": on.changed(experiment={"reranking": "replace"}),
            "replaces, whole documents": on.changed(experiment={"reranking": "replace-whole"}),
            "fitted weights, off": fitted.changed(rerank={"reranker": "none"}),
            "fitted weights": fitted,
        }
        means = {way: _means(settings, room) for way, settings in ways.items()}
    document = {
        "format": "twolane-reranking/1",
        "measure": MEASURE,
        "code": ranking_code(),
        "machine": dict(machine()),
        "queries": {name: len(load_golden(_test(name)).queries) for name in SETS},
        "means": means,
    }
    write_text(out, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def _means(settings: Settings, room: Path) -> dict[str, float]:
    means = {}
    for name in SETS:
        golden = load_golden(_test(name))
        with bench(golden, _test(name), settings, room / "indexes") as library:
            run = run_golden(golden, library)
        grades = {query.id: query.grades for query in golden.queries if not query.unanswerable}
        if any(one.degraded for one in run.asked):
            raise RuntimeError(f"{name} was answered without the reranker")
        means[name] = round(
            fmean(_figure(one, grades[one.id]) for one in run.asked if one.id in grades),
            4,
        )
    print(means, flush=True)
    return means


def _figure(asked: Asked, grades: Mapping[str, int]) -> float:
    found = as_references([place.path for place in asked.ranking], grades)
    return measure(MEASURE).of(found, grades)


def _test(name: str) -> Path:
    return HERE / "golden" / f"{name}.test.json"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
