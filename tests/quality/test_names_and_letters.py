"""Names and letters find their documents: queries made from the notes of the benchmark."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Document, Library
from twolane.text.spelling import other_layout
from twolane.text.substrings import fields_of, spelled
from twolane.text.tokens import tokens

VAULT = Path(__file__).parents[2] / "benchmarks" / "vaults" / "desk"

# Mean reciprocal rank by kind of query: at least this with the two lanes.
LEAST = {
    "title": 0.98,
    "half a title": 0.94,
    "one slip": 0.98,
    "two slips": 0.9,
    "other layout": 0.9,
    "slug": 0.99,
    "path": 0.99,
    "path in words": 0.99,
    "inside of a word": 0.9,
}


@dataclass(frozen=True, slots=True)
class Sought:
    """A query and the documents of which one should be first."""

    kind: str
    query: str
    wanted: frozenset[str]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The notes of a desk, without meaning: names and letters need none."""
    with open_library(tmp_path_factory.mktemp("names") / "x.db", "none") as library:
        library.index(VAULT)
        yield library


def slipped(text: str, chance: random.Random) -> str:
    """The text with a letter left out, swapped with the next, or replaced."""
    at = chance.randrange(1, len(text) - 2)
    after = {
        0: text[at + 1 :],
        1: text[at + 1] + text[at] + text[at + 2 :],
        2: "e" + text[at + 1 :],
    }
    return text[:at] + after[chance.randrange(3)]


def queries(documents: list[Document]) -> Iterator[Sought]:
    """What somebody may type who knows what a note is called, or part of what it says."""
    chance = random.Random(7)
    for document in documents:
        title, path, words = document.title, document.path or "", document.title.split()
        own = frozenset({document.id})
        yield Sought("title", title, own)
        if len(words) > 2:
            yield Sought("half a title", " ".join(words[: (len(words) + 1) // 2]), own)
        if len(title) > 8:
            once = slipped(title, chance)
            yield Sought("one slip", once, own)
            yield Sought("two slips", slipped(once, chance), own)
        yield Sought("other layout", other_layout(title.lower()), own)
        yield Sought("slug", Path(path).stem, own)
        yield Sought("path", path, own)
        yield Sought("path in words", path.replace("/", " "), own)
        long = sorted({token.text for token in tokens(document.body) if len(token.text) > 8})
        for word in chance.sample(long, min(1, len(long))):
            holding = frozenset(one.id for one in documents if holds(one, word[2:-2]))
            if len(holding) < 3:
                yield Sought("inside of a word", word[2:-2], holding)


def holds(document: Document, text: str) -> bool:
    """Whether the text stands in the document letter by letter."""
    needle = spelled(text)
    return any(needle in spelled(one) for _, said in fields_of(document) for one in said)


def reciprocal_ranks(library: Library) -> dict[str, float]:
    """The mean reciprocal rank of each kind of query."""
    ids = [one.id for one in library.search("", limit=1000).results]
    found: dict[str, list[float]] = {}
    for one in queries([library.document(id) for id in sorted(ids)]):
        results = library.search(one.query, limit=10).results
        ranks = [rank for rank, result in enumerate(results, 1) if result.id in one.wanted]
        found.setdefault(one.kind, []).append(1 / ranks[0] if ranks else 0.0)
    return {kind: sum(ranks) / len(ranks) for kind, ranks in found.items()}


def test_names_and_letters_find_their_documents(library: Library) -> None:
    """Who types a name, or a part of a word, finds the note that has it."""
    found = reciprocal_ranks(library)
    assert found.keys() == LEAST.keys()
    assert {kind: value for kind, value in found.items() if value < LEAST[kind]} == {}


def test_the_lanes_earn_their_place(library: Library) -> None:
    """Without the two lanes the same queries find less, and none finds more."""
    settings = library.settings.changed(experiment={"letters": False})
    with Library.open(settings=settings) as without:
        before = reciprocal_ranks(without)
    after = reciprocal_ranks(library)
    assert all(after[kind] >= before[kind] - 0.005 for kind in after)
    assert after["inside of a word"] > before["inside of a word"]
    assert after["path"] > before["path"]
