"""Letters and names in a search: `Library.search` and `why` over the two lanes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import write_notes
from twolane import Library, Result, Settings
from twolane.model.answer import Lane
from twolane.model.errors import StoreError
from twolane.stores.sqlite import open_stores
from twolane.stores.sqlite.lexical import SqliteLexical

NOTES = {
    "code/auth.md": """\
---
tags: [code]
url: https://github.com/anthropics/tools
status: hiddenvalue
---
# Hooks

Before.

## Signing in

Call `useAuth()` and rank by ts_rank_cd.
""",
    "kitchen/sourdough.md": "# Sourdough for beginners\n\nFlour, water, [salt](https://salt.example/fine).\n",
    "Ёлка.md": "# Ёлка\n\nНаряжаем ёлку: гирлянды и шары.\n",
    "go.md": "# Games\n\nWe play Go and mango tasting.\n",
    "secret.md": "---\nsearch: false\n---\n# Secret\n\nuseAuth is here, too.\n",
}


def opened(folder: Path, **settings: object) -> Library:
    """A library of these notes."""
    chosen = Settings(db=folder / "x.db", embedding={"embedder": "hashing"}).changed(**settings)
    library = Library.open(settings=chosen)
    library.index(write_notes(folder / "vault", NOTES))
    library.embed()
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A small vault of notes with things that words do not catch."""
    with opened(tmp_path_factory.mktemp("letters")) as library:
        yield library


def exactly(library: Library, typed: str) -> tuple[Result, ...]:
    """The results of a search by letters."""
    return library.search(typed, mode="exact").results


@pytest.mark.parametrize(
    ("typed", "path", "marked"),
    [
        ("hub.com/anthro", "code/auth.md", "<mark>hub.com/anthro</mark>"),
        ("SEAUTH", "code/auth.md", "<mark>seAuth</mark>"),
        ("ts_rank", "code/auth.md", "<mark>ts_rank</mark>"),
        ("ирлянд", "Ёлка.md", "<mark>ирлянд</mark>"),
        ("елк", "Ёлка.md", "<mark>ёлк</mark>"),
        ("salt.example", "kitchen/sourdough.md", "<mark>salt.example</mark>"),
        ("go", "go.md", "<mark>Go</mark>"),
        ('"ts_rank_cd."', "code/auth.md", "<mark>ts_rank_cd.</mark>"),
    ],
)
def test_letters(library: Library, typed: str, path: str, marked: str) -> None:
    """Pieces of addresses, identifiers and words are found and marked, in any script."""
    (result,) = exactly(library, typed)
    assert result.path == path
    assert marked in result.snippet
    assert [one.lane for one in result.contributions] == [Lane.EXACT]


def test_the_passage_is_the_one_that_holds_it(library: Library) -> None:
    """A result shows heading and lines of the passage with the letters."""
    (result,) = exactly(library, "useAuth")
    assert result.heading[-1] == "Signing in"
    assert result.lines is not None
    assert result.lines[0] > 6


def test_filters_still_filter(library: Library) -> None:
    """A filter restricts a search by letters, and front matter is not looked through."""
    assert [one.path for one in exactly(library, "call tag:code")] == ["code/auth.md"]
    assert exactly(library, "call kind:prompt") == ()
    assert exactly(library, "hiddenvalue") == ()
    assert {one.path for one in exactly(library, "path:kitchen")} == {"kitchen/sourdough.md"}


@pytest.mark.parametrize("mode", ["exact", "hybrid", "lexical"])
def test_hostile_input_never_fails(library: Library, mode: str) -> None:
    """Whatever is typed is looked for, and found or not."""
    for typed in ("*", '"', "'", "a OR", "NEAR(", "%_%", "\\", "--", "[x", "((", "\0\a", "\ud800"):
        library.search(typed, mode=mode)


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("https://github.com/anthropics/", "code/auth.md"),
        ("ts_rank", "code/auth.md"),
        ("ирлянд", "Ёлка.md"),
    ],
)
def test_letters_help_where_words_fail(library: Library, typed: str, path: str) -> None:
    """In a usual search an address, a symbol and an inner part of a word find their note."""
    answer = library.search(typed)
    assert answer.results[0].path == path
    assert answer.plan[Lane.EXACT] == 1.0


def test_letters_answer_where_nothing_else_does(library: Library) -> None:
    """A search by words that finds none falls back on letters; one that finds some does not."""
    assert [one.lane for one in library.search("flour", mode="lexical").lanes] == ["lexical"]
    answer = library.search("k_c", mode="lexical")
    assert [one.path for one in answer.results] == ["code/auth.md"]
    assert answer.plan == {Lane.LEXICAL: 1.0, Lane.EXACT: 1.0}


@pytest.mark.parametrize(
    "typed",
    ["sourdough", "sourdough for", "soudrough for begginers", "kitchen sourdough.md", "ыщгквщгпр"],
)
def test_names_come_first(library: Library, typed: str) -> None:
    """A slug, half a title, a mistyped one and a path in words find the note of that name."""
    best = library.search(typed).results[0]
    assert best.path == "kitchen/sourdough.md"
    assert Lane.IDENTITY in {one.lane for one in best.contributions}


def test_questions_are_no_names(library: Library) -> None:
    """The identity lane is silent about what is no name."""
    (lane,) = [
        one for one in library.search("how do I feed my starter").lanes if one.lane == "identity"
    ]
    assert lane.hits == 0


def test_why_tells_of_letters(library: Library) -> None:
    """`why` says that the letters are there, and that they are not."""
    found = library.why("useAuth", "code/auth.md", mode="exact")
    assert found.standing == "shown"
    assert found.passage is not None
    assert found.passage.heading[-1] == "Signing in"
    missing = library.why("useAuth", "go.md", mode="exact")
    assert [one.kind for one in missing.obstacles] == ["no-letters"]
    assert "does not stand in it" in missing.verdict


def test_why_tells_of_names(library: Library) -> None:
    """`why` says that a document goes by the name, and that it does not."""
    assert "by name 1st" in library.why("sourdough", "kitchen/sourdough.md").verdict
    (opinion,) = [
        one for one in library.why("sourdough", "go.md").opinions if one.lane == Lane.IDENTITY
    ]
    assert "none of its names" in opinion.reason


def test_bodies_without_letters(tmp_path: Path) -> None:
    """Without trigrams of texts names are found by any part, and texts through their words."""
    with opened(tmp_path, index={"exact_bodies": False}) as library:
        assert [one.path for one in exactly(library, "urdoug")] == ["kitchen/sourdough.md"]
        assert [one.path for one in exactly(library, "ирлянды")] == ["Ёлка.md"]
        assert exactly(library, "ирляндыы") == ()
        assert library.check() == []
    with opened(tmp_path) as library:
        assert [one.path for one in exactly(library, "k_c")] == ["code/auth.md"]
        assert library.check() == []


class Letterless(SqliteLexical):
    """An index whose trigrams cannot be read although everything else works."""

    def substring(self, *arguments: object, **options: object) -> list:  # type: ignore[override,type-arg]
        raise StoreError("the trigrams cannot be read")

    named = substring  # type: ignore[assignment]


def test_other_lanes_answer_without_letters(tmp_path: Path) -> None:
    """A lane that cannot read its trigrams is named in the answer, and the others still answer."""
    opened(tmp_path).close()
    settings = Settings(db=tmp_path / "x.db", embedding={"embedder": "none"})
    stores = open_stores(tmp_path / "x.db")
    stores.lexical.__class__ = Letterless
    with Library(stores, settings) as broken:
        answer = broken.search("ts_rank")
        assert answer.results[0].path == "code/auth.md"
        reasons = {one.lane: one.reason for one in answer.degraded}
        assert reasons[Lane.EXACT] == reasons[Lane.IDENTITY] == "the trigrams cannot be read"
