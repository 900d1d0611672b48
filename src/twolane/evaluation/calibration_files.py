"""A calibration as an artefact: the figures, the fit, and the space that both belong to."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twolane.errors import BadInput
from twolane.evaluation.ablation_files import store
from twolane.evaluation.calibration import Calibration, Threshold
from twolane.evaluation.fingerprints import ranking_code
from twolane.evaluation.relevance_fit import Fit, fit_from_json
from twolane.evaluation.running import machine
from twolane.evaluation.text_files import read_text

FORMAT = "twolane-calibration/1"


def save_calibration(calibration: Calibration, folder: Path) -> Path:
    """Write the calibration into the folder under a name of its own."""
    now = datetime.now(UTC)
    document = {
        "format": FORMAT,
        "created": now.isoformat(timespec="seconds"),
        "code": ranking_code(),
        "machine": dict(machine()),
        **as_json(calibration),
    }
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    return store(text, folder, f"calibration-{calibration.space.embedder}", now)


def load_fit(path: Path, fingerprint: str) -> Fit:
    """The fit of a calibration; refused if it belongs to another space."""
    try:
        document = json.loads(read_text(path))
        space = document["space"]["fingerprint"]
        kept = document["fit"]
        known = document["format"] == FORMAT
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no calibration ({error}); calibrate again") from error
    if not known or space != fingerprint:
        raise BadInput(f"{path} was made for another space or version; calibrate again")
    return fit_from_json(kept)


def as_json(calibration: Calibration) -> dict[str, Any]:
    """What was found, in plain values."""
    space = calibration.space
    return {
        "space": {
            "fingerprint": space.fingerprint,
            "embedder": space.embedder,
            "model": space.model,
            "revision": space.revision,
            "dimensions": space.dimensions,
        },
        "sets": [
            {
                "name": one.golden,
                "queries": one.queries,
                "corpus": one.corpus,
                "relevant_pairs": len(one.relevant) + one.unseen[0],
                "irrelevant_pairs": len(one.irrelevant) + one.unseen[1],
                "unseen": list(one.unseen),
                "results": len(one.judged),
            }
            for one in calibration.samples
        ],
        "histogram": [
            {"from": low, "to": high, "relevant": found, "irrelevant": others}
            for low, high, found, others in calibration.histogram
        ],
        "quantiles": [
            {"share": share, "relevant": round(found, 6), "irrelevant": round(others, 6)}
            for share, found, others in calibration.quantiles
        ],
        "proposed": _threshold(calibration.proposed),
        "careful": [_threshold(one) for one in calibration.careful],
        "reliability": {
            one.name: {**asdict(one.reliability), "answerable_auroc": one.answerable}
            for one in calibration.rated
        },
        "best": calibration.best,
        "fit": calibration.fit.as_json(),
    }


def _threshold(one: Threshold) -> dict[str, float]:
    return {
        "similarity": one.similarity,
        "recall": one.recall,
        "false_positives": one.false_positives,
        "j": one.j,
    }
