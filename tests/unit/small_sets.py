"""A small vault in two languages with a golden set, for tests of the evaluation."""

from __future__ import annotations

import json
from pathlib import Path

from twolane import Settings
from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.evaluation.golden_formats import save_golden

NOTES = {
    "tomatoes.md": "# Tomatoes\n\nPinch out the side shoots of tomatoes every week in June.\n",
    "compost.md": "# Compost\n\nWorms turn leaves and grass into dark soil by spring.\n",
    "tea.md": "# Green tea\n\nSteep green tea at eighty degrees, never with boiling water.\n",
    "bread.md": "# Bread\n\n## Starter\n\nFeed the starter twice a day with flour and water.\n",
    "чай.md": "# Зелёный чай\n\nЗаваривать зелёный чай водой восемьдесят градусов.\n",
    "хлеб.md": "# Хлеб\n\nЗакваску кормить мукой и водой два раза в день.\n",
}

QUERIES = (
    GoldenQuery("q1", "side shoots of tomatoes", relevant=("tomatoes.md",), direction="en→en"),
    GoldenQuery("q2", "worms in dark soil", relevant=("compost.md",), direction="en→en"),
    GoldenQuery("q3", "steep green tea", relevant=("tea.md", "чай.md"), direction="en→en"),
    GoldenQuery("q4", "feed the starter with water", relevant=("bread.md",), direction="en→en"),
    GoldenQuery("q5", "зелёный чай", relevant=("чай.md",), partial=("tea.md",), direction="ru→ru"),
    GoldenQuery("q6", "чем кормить закваску", relevant=("хлеб.md",), direction="ru→ru"),
    GoldenQuery("q7", "grass and leaves", relevant=("compost.md",), direction="en→en"),
    GoldenQuery("q8", "violin strings", unanswerable=True),
)


def small_set(folder: Path, name: str = "small") -> tuple[Path, GoldenSet]:
    """The vault under the folder, and the file and value of its golden set."""
    for path, text in NOTES.items():
        note = folder / "vault" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, "utf-8")
    golden = GoldenSet(name, vault="vault", queries=QUERIES)
    file = folder / f"{name}.json"
    save_golden(golden, file)
    return file, golden


def quick(**changes: object) -> Settings:
    """The default settings with the embedder that needs no model."""
    return Settings(embedding={"embedder": "hashing"}).changed(**changes)


def written(folder: Path, data: object, name: str = "set.json") -> Path:
    """A file with this text, or with this value as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    path.write_text(text, "utf-8")
    return path
