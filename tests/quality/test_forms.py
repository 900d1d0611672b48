"""What forms leave of the meaning of notes, in a vault that is filled in from a template."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.builders import indexed_library
from twolane.ingest.chunking import embedded_text

VAULT = Path(__file__).parents[2] / "benchmarks" / "vaults" / "short"
HEAD = re.compile(r"(?s)(---\n.*?\n---\n+)?(# [^\n]*\n+)?")
ENGLISH = (
    "Date:\nMood:\nAttendees:\n\n- [ ] Review yesterday's notes\n- [ ] Water the plants\n\n",
    "\n\n---\n\nYou may copy and share this note if you name the author. See LICENSE.\n",
)
RUSSIAN = (
    "Дата:\nНастроение:\nУчастники:\n\n- [ ] Просмотреть записи\n- [ ] Полить цветы\n\n",
    "\n\n---\n\nЭту заметку можно копировать, если назвать автора. Текст лежит в LICENSE.\n",
)


def filled_in(folder: Path, template: tuple[str, str], *, every: int, values: bool) -> Path:
    """The vault with a form above and a footer below every so many notes."""
    root = folder / VAULT.name
    shutil.copytree(VAULT, root)
    for number, file in enumerate(sorted(root.rglob("*.md"))):
        if number % every:
            continue
        form, footer = template
        if values:
            form = form.replace(":\n", f": value {number}, more {number % 7}\n")
        text = file.read_text("utf-8").rstrip()
        head = HEAD.match(text)
        at = head.end() if head else 0
        file.write_text(f"{text[:at]}{form}{text[at:]}{footer}", "utf-8")
    return root


def embedded(root: Path, db: Path) -> dict[str, list[str]]:
    """What is embedded for each note, passage by passage."""
    with indexed_library(root, db) as library:
        return {
            one.id: [
                embedded_text(
                    one.title, chunk.headings, one.body[chunk.start : chunk.end], chunk.boilerplate
                )
                for chunk in library.chunks(one)
            ]
            for one in library.documents()
        }


@pytest.mark.parametrize(
    ("template", "every", "values"),
    [(ENGLISH, 1, False), (RUSSIAN, 1, True), (ENGLISH, 5, True), (RUSSIAN, 5, False)],
)
def test_a_form_leaves_no_trace_in_meaning(
    tmp_path: Path, template: tuple[str, str], every: int, values: bool
) -> None:
    """What is embedded is what the author wrote, so that notes rank as they do without a form.

    Only a passage that the form makes too long is cut in two.
    """
    root = filled_in(tmp_path, template, every=every, values=values)
    as_written = embedded(VAULT, tmp_path / "plain.db")
    found = embedded(root, tmp_path / "forms.db")
    same = [id for id, texts in as_written.items() if texts == found[id]]
    cut = [id for id, texts in as_written.items() if len(texts) < len(found[id])]
    assert len(same) + len(cut) == len(as_written)
    assert len(cut) <= 0.15 * len(as_written)
