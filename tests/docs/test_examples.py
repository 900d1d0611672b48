"""What the documents show is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import generate
from tests.docs.pages import DOCS, ROOT, blocks, out_of_date, read

PYTHON = [
    ROOT / "README.md",
    *sorted((DOCS / "tutorial").glob("*.md")),
    *sorted((DOCS / "howto").glob("*.md")),
    *sorted((DOCS / "explanation").glob("*.md")),
]


def name(page: Path) -> str:
    """The page as it is called in reports."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in generate.pages() if page != generate.SETTINGS_PAGE], ids=name
)
def test_transcripts_are_true(page: Path, cache: Path) -> None:
    """Each command prints what its page shows; `python docs/generate.py` brings it up to date."""
    assert generate.updated(read(page), cache) == read(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PYTHON if blocks(read(page), "python")], ids=name
)
def test_python_examples_run(page: Path, cache: Path) -> None:
    """The examples of a page run one after the other, each in a program of its own."""
    with generate.home(cache, indexed=False) as shell:
        for number, example in enumerate(blocks(read(page), "python")):
            (shell.home / f"example{number}.py").write_text(example, "utf-8")
            shell.run(f"python -W error example{number}.py")


@pytest.mark.slow
def test_the_guide_to_judging_works_with_imports(cache: Path) -> None:
    """Every command of the guide, as it is written, over two folders and imported bookmarks."""
    with generate.home(cache, indexed=True) as shell:
        for path, text in {
            "notes/Pumpkin soup.md": "# Pumpkin soup\n\nRoast the pumpkin first.\n",
            "notes/garden/garlic.md": "# Garlic\n\nPlant the cloves in October.\n",
            "work/Orchid.md": "# Orchid\n\nThe project is called Orchid.\n",
            "saved.jsonl": '{"id": "tea", "title": "Green tea", "body": "Eighty degrees."}\n',
        }.items():
            (shell.home / path).parent.mkdir(exist_ok=True)
            (shell.home / path).write_text(text, "utf-8")
        shell.run("twolane index notes work && twolane import jsonl saved.jsonl")
        for block in blocks(read(DOCS / "howto" / "judge-a-change.md"), "sh"):
            for command in block.splitlines():
                shell.run(command)


def test_the_readme_begins_with_a_picture_and_three_commands() -> None:
    """After one sentence a reader sees the program, and how to have it."""
    title, sentence, picture, commands = read(ROOT / "README.md").split("\n\n")[:4]
    assert title.startswith("# ")
    assert "\n" not in sentence
    assert picture.startswith("![")
    assert commands.startswith("```sh\n")
    assert len(commands.splitlines()) == 5


def test_the_readme_compares_with_peers_as_measured() -> None:
    """Table and chart are those of the stored comparison, and the long tables are elsewhere."""
    assert out_of_date("baselines.py") == ""
    assert read(ROOT / "README.md").count("|---|") == 1


def test_the_example_of_the_library_is_short() -> None:
    """Eight lines are enough to index and search."""
    (example,) = blocks(read(ROOT / "README.md"), "python")
    assert len(example.splitlines()) <= 8


class TestComparison:
    """When an output counts as what a page shows."""

    @pytest.mark.parametrize(
        ("shown", "printed"),
        [
            ("27 indexed in 0.1 s", "27 indexed in 12.9 s\n"),
            ("done; 2.0 s in all", "done; 11 s in all\n"),
            ("dense  16.1 ms", "dense  160.9 ms\n"),
            ("database (0.7 MB)", "database (1.2 MB)\n"),
            ("score 0.03279", "score 0.03278\n"),
            ("a\n[...]\nd", "a\nb\nc\nd\n"),
            ("a\n[...]", "a\n"),
            ("", ""),
        ],
    )
    def test_what_may_differ(self, shown: str, printed: str) -> None:
        """Durations, sizes, the last digits of scores, and what is left out."""
        assert generate.agrees(shown, printed)

    @pytest.mark.parametrize(
        ("shown", "printed"),
        [
            ("27 indexed in 0.1 s", "26 indexed in 0.1 s\n"),
            ("score 0.03279", "score 0.01639\n"),
            ("a", "b\n"),
            ("a", "a\nb\n"),
            ("a\nb", "a\n"),
            ("a\n[...]\nd", "a\nb\n"),
            ("", "error\n"),
            ("a.b", "axb\n"),
        ],
    )
    def test_what_may_not_differ(self, shown: str, printed: str) -> None:
        """Everything else."""
        assert not generate.agrees(shown, printed)
