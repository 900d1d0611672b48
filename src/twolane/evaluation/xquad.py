"""XQuAD as a test of search across languages: parallel paragraphs, parallel questions.

XQuAD (M. Artetxe, S. Ruder and D. Yogatama, On the cross-lingual transferability of monolingual
representations, ACL 2020; CC BY-SA 4.0) has the same 240 paragraphs and 1,190 questions in
several languages. It is read from a folder of the user's; nothing of it is part of Twolane.
Every paragraph becomes a note in each language, all in one vault, and every question a query
in each language whose answers are all versions of its paragraph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import twolane
from twolane.errors import BadInput
from twolane.evaluation.golden import GoldenQuery, GoldenSet, as_references, save_golden
from twolane.evaluation.metrics import recall
from twolane.evaluation.runs import Run
from twolane.evaluation.text_files import read_text, write_text

VAULT = "notes"
GOLDEN = "golden.json"


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph with its questions by their ids, which all languages share."""

    text: str
    questions: Mapping[str, str]


def load_xquad(
    folder: Path, languages: Sequence[str], target: Path, *, every: int = 1
) -> tuple[list[Path], GoldenSet]:
    """Write the notes under `target` and give the files and the golden set over them.

    The notes are `notes/en/0001.md` and so on: the text alone, without a title, since an
    article's title would give away what its paragraphs answer.
    `every` takes every n-th question, the same ones in each language.
    """
    if len(set(languages)) < len(languages) or not languages:
        raise BadInput("name each language once, with commas between: en,ru")
    if not all(language.isalpha() for language in languages):
        raise BadInput(
            f"{', '.join(languages)}: write languages as XQuAD names them, such as en,ru"
        )
    if every < 1:
        raise BadInput("every question is the least that can be taken; use 1 or more")
    versions = {language: _paragraphs(folder, language) for language in languages}
    _require_parallel(versions)
    files = []
    for language, paragraphs in versions.items():
        (target / VAULT / language).mkdir(parents=True, exist_ok=True)
        for number, paragraph in enumerate(paragraphs, start=1):
            path = target / VAULT / note(language, number)
            text = f"{paragraph.text}\n"
            # A file that is written anew looks changed, and would be indexed again.
            if not path.exists() or path.read_bytes() != text.encode():
                write_text(path, text)
            files.append(path)
    golden = GoldenSet(
        name=f"xquad-{'-'.join(languages)}",
        description="XQuAD: every language version of a question's paragraph is relevant.",
        vault=VAULT,
        queries=tuple(_queries(versions, every)),
    )
    return files, golden


def prepare(
    folder: Path, languages: Sequence[str], cache: Path, *, every: int = 1
) -> tuple[Path, GoldenSet]:
    """The golden set in a file of its own, beside its vault; both are made once and kept."""
    contents = [read_text(_file(folder, language)) for language in languages]
    key = twolane.digest("\n".join([*languages, *contents]))
    target = cache / f"xquad-{'-'.join(languages)}-{key[:12]}"
    path = target / f"every-{every}-{GOLDEN}"
    _, golden = load_xquad(folder, languages, target, every=every)
    save_golden(golden, path)
    return path, golden


def directional_recall(
    run: Run, ks: Sequence[int] = (1, 10)
) -> dict[tuple[str, str], dict[int, float]]:
    """Recall@k from each language of queries to each language of notes.

    Only the version in the target language is sought; the other versions still take their ranks,
    as they do for the person who reads the list.
    """
    languages = list(dict.fromkeys(query.lang for query in run.golden.queries if query.lang))
    return {
        (asked, sought): {k: _recall(run, asked, sought, k) for k in ks}
        for asked in languages
        for sought in languages
    }


def note(language: str, number: int) -> str:
    """The path of a paragraph's note."""
    return f"{language}/{number:04}.md"


def _recall(run: Run, asked: str, sought: str, k: int) -> float:
    rankings = run.rankings
    values = [
        recall(
            as_references(rankings[query.id], query.grades),
            query.grades,
            k,
            only=lambda path: path.startswith(f"{sought}/"),
        )
        for query in run.golden.queries
        if query.lang == asked
    ]
    return sum(values) / len(values)


def _queries(versions: Mapping[str, Sequence[_Paragraph]], every: int) -> Iterator[GoldenQuery]:
    first = next(iter(versions.values()))
    questions = [(number, id) for number, one in enumerate(first) for id in one.questions]
    seen: set[str] = set()
    for number, id in questions[::every]:
        relevant = tuple(note(language, number + 1) for language in versions)
        for language, paragraphs in versions.items():
            text = paragraphs[number].questions[id]
            # A question asked of two paragraphs has two answers, and neither is the right one.
            folded = " ".join(text.casefold().replace("ё", "е").split())
            if folded and folded not in seen:
                seen.add(folded)
                yield GoldenQuery(
                    id=f"{id}-{language}",
                    query=text,
                    relevant=relevant,
                    lang=language,
                    direction=language,
                    verified=True,
                )


def _paragraphs(folder: Path, language: str) -> list[_Paragraph]:
    path = _file(folder, language)
    try:
        articles = json.loads(read_text(path))["data"]
        return [
            _Paragraph(
                _clean(paragraph["context"]),
                {str(one["id"]): _clean(one["question"]) for one in paragraph["qas"]},
            )
            for article in articles
            for paragraph in article["paragraphs"]
        ]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not in the format of SQuAD ({error}); check the file") from error


def _file(folder: Path, language: str) -> Path:
    path = folder / f"xquad.{language}.json"
    if not path.is_file():
        held = sorted(one.name.split(".")[1] for one in folder.glob("xquad.*.json"))
        there = f"it has {', '.join(held)}" if held else "it has no xquad.LANGUAGE.json at all"
        raise BadInput(f"there is no {path.name} in {folder}; {there}")
    return path


def _clean(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError("a text is missing")
    # Some paragraphs begin with a byte order mark, which is no part of them.
    return text.replace("\ufeff", "").strip()


def _require_parallel(versions: Mapping[str, Sequence[_Paragraph]]) -> None:
    shapes = {
        language: [set(one.questions) for one in paragraphs]
        for language, paragraphs in versions.items()
    }
    (first, shape), *others = shapes.items()
    for language, other in others:
        if other != shape:
            raise BadInput(
                f"the paragraphs or questions of {first} and {language} are not the same; "
                "take both files from one release"
            )
