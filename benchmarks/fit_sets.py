"""Sets that the ranking model is fitted on beside the open collections, made of them.

    python benchmarks/fit_sets.py COLLECTIONS XQUAD OUT
    OPEN_COLLECTIONS=COLLECTIONS FIT_SETS=OUT twolane eval fit benchmarks/fit.toml

COLLECTIONS is a folder of BEIR folders, XQUAD one of `xquad.en.json` and so on; nothing of them is
part of this project. What is written teaches the model what the collections alone do not:

- `xq-pairs`: every paragraph in English and in Russian, both right answers;
- `xq-split`, `xq-split5`: every paragraph in one of two or five languages, questions in all;
- `mixed`: two collections of different languages in one index, where the other only disturbs;
- `names`: what notes of one of our own vaults are called;
- `known-…`: verbatim runs of words, loose words, and rare words that people look up again.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_VAULT = Path(__file__).parent.resolve() / "vaults" / "desk"

KNOWN = ("qa-mix", "locomo", "movies", "danetqa-ru")
MIXED = ("qa-mix", "danetqa-ru")

# So many queries of each kind that are looked up again in each collection, with so many answers.
_KNOWN_QUERIES = 60
_FEW_ANSWERS = 3

# Every so many questions of XQuAD are asked, in each language.
_EVERY = {2: 3, 5: 6}


@dataclass
class Beir:
    """A retrieval collection: documents, queries, and the documents that answer each."""

    documents: list[tuple[str, str, str]] = field(default_factory=list)
    queries: list[tuple[str, str, dict[str, int]]] = field(default_factory=list)

    def write(self, folder: Path, corpus: Path | None = None) -> None:
        """Write the collection as `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`.

        `corpus` is a file that has its documents already: a copy of it needs no index of its own.
        """
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        if corpus is None:
            documents = ({"_id": id, "title": a, "text": b} for id, a, b in self.documents)
            _write_lines(folder / "corpus.jsonl", documents)
        else:
            (folder / "corpus.jsonl").write_bytes(corpus.read_bytes())
        queries = ({"_id": id, "text": text} for id, text, _ in self.queries)
        _write_lines(folder / "queries.jsonl", queries)
        judged = [
            f"{id}\t{document}\t{grade}"
            for id, _, grades in self.queries
            for document, grade in grades.items()
        ]
        head = "query-id\tcorpus-id\tscore"
        (folder / "qrels" / "test.tsv").write_text("\n".join([head, *judged]) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path, prefix: str = "") -> Beir:
        """Read a collection; `prefix` comes before every id."""
        grades: dict[str, dict[str, int]] = {}
        rows = (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]
        for query, document, grade in (row.split("\t") for row in rows if row):
            grades.setdefault(query, {})[prefix + document] = int(grade)
        return cls(
            [
                (prefix + one["_id"], one.get("title", ""), one["text"])
                for one in _read_lines(folder / "corpus.jsonl")
            ],
            [
                (prefix + one["_id"], one["text"], grades[one["_id"]])
                for one in _read_lines(folder / "queries.jsonl")
                if one["_id"] in grades
            ],
        )


def main(arguments: Sequence[str]) -> int:
    """Write all sets; return the exit code."""
    if len(arguments) != 3:
        print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
        return 2
    collections, xquad, out = map(Path, arguments)
    paired(xquad).write(out / "xq-pairs")
    split(xquad, ("en", "ru")).write(out / "xq-split")
    split(xquad, ("en", "ru", "de", "es", "zh")).write(out / "xq-split5")
    mixed([collections / name for name in MIXED]).write(out / "mixed")
    for name in KNOWN:
        known = known_items(Beir.read(collections / name))
        known.write(out / f"known-{name}", collections / name / "corpus.jsonl")
    write_names(out / "names.json")
    return 0


def paired(folder: Path) -> Beir:
    """Every paragraph of XQuAD in English and in Russian; both answer its questions."""
    made = Beir()
    for number, versions in enumerate(_paragraphs(folder, ("en", "ru"))):
        made.documents += [(f"{language}-{number}", "", one[0]) for language, one in versions]
        grades = {f"{language}-{number}": 2 for language, _ in versions}
        made.queries += [
            (f"{id}-{language}", text, grades) for language, one in versions for id, text in one[1]
        ]
    return _thinned(made, _EVERY[2])


def split(folder: Path, languages: Sequence[str]) -> Beir:
    """Every paragraph of XQuAD in one of the languages, by turns; questions in all of them."""
    made = Beir()
    for number, versions in enumerate(_paragraphs(folder, languages)):
        language, paragraph = versions[number % len(languages)]
        made.documents.append((f"{language}-{number}", "", paragraph[0]))
        grades = {f"{language}-{number}": 2}
        made.queries += [
            (f"{id}-{asked}", text, grades) for asked, one in versions for id, text in one[1]
        ]
    return _thinned(made, _EVERY[len(languages)])


def mixed(folders: Sequence[Path]) -> Beir:
    """Collections of different languages as one; every second query."""
    made = Beir()
    for folder in folders:
        one = Beir.read(folder, f"{folder.name}-")
        made.documents += one.documents
        made.queries += one.queries[::2]
    return made


def known_items(collection: Beir) -> Beir:
    """Queries by somebody who remembers words of a document.

    Runs of words and three words anywhere, whose document is the answer; one rare word, or two that
    stand together in few documents, whose answers are all documents that hold them.
    """
    chance = random.Random(7)
    texts = {id: text.split() for id, _, text in collection.documents}
    long = [id for id, words in texts.items() if len(words) > 30]
    holding: dict[str, set[str]] = {}
    for id, words in texts.items():
        for word in words:
            if len(word) > 4 and word.isalpha():
                holding.setdefault(word.casefold(), set()).add(id)
    made = Beir(collection.documents)
    for number, id in enumerate(chance.sample(sorted(long), 4 * _KNOWN_QUERIES)):
        words = texts[id]
        known = sorted({one.casefold() for one in words} & holding.keys())
        rare = [word for word in known if len(holding[word]) <= _FEW_ANSWERS]
        query, answers = _known_item(number % 4, words, known, rare, chance)
        found = set.intersection(*(holding[word] for word in answers)) if answers else {id}
        asked = {text.casefold() for _, text, _ in made.queries}
        if query and query.casefold() not in asked and len(found) <= _FEW_ANSWERS:
            made.queries.append((f"k{number}", query, dict.fromkeys(sorted(found), 2)))
    return made


def _known_item(
    kind: int, words: list[str], known: list[str], rare: list[str], chance: random.Random
) -> tuple[str, list[str]]:
    """A query, and the words that its answers must hold; none where the document is the answer."""
    if kind == 0:
        start = chance.randrange(len(words) - 7)
        return " ".join(words[start : start + chance.randint(4, 7)]).replace('"', ""), []
    if kind == 1:
        return " ".join(chance.sample(known, 3)) if len(known) > 2 else "", []
    if not rare:
        return "", []
    chosen = [chance.choice(rare)]
    if kind == 3:
        chosen.append(chance.choice([word for word in known if word != chosen[0]] or rare))
    return " ".join(chosen), chosen


def write_names(file: Path) -> None:
    """Write a golden set of what the notes of one of our vaults are called: file and path."""
    queries = []
    for number, note in enumerate(sorted(_VAULT.rglob("*.md"))):
        path = note.relative_to(_VAULT).as_posix()
        for kind, query in (("file", note.stem), ("path", path), ("words", path.replace("/", " "))):
            if query.casefold() not in {one["query"].casefold() for one in queries}:
                queries.append({"id": f"{kind}-{number}", "query": query, "relevant": [path]})
    golden = {
        "format": "twolane-golden/1",
        "name": "names",
        "vault": _VAULT.as_posix(),
        "queries": queries,
    }
    file.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", "utf-8")


_Version = tuple[str, tuple[str, list[tuple[str, str]]]]


def _paragraphs(folder: Path, languages: Sequence[str]) -> Iterator[list[_Version]]:
    """Each paragraph in all languages: its text and its questions."""
    read = []
    for language in languages:
        data = json.loads((folder / f"xquad.{language}.json").read_text("utf-8"))["data"]
        paragraphs = [one for article in data for one in article["paragraphs"]]
        read.append(
            [
                (language, (one["context"], [(q["id"], q["question"]) for q in one["qas"]]))
                for one in paragraphs
            ]
        )
    for versions in zip(*read, strict=True):
        yield list(versions)


def _thinned(made: Beir, every: int) -> Beir:
    """The same with every n-th question, each once."""
    questions = sorted({id.rpartition("-")[0] for id, _, _ in made.queries})
    kept = set(questions[::every])
    seen: set[str] = set()
    queries = []
    for id, text, grades in made.queries:
        if id.rpartition("-")[0] in kept and text.casefold() not in seen:
            seen.add(text.casefold())
            queries.append((id, text, grades))
    return Beir(made.documents, queries)


def _write_lines(path: Path, values: Iterable[dict[str, Any]]) -> None:
    lines = (json.dumps(one, ensure_ascii=False) for one in values)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
