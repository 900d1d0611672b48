"""A calibration as an artefact: the figures, the fit, and the space that both belong to."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twolane.evaluation.ablation_files import store
from twolane.evaluation.calibration import Calibration, Threshold
from twolane.evaluation.fingerprints import ranking_code
from twolane.evaluation.running import machine
from twolane.evaluation.text_files import write_text
from twolane.relevance import fit_json, fits_text
from twolane.relevance_files import fits_in

FORMAT = "twolane-calibration/2"


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


def adopt(calibration: Calibration, file: Path) -> None:
    """Put the fits where searches find them, in place of those that the space had there."""
    fits = fits_in(file).with_space(calibration.fits, calibration.lexical)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, fits_text(fits))


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
        "fits": {
            "hybrid": fit_json(calibration.fits.hybrid),
            "semantic": fit_json(calibration.fits.semantic),
            "lexical": fit_json(calibration.lexical) if calibration.lexical else None,
        },
    }


def _threshold(one: Threshold) -> dict[str, float]:
    return {
        "similarity": one.similarity,
        "recall": one.recall,
        "false_positives": one.false_positives,
        "j": one.j,
    }
