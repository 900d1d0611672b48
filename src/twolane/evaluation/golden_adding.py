"""One query more in a golden set: asked, judged and kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from twolane.errors import BadGoldenSet
from twolane.evaluation.golden import FORMAT, GoldenQuery, GoldenSet, load_golden, validate
from twolane.evaluation.text_files import read_text

_NUMBERED = re.compile(r".*?([0-9]+)")


@dataclass(frozen=True, slots=True)
class Judged:
    """A query as somebody judged it."""

    query: str
    relevant: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    unanswerable: bool = False
    lang: str | None = None
    direction: str | None = None
    category: str | None = None


def open_set(path: Path, vault: str | None) -> GoldenSet:
    """The set in the file, or a new one; only our own format can be added to."""
    if not path.exists():
        return GoldenSet(name=path.stem, vault=vault)
    golden = load_golden(path)
    if path.is_dir() or not _is_ours(read_text(path)):
        problem = f"queries can only be added to the format {FORMAT}; start a new file"
        raise BadGoldenSet(path.name, [problem])
    return golden


def with_query(golden: GoldenSet, judged: Judged) -> GoldenSet:
    """The set with one query more; whoever judged it has looked, so it counts as verified.

    Raises `BadGoldenSet` if the set is not sound then: if it asks the same twice, for example.
    """
    query = GoldenQuery(
        id=_next_id(golden),
        query=judged.query,
        relevant=judged.relevant,
        partial=judged.partial,
        unanswerable=judged.unanswerable,
        lang=judged.lang,
        direction=judged.direction,
        category=judged.category,
        verified=True,
    )
    longer = replace(golden, queries=(*golden.queries, query))
    validate(longer)
    return longer


def _is_ours(text: str) -> bool:
    try:
        held = json.loads(text)
    except ValueError:  # Judgments of TREC or BEIR are no JSON.
        return False
    return isinstance(held, dict) and held.get("format") == FORMAT


def _next_id(golden: GoldenSet) -> str:
    numbers = [
        int(found[1]) for query in golden.queries if (found := _NUMBERED.fullmatch(query.id))
    ]
    return f"{golden.name}-{max(numbers, default=0) + 1:03}"
