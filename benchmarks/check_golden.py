"""Check golden sets against the vaults they were written for.

    python benchmarks/check_golden.py [FILES...]

Without arguments every ``golden/*.json`` beside this file is checked. Prints one line per problem
and exits with 1 if there is any. Ids and queries are compared across all files of one call, so that
nothing leaks from a dev set into a test set.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FORMAT = "twolane-golden/1"
GOLDEN = Path(__file__).resolve().parent / "golden"


def main(arguments: Sequence[str]) -> int:
    """Check the files named, or all golden sets; return the exit code."""
    paths = [Path(argument) for argument in arguments] or sorted(GOLDEN.glob("*.json"))
    if not paths:
        print(f"no golden sets in {GOLDEN}", file=sys.stderr)
        return 1
    problems, count = check(paths)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(paths)} files, {count} queries, {len(problems)} problems")
    return 1 if problems else 0


def check(paths: Sequence[Path]) -> tuple[list[str], int]:
    """Return every problem in these golden sets, and how many queries were looked at."""
    problems: list[str] = []
    count = 0
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        try:
            golden = _read(path)
        except (OSError, ValueError) as error:
            problems.append(f"{path.name}: {error}")
            continue
        for number, query in enumerate(golden.queries, start=1):
            count += 1
            where = f"{path.name}: {query.get('id', f'query number {number}')}"
            found = [*_shape(query), *_repeats(query, where, seen)]
            # The other checks read the fields, so they only make sense once the types are right.
            if not any(problem.startswith("field ") for problem in found):
                found += _judge(query, golden.vault)
            problems += [f"{where}: {problem}" for problem in found]
    return problems, count


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a vault, ready for comparison."""

    path: str
    text: str  # NFC, whitespace collapsed
    folded: str  # path and text, also lower-cased, with ё as е


@dataclass(frozen=True, slots=True)
class Golden:
    """A golden set with the notes that it speaks about."""

    vault: Mapping[str, Note]
    queries: Sequence[Mapping[str, object]]


def _read(path: Path) -> Golden:
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"the format field must be {FORMAT!r}")
    if data.get("name") != path.stem:
        raise ValueError(f"the name field must be {path.stem!r}, like the file")
    vault, queries = data.get("vault"), data.get("queries")
    if not isinstance(vault, str) or not (path.parent / vault).is_dir():
        raise ValueError(f"no vault at {vault!r}, seen from the file")
    if not isinstance(queries, list) or not all(isinstance(query, dict) for query in queries):
        raise ValueError("queries must be a list of objects")
    return Golden(_vault((path.parent / vault).resolve()), queries)


@cache
def _vault(root: Path) -> Mapping[str, Note]:
    notes = {}
    for file in sorted(root.rglob("*.md")):
        path = unicodedata.normalize("NFC", file.relative_to(root).as_posix())
        text = _collapse(file.read_text(encoding="utf-8"))
        notes[path] = Note(path, text, _fold(f"{path} {text}"))
    return notes


def _shape(query: Mapping[str, object]) -> Iterator[str]:
    for field in ("id", "query", "lang"):
        if not (isinstance(query.get(field), str) and query[field]):
            yield f"field {field} must be a text that is not empty"
    for field in ("relevant", "partial", "absent", "rare"):
        values = query.get(field, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            yield f"field {field} must be a list of texts"
    for field in ("direction", "category"):
        if not isinstance(query.get(field, ""), str):
            yield f"field {field} must be a text"
    evidence = query.get("evidence", [])
    if not isinstance(evidence, list) or not all(_is_quote(item) for item in evidence):
        yield 'field evidence must be a list of {"path": text, "quote": text}'


def _is_quote(item: object) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("path"), str)
        and isinstance(item.get("quote"), str)
        and bool(item["quote"].strip())
    )


def _repeats(
    query: Mapping[str, object], where: str, seen: dict[tuple[str, str], str]
) -> Iterator[str]:
    for field in ("id", "query"):
        value = query.get(field)
        if isinstance(value, str):
            first = seen.setdefault((field, _fold(_collapse(value))), where)
            if first is not where:
                yield f"the same {field} as {first}"


def _judge(query: Mapping[str, object], vault: Mapping[str, Note]) -> Iterator[str]:
    relevant, partial = _texts(query, "relevant"), _texts(query, "partial")
    for path in [*relevant, *partial]:
        if path not in vault:
            yield f"no note {path} in the vault"
    for path in sorted({path for path in relevant if relevant.count(path) > 1}):
        yield f"{path} is listed twice as relevant"
    for path in sorted(set(relevant) & set(partial)):
        yield f"{path} is both relevant and partial"
    if query.get("unanswerable", False):
        yield from _unanswerable(query, vault)
    elif not relevant:
        yield "nothing is relevant, and it is not marked unanswerable"
    yield from _evidence(query, vault)
    yield from _rare(query, vault)
    yield from _direction(query, vault)


def _unanswerable(query: Mapping[str, object], vault: Mapping[str, Note]) -> Iterator[str]:
    if query.get("relevant") or query.get("partial"):
        yield "unanswerable, yet it names notes that answer it"
    if not query.get("absent"):
        yield "unanswerable, yet no absent words show it"
    for word in _texts(query, "absent"):
        # Only the start is anchored, so that a word is found in all its inflected forms.
        pattern = re.compile(rf"(?<!\w){re.escape(_fold(_collapse(word)))}")
        for note in vault.values():
            if match := pattern.search(note.folded):
                around = note.folded[max(match.start() - 20, 0) : match.end() + 20]
                yield f"the absent word {word!r} occurs in {note.path}: …{around}…"


def _evidence(query: Mapping[str, object], vault: Mapping[str, Note]) -> Iterator[str]:
    quoted = set()
    items = query.get("evidence", [])
    assert isinstance(items, list)
    for item in items:
        path, quote = unicodedata.normalize("NFC", item["path"]), _collapse(item["quote"])
        quoted.add(path)
        if path not in vault:
            yield f"evidence from {path}, which is not in the vault"
        elif quote not in vault[path].text:
            yield f"not verbatim in {path}: {quote!r}"
    for path in _texts(query, "relevant"):
        if path not in quoted:
            yield f"no evidence quoted from the relevant note {path}"


def _rare(query: Mapping[str, object], vault: Mapping[str, Note]) -> Iterator[str]:
    relevant = set(_texts(query, "relevant"))
    for term in _texts(query, "rare"):
        # Both ends are anchored: E12 is not the same code as E123.
        pattern = re.compile(rf"(?<!\w){re.escape(_fold(_collapse(term)))}(?!\w)")
        holders = {path for path, note in vault.items() if pattern.search(note.folded)}
        for path in sorted(relevant - holders):
            yield f"the rare term {term!r} does not occur in the relevant note {path}"
        for path in sorted(holders - relevant):
            yield f"the rare term {term!r} also occurs in {path}"


def _direction(query: Mapping[str, object], vault: Mapping[str, Note]) -> Iterator[str]:
    direction = query.get("direction")
    if direction is None:
        return
    match = re.fullmatch(r"(\w+)→(\w+)", str(direction))
    if match is None:
        yield f"direction {direction!r} does not look like 'en→ru'"
        return
    source, target = match.groups()
    if source != query["lang"]:
        yield f"direction {direction} of a query whose lang is {query['lang']}"
    # A vault with a folder per language must hold an answer in the language asked for.
    folder = f"{target}/"
    if any(path.startswith(folder) for path in vault) and not any(
        path.startswith(folder) for path in _texts(query, "relevant")
    ):
        yield f"direction {direction}, but no relevant note under {folder}"


def _texts(query: Mapping[str, object], field: str) -> list[str]:
    values = query.get(field, [])
    assert isinstance(values, list)
    return [unicodedata.normalize("NFC", value) for value in values]


def _collapse(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _fold(text: str) -> str:
    return text.casefold().replace("ё", "е")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
