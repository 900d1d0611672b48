"""Ask 30 everyday queries of a bilingual vault of 500 notes, and say which first results are right.

    python benchmarks/everyday.py

The vault is made of the project's own notes, of `everyday_notes.txt`, and of logs as people keep
them: many notes that say nearly the same.
`everyday.json` holds the queries, what each one is after, and which first results are right; it was
written before any result was seen, and `added` names what was accepted by eye afterwards.
What was found goes to `benchmarks/results/everyday-COMMIT.json`.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import machine
from twolane import Library, Settings

HERE = Path(__file__).resolve().parent
VAULTS = {
    **{name: HERE / "vaults" / name for name in ("desk", "help-en", "help-ru", "long", "short")},
    "sample": machine.SOURCE / "sample_vault",
}
SHOWN = 3


def main() -> int:
    """Ask them all; the exit code is 1 if fewer than 27 first results are right."""
    with tempfile.TemporaryDirectory(prefix="twolane-everyday-") as folder:
        vault = Path(folder, "vault")
        count = write_vault(vault)
        settings = Settings()
        with Library.open(Path(folder, "notes.db"), settings=settings) as library:
            library.index(vault)
            library.embed()
            languages = dict(library.facets().languages)
            rows = [
                _asked(library, one) for one in json.loads((HERE / "everyday.json").read_text())
            ]
    right = sum(row["right"] for row in rows)
    for row in rows:
        print("  " if row["right"] else "✗ ", f"{row['query']:40} {row['results'][0]['path']}")
    print(f"{right} of {len(rows)} first results are right, over {count} notes in {languages}")
    code = machine.code()
    told = {
        "name": "everyday",
        "command": "python benchmarks/everyday.py",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code,
        "summary": {"notes": count, "languages": languages, "queries": len(rows), "right": right},
        "rows": rows,
    }
    file = HERE / "results" / f"everyday-{code['commit']}.json"
    file.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return int(right < 27)


def write_vault(folder: Path) -> int:
    """Put all notes below a folder; how many there are."""
    for name, vault in VAULTS.items():
        shutil.copytree(vault, folder / name)
    for line in (HERE / "everyday_notes.txt").read_text("utf-8").splitlines():
        path, title, text = line.split(" | ")
        _write(folder / "more" / f"{path}.md", title, text)
    for number in range(48):
        _write_logs(folder / "log", number)
    return sum(1 for _ in folder.rglob("*.md"))


def _write_logs(folder: Path, number: int) -> None:
    """A week as it is planned and a month as it is metered, one after the other."""
    monday = date(2024, 1, 1) + timedelta(weeks=number)
    tasks = ("call the bank", "answer Jonas", "book the dentist", "pay the rent", "clean the oven")
    plan = ", ".join(tasks[(number + step) % len(tasks)] for step in range(3))
    _write(
        folder / f"week {monday}.md", f"Week of {monday}", f"Plan: {plan}. Run {number % 4} times."
    )
    month = f"{2021 + number // 12}-{number % 12 + 1:02}"
    text = (
        f"Холодная вода {310 + 7 * number}, горячая {140 + 4 * number}, свет {5200 + 190 * number}."
    )
    _write(folder / f"показания {month}.md", f"Показания счётчиков {month}", text)


def _write(file: Path, title: str, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# {title}\n\n{text}\n", "utf-8")


def _asked(library: Library, one: dict[str, Any]) -> dict[str, Any]:
    found = library.search(one["query"], limit=SHOWN).results
    results = [
        {"path": each.path, "title": each.title, "relevance": round(each.relevance or 0, 3)}
        for each in found
    ]
    accepted = [*one["right"], *one.get("added", ())]
    right = bool(results) and results[0]["path"] in accepted
    return {"query": one["query"], "need": one["need"], "right": right, "results": results}


if __name__ == "__main__":
    sys.exit(main())
