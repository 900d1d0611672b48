"""Write the page that shows what XQuAD says; no figure on it is written by hand.

    python benchmarks/xquad_page.py [--check]

Takes every `benchmarks/results/xquad-*.json`, which `benchmarks/xquad.py figures` writes, and
writes `docs/reference/xquad.md`.
With `--check` it writes nothing, and exits with 1 if the page is not what the results say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import markdown_table, share, written_or_checked

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "reference" / "xquad.md"

Result = Mapping[str, Any]

_OPENING = """# Search across languages

<!-- Written by `python benchmarks/xquad_page.py` from benchmarks/results; do not edit. -->

[XQuAD](https://github.com/google-deepmind/xquad) has the same 240 paragraphs and 1,190 questions \
in several languages (Artetxe, Ruder and Yogatama, ACL 2020; CC BY-SA 4.0).
Every paragraph is a note in each language, without a title, all in one index, and every question \
is asked in each language.
To repeat this, with the files `xquad.en.json` and so on of that repository in FOLDER:

```
python benchmarks/xquad.py notes FOLDER OUT --languages en,ru
twolane eval run OUT/xquad-en-ru.json
python benchmarks/xquad.py figures eval-runs/RUN.json benchmarks/results/xquad-en-ru-use.json
python benchmarks/xquad_page.py
```

Stored runs hold the questions; keep them out of what you publish under another licence.

nDCG@10 counts every language version of the right paragraph.
R@1 and R@10 from one language to another count only the version in that other language, while \
the versions in all languages compete for the ranks.
Intervals are of 95 %, by bootstrap over the questions.

XQuAD is development data here: ideas were kept or dropped by every second question in English \
and Russian ([what was tried](../explanation/ranking-model.md)), so these figures are \
better than those on data that nobody has looked at.
German, Spanish and Chinese were not chosen by, but their questions are the same ones.
"""

_EMBEDDERS = {"none": "words alone", "use": "`use`", "e5": "`e5`", "ensemble": "`ensemble`"}


def main(arguments: Sequence[str]) -> int:
    """Write or check the page; return the exit code."""
    made = page(results(RESULTS))
    return written_or_checked(PAGE, made, "benchmarks/xquad_page.py", arguments)


def results(folder: Path) -> list[Result]:
    """All stored figures, by set and embedder."""
    found = [json.loads(file.read_text("utf-8")) for file in folder.glob("xquad-*.json")]
    order = list(_EMBEDDERS)
    return sorted(
        found,
        key=lambda one: (-one["name"].count("ru"), one["name"], order.index(one["embedder"])),
    )


def page(found: Sequence[Result]) -> str:
    """The page that shows these figures."""
    parts = [_OPENING]
    for name in dict.fromkeys(one["name"] for one in found):
        rows = [one for one in found if one["name"] == name]
        languages = [row["language"] for row in rows[0]["by_language"]]
        parts += [f"## {', '.join(languages)} in one index\n", _overall(rows), _directions(rows)]
    parts += ["## What it ran on\n", _setup(found)]
    return "\n".join(parts)


def _overall(rows: Sequence[Result]) -> str:
    lines = []
    for row in rows:
        figures = [_interval(row["overall"][name]) for name in ("ndcg@10", "recall@10", "mrr")]
        lines.append([_EMBEDDERS[row["embedder"]], f"{row['queries']:,}", *figures])
    return markdown_table(["embedder", "questions", "nDCG@10", "Recall@10", "MRR"], lines)


def _directions(rows: Sequence[Result]) -> str:
    heads = [f"{_EMBEDDERS[row['embedder']]} {k}" for row in rows for k in ("R@1", "R@10")]
    lines = []
    for place, first in enumerate(rows[0]["recall"]):
        figures = [
            share(row["recall"][place][name]) for row in rows for name in ("recall@1", "recall@10")
        ]
        lines.append([f"{first['from']}→{first['to']}", *figures])
    return markdown_table(["", *heads], lines)


def _setup(found: Sequence[Result]) -> str:
    lines = [
        [
            one["name"],
            _EMBEDDERS[one["embedder"]],
            one["started"][:10],
            one["commit"] or "no commit",
            f"{one['ms']['p50']:.0f} ms",
        ]
        for one in found
    ]
    table = markdown_table(["set", "embedder", "day", "commit", "median of a query"], lines)
    return f"{table}\nThe machine was busy with other work, so the times say little.\n"


def _interval(one: Mapping[str, float]) -> str:
    return f"{share(one['estimate'])} [{share(one['low'])}, {share(one['high'])}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
