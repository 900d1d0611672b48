"""Golden sets from a user's own notes: no labels, no leaks, no chance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import open_library
from twolane import Library, Scope
from twolane.evaluation.golden import GoldenSet, Names, validate
from twolane.evaluation.golden_build import KINDS, Hiding, Recipe, Survey, build, hidden
from twolane.model.errors import BadInput
from twolane.text.tokens import fold, stream

NOTES = {
    "garden/tomatoes.md": """\
---
aliases: [growing tomatoes in a greenhouse, solanum]
---
# Pruning tomatoes

Pinch out the side shoots every single week before breakfast, said grandfather.

## Tools for pruning

Scissors, and a bottle of spirit.

## See also

Keep it next to [the heap of leaves](../garden/compost.md) and [[compost|warm pile]].
More [here](../secret/diary.md) and [outside](https://example.com/x).
""",
    "garden/compost.md": """\
# Compost

Leaves and grass rot until spring; turn the heap twice with a pitchfork.
A heaped barrow of nettles quickens everything remarkably well.

## Tools for turning

A fork. See [[tomatoes]].
""",
    "kitchen/tea.md": """\
# Green tea

Steep the leaves at eighty degrees, never boiling, in a porcelain gaiwan.

## Weekly supplies

Two tins of sencha from the harbour shop near the lighthouse.
""",
    "kitchen/чай.md": """\
# Зелёный чай

Заваривай листья при восьмидесяти градусах в фарфоровой гайвани, не кипятком.

## Запасы на неделю

Две банки сенчи из лавки у маяка, больше зелёного чая не нужно.
""",
    "kitchen/black.md": "# Black tea\n\nBoiling water, five minutes, a slice of bergamot orange.\n",
    "secret/diary.md": "---\nsearch: false\n---\n# Secret diary\n\nThe quagga sleeps here.\n",
    "_templates/day.md": "# Template of a day\n\nThe dodo walks slowly through this template.\n",
    "old/archive.md": (
        "---\narchived: true\n---\n# Archived thoughts\n\nThe moa ran over the hills at dusk.\n"
    ),
}


@contextmanager
def indexed(folder: Path, notes: Mapping[str, str]) -> Iterator[Library]:
    """A library of these notes."""
    for name, text in notes.items():
        path = folder / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with open_library(folder / "x.db", "none") as opened:
        opened.index(folder / "vault")
        yield opened


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The notes, indexed."""
    with indexed(tmp_path_factory.mktemp("build"), NOTES) as opened:
        yield opened


def made(library: Library, **recipe: object) -> GoldenSet:
    """One set made by a recipe."""
    (golden,) = build(library, Recipe(**recipe), name="mine")  # type: ignore[arg-type]
    return golden


def asked(golden: GoldenSet, kind: str) -> dict[str, str]:
    """Query → the path that it looks for, for one kind."""
    found = [query for query in golden.queries if query.category == kind]
    return {query.query: query.relevant[0] for query in found}


def test_every_kind_of_query(library: Library) -> None:
    """Titles, aliases, headings, link texts and rare phrases look for the note they belong to."""
    golden = made(library)
    validate(golden, Names(library).known())
    assert asked(golden, "title")["Pruning tomatoes"] == "garden/tomatoes.md"
    assert asked(golden, "title")["Зелёный чай"] == "kitchen/чай.md"
    assert asked(golden, "alias")["growing tomatoes in a greenhouse"] == "garden/tomatoes.md"
    assert asked(golden, "heading")["Tools for turning"] == "garden/compost.md"
    assert asked(golden, "anchor") == {
        "the heap of leaves": "garden/compost.md",
        "warm pile": "garden/compost.md",
    }
    assert set(asked(golden, "phrase").values()) >= {"kitchen/tea.md", "kitchen/чай.md"}
    assert all(not query.verified for query in golden.queries)


def test_languages_and_evidence_are_filled_in(library: Library) -> None:
    """A query knows its language and direction, and quotes what it was made from."""
    found = {query.query: query for query in made(library).queries}
    russian = found["Зелёный чай"]
    assert (russian.lang, russian.direction) == ("ru", "ru→ru")
    link = found["warm pile"]
    assert (link.evidence[0].path, link.evidence[0].quote) == ("garden/tomatoes.md", "warm pile")


def test_a_phrase_occurs_in_one_note_only(library: Library) -> None:
    """A rare phrase has 4 to 8 words that stand in the note it looks for and in no other."""
    phrases = [query for query in made(library).queries if query.category == "phrase"]
    assert phrases
    for query in phrases:
        assert 4 <= len(query.query.split()) <= 8
        words = _plain(query.query)
        holders = [path for path, text in NOTES.items() if words in _plain(text)]
        assert holders == list(query.relevant)
        assert query.evidence[0].quote in NOTES[query.relevant[0]]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@pytest.mark.parametrize("hiding", list(Hiding))
def test_what_is_excluded_never_appears(library: Library, hiding: Hiding) -> None:
    """Excluded, underscored and archived notes give no word, no answer and no evidence."""
    golden = made(library, hiding=hiding)
    everything = repr(golden).casefold()
    for word in ("secret", "diary", "quagga", "template", "dodo", "archive", "moa "):
        assert word not in everything
    assert "here" not in asked(golden, "anchor")


def test_a_scope_narrows_the_notes(library: Library) -> None:
    """Only documents in scope are asked for, archived ones if the scope wants them."""
    (golden,) = build(library, Recipe(), name="x", scope=Scope(paths=("kitchen/*",)))
    assert {path for query in golden.queries for path in query.relevant} == {
        "kitchen/tea.md",
        "kitchen/чай.md",
        "kitchen/black.md",
    }
    (golden,) = build(library, Recipe(), name="x", scope=Scope(archived=True))
    assert "Archived thoughts" in asked(golden, "title")


def test_ambiguous_queries_are_left_out(tmp_path: Path) -> None:
    """What could mean several notes is a query for none of them."""
    notes = {
        "tea.md": "# Tea\n\n## Boiling point\n\nHot.\n",
        "green.md": "# Green tea\n\n## Boiling point\n\nHot. [BLACK tea](black.md)\n",
        "black.md": "---\naliases: [assam leaf]\n---\n# Black tea\n\n## Assam Leaf\n\nStrong.\n",
    }
    with indexed(tmp_path, notes) as library:
        golden = made(library)
        with pytest.raises(BadInput, match="too few"):
            made(library, kinds=("anchor",))
    # Another title holds all of `Tea`, two notes have the same heading, a link that only says
    # the title is no new query, and what a note is called twice is asked once.
    assert sorted((str(query.category), query.query) for query in golden.queries) == [
        ("alias", "assam leaf"),
        ("title", "Black tea"),
        ("title", "Green tea"),
    ]


def test_queries_that_become_the_same_are_left_out(tmp_path: Path) -> None:
    """Two headings that differ only by the title of their note are no queries without it."""
    notes = {
        "ivy.md": "# Ivy\n\n## Ivy watering schedule\n\nDaily.\n",
        "fern.md": "# Fern\n\n## Fern watering schedule\n\nWeekly. ## Dust on the leaves\n",
        "moss.md": "# Moss\n\n## Moss needs little light\n\nNever.\n",
    }
    with indexed(tmp_path, notes) as library:
        assert "Ivy watering schedule" in asked(made(library), "heading")
        golden = made(library, kinds=("heading",), hiding=Hiding.OWN)
    assert asked(golden, "heading") == {"needs little light": "moss.md"}


def test_a_sentence_of_two_notes_gives_no_phrase(tmp_path: Path) -> None:
    """A rare sentence that was copied into another note looks for neither, however rare it is."""
    copied = "An astrolabe of brass hangs beside the winter chimney.\n"
    notes = {f"{name}.md": f"# Note {name}\n\nIt was a long winter.\n" for name in "bcde"}
    notes |= {f"{name}.md": f"# Note {name}\n\n{copied}" for name in "az"}
    with indexed(tmp_path, notes) as library:
        golden = made(library)
    assert asked(golden, "phrase") == {}
    assert asked(golden, "title")


def test_own_words_are_hidden(library: Library) -> None:
    """With `own` no word of a query has a stem that the title of its note has."""
    golden = made(library, hiding=Hiding.OWN)
    titles = {document.path: document.title for document in library.documents()}
    assert golden.queries and not asked(golden, "title")
    for query in golden.queries:
        title = str(titles[query.relevant[0]])
        assert not set(stream(query.query).split()) & set(stream(title).split()), query


WORDS = ["pruned", "prunes", "tomato", "Tomatoes'", "the", "of", "green", "teas", "km", "21"]
WORDS += ["чая", "зелёными", "leaf", "leaves"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    query=st.lists(
        st.sampled_from(WORDS),
        min_size=1,
        max_size=8,
    ).map(" ".join),
    title=st.sampled_from(["Pruning tomatoes", "Зелёный чай", "Green tea", "Leaves of tea, 21"]),
)
def test_hiding_leaves_no_stem_of_the_title(library: Library, query: str, title: str) -> None:
    """Whatever the query and the title, what is left shares no stem in any language held."""
    survey = Survey(library, Scope())
    left = hidden(query, title, Hiding.OWN, survey)
    if left is not None:
        for language in (None, *survey.languages):
            shared = set(stream(left, language).split()) & set(stream(title, language).split())
            assert not shared
        assert survey.content_words(left)


def test_other_forms_stand_in(library: Library) -> None:
    """With `stems` each query has a word in another form of the vault, with the same stem."""
    plain = made(library, kinds=("heading", "phrase", "title"))
    golden = made(library, kinds=("heading", "phrase", "title"), hiding=Hiding.STEMS)
    known = set(re.findall(r"\w+", fold(" ".join(NOTES.values()))))
    before = {" ".join(stream(query.query).split()): query.query for query in plain.queries}
    assert golden.queries
    for query in golden.queries:
        assert set(re.findall(r"\w+", fold(query.query))) <= known
        stems = " ".join(stream(query.query).split())
        assert stems not in before or fold(before[stems]) != fold(query.query)


def test_the_seed_decides(library: Library) -> None:
    """The same recipe gives the same set, byte by byte; another seed gives another choice."""
    first = made(library, count=6, seed=1)
    assert first == made(library, count=6, seed=1)
    assert len(first.queries) == 6
    others = [made(library, count=6, seed=seed).queries for seed in range(2, 6)]
    assert any(other != first.queries for other in others)
    # A query keeps its id, so that runs over other choices can still be told apart by query.
    ids = {query.query: query.id for query in first.queries}
    for query in (query for other in others for query in other):
        assert ids.get(query.query, query.id) == query.id


@pytest.mark.parametrize("parts", [("dev", "test"), ("a", "b", "c")])
def test_a_split_shares_no_note(library: Library, parts: tuple[str, ...]) -> None:
    """Each note is sought in one part only, no part is empty, and nothing is lost."""
    sets = build(library, Recipe(splits=parts), name="mine")
    assert [one.name for one in sets] == [f"mine.{part}" for part in parts]
    sought = [{path for query in one.queries for path in query.relevant} for one in sets]
    assert all(sought)
    assert sum(map(len, sought)) == len(set().union(*sought))
    whole = made(library)
    assert sum(len(one.queries) for one in sets) == len(whole.queries)


def test_impossible_recipes() -> None:
    """Unknown kinds, no queries and two parts of one name are refused."""
    for wrong in ({"kinds": ("poem",)}, {"kinds": ()}, {"count": 0}, {"splits": ("a", "a")}):
        with pytest.raises(BadInput):
            Recipe(**wrong)  # type: ignore[arg-type]
    assert set(Recipe().kinds) == set(KINDS)


def test_too_few_notes(tmp_path: Path) -> None:
    """A vault that gives no query says what to do."""
    notes = {"a.md": "# The\n\nA.\n"}
    with indexed(tmp_path, notes) as library, pytest.raises(BadInput, match="too few"):
        build(library, Recipe(), name="x")


def test_notes_of_several_folders(tmp_path: Path) -> None:
    """Where two folders have a note of one path, it is named by its id, and links stay inside."""
    for folder, title in (("one", "Walrus carpentry"), ("two", "Oyster arithmetic")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text(f"# {title}\n\nSome words.\n", "utf-8")
        (tmp_path / folder / f"{folder}.md").write_text(
            f"# Only {folder}\n\nSee [sand and cabbages](a.md).\n", "utf-8"
        )
    with open_library(tmp_path / "x.db", "none") as library:
        library.index(tmp_path / "one")
        library.index(tmp_path / "two")
        golden = made(library, kinds=("title", "anchor"))
        validate(golden, Names(library).known())
        titles = asked(golden, "title")
        assert titles["Walrus carpentry"] == "one/a.md"
        assert titles["Oyster arithmetic"] == "two/a.md"
        assert titles["Only one"] == "one.md"
        # The same words lead to two notes, so they belong to neither.
        assert asked(golden, "anchor") == {}
