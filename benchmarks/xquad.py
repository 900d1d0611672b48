"""XQuAD as a test of search across languages: parallel paragraphs, parallel questions.

    python benchmarks/xquad.py notes FOLDER OUT [--languages en,ru] [--every N]
    twolane eval run OUT/xquad-en-ru.json
    python benchmarks/xquad.py figures RUN.json benchmarks/results/xquad-en-ru-use.json

XQuAD (M. Artetxe, S. Ruder and D. Yogatama, On the cross-lingual transferability of monolingual
representations, ACL 2020; CC BY-SA 4.0) has the same 240 paragraphs and 1,190 questions in
several languages. FOLDER holds its files `xquad.en.json` and so on; nothing of it is part of this
project. Every paragraph becomes a note in each language, all in one vault, and every question a
query in each language whose answers are all versions of its paragraph.
A run holds the questions; the figures hold no text, and `xquad_page.py` shows them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from twolane import TwolaneError
from twolane.evaluation.golden import GoldenQuery, GoldenSet, as_references
from twolane.evaluation.golden_formats import save_golden
from twolane.evaluation.metrics import recall
from twolane.evaluation.runs import Run, load_run, summarise
from twolane.model.errors import BadInput

VAULT = "notes"
MEASURES = ("ndcg@10", "recall@10", "mrr")


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    notes = commands.add_parser("notes", help="write the notes and the golden set")
    notes.add_argument("folder", type=Path)
    notes.add_argument("out", type=Path)
    notes.add_argument("--languages", default="en,ru", help="with commas between")
    notes.add_argument("--every", type=int, default=1, help="ask every n-th question only")
    shown = commands.add_parser("figures", help="what a run says, without any text of XQuAD")
    shown.add_argument("run", type=Path)
    shown.add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.command == "notes":
            languages = [part.strip() for part in given.languages.split(",") if part.strip()]
            print(write_notes(given.folder, languages, given.out, every=given.every))
        else:
            figures = figures_of(load_run(given.run))
            given.file.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    except TwolaneError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


# ------------------------------------------------------------------------------- notes and queries


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A paragraph with its questions by their ids, which all languages share."""

    text: str
    questions: Mapping[str, str]


def write_notes(folder: Path, languages: Sequence[str], out: Path, *, every: int = 1) -> Path:
    """Write notes and golden set under `out`, and give the file of the set.

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
    for language, paragraphs in versions.items():
        (out / VAULT / language).mkdir(parents=True, exist_ok=True)
        for number, paragraph in enumerate(paragraphs, start=1):
            path = out / VAULT / _note(language, number)
            text = f"{paragraph.text}\n"
            # A file that is written anew looks changed, and would be indexed again.
            if not path.exists() or path.read_bytes() != text.encode():
                path.write_text(text, "utf-8")
    name = f"xquad-{'-'.join(languages)}" + (f"-every-{every}" if every > 1 else "")
    golden = GoldenSet(
        name=name,
        description="XQuAD: every language version of a question's paragraph is relevant.",
        vault=VAULT,
        queries=tuple(_queries(versions, every)),
    )
    save_golden(golden, out / f"{name}.json")
    return out / f"{name}.json"


def _note(language: str, number: int) -> str:
    return f"{language}/{number:04}.md"


def _queries(versions: Mapping[str, Sequence[_Paragraph]], every: int) -> Iterator[GoldenQuery]:
    first = next(iter(versions.values()))
    questions = [(number, id) for number, one in enumerate(first) for id in one.questions]
    seen: set[str] = set()
    for number, id in questions[::every]:
        relevant = tuple(_note(language, number + 1) for language in versions)
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
    path = folder / f"xquad.{language}.json"
    if not path.is_file():
        held = sorted(one.name.split(".")[1] for one in folder.glob("xquad.*.json"))
        there = f"it has {', '.join(held)}" if held else "it has no xquad.LANGUAGE.json at all"
        raise BadInput(f"there is no {path.name} in {folder}; {there}")
    try:
        articles = json.loads(path.read_text("utf-8"))["data"]
        return [
            _Paragraph(
                _clean(paragraph["context"]),
                {str(one["id"]): _clean(one["question"]) for one in paragraph["qas"]},
            )
            for article in articles
            for paragraph in article["paragraphs"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not in the format of SQuAD ({error}); check the file") from error


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


# ------------------------------------------------------------------------------- figures


def figures_of(run: Run) -> dict[str, Any]:
    """The figures of a run with what they depend on, and no text of XQuAD."""
    summary = summarise(run, MEASURES)
    return {
        "format": "twolane-xquad/1",
        "name": run.golden.name,
        "mode": run.mode,
        "embedder": run.settings.get("embedding.embedder"),
        "started": run.created,
        "commit": run.commit,
        "space": run.space,
        "machine": dict(run.machine),
        "queries": len(run.asked),
        "overall": {
            name: asdict(one)
            for name, one in zip(summary.table.measures, summary.intervals, strict=True)
        },
        "by_language": [
            {
                "language": row.label,
                "queries": row.count,
                **dict(zip(summary.table.measures, row.values, strict=True)),
            }
            for row in summary.table.by_direction
        ],
        "recall": [
            {"from": asked, "to": sought, **{f"recall@{k}": value for k, value in row.items()}}
            for (asked, sought), row in directional_recall(run).items()
        ],
        "ms": {"p50": summary.p50, "p95": summary.p95},
    }


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
