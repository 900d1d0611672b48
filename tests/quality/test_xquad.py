"""XQuAD: parallel paragraphs become notes, parallel questions become queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.xquad import directional_recall, main, write_notes

from tests.unit.small_sets import quick
from twolane import Mode
from twolane.evaluation.golden import validate
from twolane.evaluation.golden_formats import load_golden
from twolane.evaluation.indexes import bench
from twolane.evaluation.runs import Asked, Place, Run, run_golden, save_run
from twolane.model.errors import BadInput

# Made up: two articles with three paragraphs and five questions in all.
TEXTS: dict[str, list[tuple[str, list[str]]]] = {
    "en": [
        ("The mill was built of oak.", ["What was the mill built of?", "What was built of oak?"]),
        ("Its wheel turned until autumn.", ["Until when did the wheel turn?"]),
        ("Bees sleep in winter.", ["When do bees sleep?", "Who sleeps in winter?"]),
    ],
    "ru": [
        (
            "\ufeffМельница построена из дуба.",
            ["Из чего построена мельница?", "Что построено из дуба?"],
        ),
        ("Её колесо крутилось до осени.", ["До каких пор крутилось колесо?"]),
        ("Пчёлы спят зимой.", ["Когда спят пчёлы?", "Кто спит зимой?"]),
    ],
}


def written(folder: Path, texts: dict[str, list[tuple[str, list[str]]]] | None = None) -> Path:
    """A folder with files of the shape that XQuAD has."""
    folder.mkdir(exist_ok=True)
    for language, paragraphs in (texts or TEXTS).items():
        shaped: list[dict[str, Any]] = [
            {
                "context": text,
                "qas": [
                    {
                        "id": f"{number}{letter}",
                        "question": question,
                        "answers": [{"text": "x", "answer_start": 0}],
                    }
                    for letter, question in zip("abc", questions, strict=False)
                ],
            }
            for number, (text, questions) in enumerate(paragraphs, start=1)
        ]
        articles = [
            {"title": "The_mill", "paragraphs": shaped[:2]},
            {"title": "Bees", "paragraphs": shaped[2:]},
        ]
        file = folder / f"xquad.{language}.json"
        file.write_text(json.dumps({"version": "1.1", "data": articles}), "utf-8")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The made-up files in English and Russian."""
    return written(tmp_path / "xquad")


def test_paragraphs_become_notes_without_titles(source: Path, tmp_path: Path) -> None:
    """Each paragraph is one file per language, its text alone: a title would answer questions."""
    golden = load_golden(write_notes(source, ["en", "ru"], tmp_path / "made"))
    vault = tmp_path / "made" / "notes"
    files = sorted(vault.rglob("*.md"))
    assert [file.relative_to(vault).as_posix() for file in files] == [
        f"{language}/000{number}.md" for language in ("en", "ru") for number in (1, 2, 3)
    ]
    assert files[0].read_text("utf-8") == "The mill was built of oak.\n"
    assert files[3].read_text("utf-8") == "Мельница построена из дуба.\n"
    assert not any("#" in file.read_text("utf-8") for file in files)
    assert golden.vault == "notes"


def test_questions_become_queries_in_each_language(source: Path, tmp_path: Path) -> None:
    """All language versions of the paragraph are relevant to the question in each language."""
    golden = load_golden(write_notes(source, ["en", "ru"], tmp_path / "made"))
    validate(golden)
    assert len(golden.queries) == 10
    by_id = {query.id: query for query in golden.queries}
    asked = by_id["2a-ru"]
    assert asked.query == "До каких пор крутилось колесо?"
    assert asked.relevant == ("en/0002.md", "ru/0002.md")
    assert (asked.lang, asked.direction) == ("ru", "ru")


def test_every_nth_question_is_the_same_in_each_language(source: Path, tmp_path: Path) -> None:
    """A sample asks parallel questions, over all notes."""
    golden = load_golden(write_notes(source, ["en", "ru"], tmp_path / "made", every=2))
    assert [query.id for query in golden.queries] == [
        "1a-en", "1a-ru", "2a-en", "2a-ru", "3b-en", "3b-ru",
    ]  # fmt: skip
    assert len(list((tmp_path / "made" / "notes").rglob("*.md"))) == 6


def test_a_question_asked_twice_counts_once(tmp_path: Path) -> None:
    """A question that two paragraphs share has no one answer, so its repetition is left out."""
    texts = {
        "en": [("One.", ["What is it?"]), ("Two.", ["what IS it?"]), ("Three.", ["Which?"])],
    }
    made = write_notes(written(tmp_path / "x", texts), ["en"], tmp_path / "made")
    golden = load_golden(made)
    assert [query.id for query in golden.queries] == ["1a-en", "3a-en"]


def test_notes_are_written_once(source: Path, tmp_path: Path) -> None:
    """A second time touches no note, so nothing is indexed again; a changed text is written."""
    note = write_notes(source, ["en", "ru"], tmp_path).parent / "notes" / "en" / "0001.md"
    before = note.stat().st_mtime_ns
    write_notes(source, ["en", "ru"], tmp_path, every=2)
    assert note.stat().st_mtime_ns == before
    written(source, {**TEXTS, "en": [("Elm.", ["a?", "b?"]), *TEXTS["en"][1:]]})
    write_notes(source, ["en", "ru"], tmp_path)
    assert note.read_text("utf-8") == "Elm.\n"


def test_figures_hold_no_text(source: Path, tmp_path: Path) -> None:
    """The figures can be published: what was measured, with what, and no question or note."""
    assert main(["notes", str(source), str(tmp_path)]) == 0
    file = tmp_path / "xquad-en-ru.json"
    golden = load_golden(file)
    with bench(golden, file, quick(), tmp_path / "cache") as library:
        save_run(run_golden(golden, library, mode=Mode.LEXICAL), tmp_path / "run.json")
    assert main(["figures", str(tmp_path / "run.json"), str(tmp_path / "figures.json")]) == 0
    text = (tmp_path / "figures.json").read_text("utf-8")
    figures = json.loads(text)
    assert (figures["name"], figures["mode"], figures["queries"]) == ("xquad-en-ru", "lexical", 10)
    recalls = {(row["from"], row["to"]): row["recall@10"] for row in figures["recall"]}
    assert recalls["en", "en"] == recalls["ru", "ru"] == 1.0
    assert recalls["en", "ru"] == recalls["ru", "en"] == 0.0
    assert figures["overall"]["ndcg@10"]["estimate"] < 1
    assert [row["language"] for row in figures["by_language"]] == ["en", "ru"]
    assert not any(query.query in text for query in golden.queries)


def test_mistakes_end_with_a_message(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A language without a file is named on the command line, too."""
    assert main(["notes", str(source), str(tmp_path), "--languages", "en,de"]) == 2
    assert "no xquad.de.json" in capsys.readouterr().err


def test_recall_by_direction(source: Path, tmp_path: Path) -> None:
    """From each language to each, only the version in the target language is sought."""
    golden = load_golden(write_notes(source, ["en", "ru"], tmp_path / "made", every=4))
    assert [query.id for query in golden.queries] == ["1a-en", "1a-ru", "3b-en", "3b-ru"]
    rankings = {
        "1a-en": ["en/0001.md", "ru/0001.md"],
        "3b-en": ["en/0003.md", "en/0001.md", "en/0002.md"],
        "1a-ru": ["en/0001.md", "ru/0002.md", "ru/0001.md"],
        "3b-ru": [],
    }
    run = Run(
        name="made up",
        golden=golden,
        mode="hybrid",
        settings={},
        asked=tuple(
            Asked(query.id, 1.0, tuple(Place(path, 1.0) for path in rankings[query.id]))
            for query in golden.queries
        ),
    )
    assert directional_recall(run, (1, 2, 10)) == {
        ("en", "en"): {1: 1.0, 2: 1.0, 10: 1.0},
        ("en", "ru"): {1: 0.0, 2: 0.5, 10: 0.5},
        ("ru", "en"): {1: 0.5, 2: 0.5, 10: 0.5},
        ("ru", "ru"): {1: 0.0, 2: 0.0, 10: 0.5},
    }


@pytest.mark.parametrize(
    ("languages", "words"),
    [
        (["en", "fr"], r"no xquad\.fr\.json.*it has en, ru"),
        (["en", "en"], "each language once"),
        ([], "each language once"),
        (["../en"], "as XQuAD names them"),
    ],
)
def test_bad_languages_are_named(
    source: Path, tmp_path: Path, languages: list[str], words: str
) -> None:
    """A language that is missing, doubled or no name says what to do."""
    with pytest.raises(BadInput, match=words):
        write_notes(source, languages, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_bad_files_are_named(source: Path, tmp_path: Path) -> None:
    """Files that are no XQuAD, or not of one release, are refused before anything is written."""
    with pytest.raises(BadInput, match="1 or more"):
        write_notes(source, ["en"], tmp_path / "made", every=0)
    with pytest.raises(BadInput, match=r"no xquad\.LANGUAGE\.json at all"):
        write_notes(tmp_path, ["en"], tmp_path / "made")
    written(source, {"ru": TEXTS["ru"][:2]})
    with pytest.raises(BadInput, match="not the same"):
        write_notes(source, ["en", "ru"], tmp_path / "made")
    for text in ("{", "[]", '{"data": [{"paragraphs": [{"context": 3, "qas": []}]}]}'):
        (source / "xquad.en.json").write_text(text, "utf-8")
        with pytest.raises(BadInput, match="format of SQuAD"):
            write_notes(source, ["en"], tmp_path / "made")
    assert not (tmp_path / "made").exists()
