"""What a kept result depends on, as digests: the code that made it and the golden set.

A figure that was measured with other code is another figure, so nothing is used again
across a change of it; versions that people raise by hand are forgotten now and then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import twolane
from twolane.evaluation.golden_json import as_json
from twolane.evaluation.golden_values import GoldenSet

# These neither read notes nor rank them.
OUTSIDE = frozenset({"__main__", "evaluation", "interfaces", "sample_vault"})

# These only answer: a change of theirs leaves every index as it is.
# What is not listed counts as code that makes an index, so that forgetting a module costs
# time and never a wrong figure.
ANSWERING = frozenset(
    {
        "answers",
        "counterparts",
        "fusion",
        "highlighting",
        "lanes",
        "query",
        "results",
        "scoring",
        "search",
    }
)

_SOURCES = {".py", ".sql"}


@lru_cache(maxsize=1)
def ranking_code() -> str:
    """A name for the code that decides what a search answers."""
    return sources_digest(_package(), OUTSIDE)


@lru_cache(maxsize=1)
def analysis_code() -> str:
    """A name for the code that decides what an index holds."""
    return sources_digest(_package(), OUTSIDE | ANSWERING)


def sources_digest(folder: Path, without: Collection[str]) -> str:
    """A digest of the version and of all source files below the folder.

    `without` names the modules and packages directly below it that do not count.
    """
    code = hashlib.blake2b(twolane.__version__.encode(), digest_size=16)
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.suffix in _SOURCES and place.with_suffix("").parts[0] not in without:
            content = path.read_bytes()
            # The lengths keep one file's end apart from the next one's beginning.
            code.update(f"{place.as_posix()} {len(content)} ".encode())
            code.update(content)
    return code.hexdigest()


def golden_digest(golden: GoldenSet) -> str:
    """A name for everything a golden set says."""
    return twolane.digest(json.dumps(as_json(golden), sort_keys=True))


def _package() -> Path:
    return Path(twolane.__file__).parent
