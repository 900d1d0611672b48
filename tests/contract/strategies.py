"""Random documents, words, clauses and vectors from a vocabulary so small that they often meet."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from tests.builders import phrase, prepared, stemmed, unit
from twolane.model.document import FIELDS, Kind, Prepared
from twolane.model.scope import (
    All,
    Among,
    Clause,
    During,
    Either,
    Except,
    Filter,
    Having,
    InField,
    Near,
    Part,
    Phrase,
    Scope,
    Time,
    Trait,
    Valued,
    Without,
    Word,
)
from twolane.query.values import valued

# Some are endings of others, prefixes of others, or the same after folding.
VOCABULARY = ("ant", "Ants", "bee", "beetle", "Ёлка")
IDS = ("a", "b", "c", "d", "e")
TAGS = ("work", "Work/Deep", "ant", "дом")
PATHS = ("top.md", "notes/one.md", "notes/deep/two.md", "notes-old/three.md", None)
OWNERS = (None, "ann", "bob")
COLLECTIONS = ("notes", "links")
LANGUAGES = ("en", "ru", "de")
URLS = (None, "", "https://ant.org/bee")
PROPERTIES: tuple[dict[str, object], ...] = (
    {},
    {"Status": "Done", "rating": 3},
    {"status": ["open", "in  progress"], "rating": "4.5", "due": "2024-05-02"},
    {"STATUS": True, "Due Date": "2024-05-02T12:00:00+02:00", "nested": {"a": 1}},
    {"status": None, "rating": [1, 2.0, 10**400], "empty": []},
)
DAYS = tuple(datetime(2024, 5, day, 12, tzinfo=UTC) for day in (1, 2, 3))

# Halves add up without rounding, so every store computes the very same similarity.
VECTORS = (unit(1, 0, 0, 0), unit(0, 1, 0, 0), unit(1, 1, 1, 1), unit(1, -1, 1, -1))


def lines(least: int, most: int) -> st.SearchStrategy[str]:
    """A few words on one line."""
    return st.lists(st.sampled_from(VOCABULARY), min_size=least, max_size=most).map(" ".join)


def texts(most: int) -> st.SearchStrategy[str]:
    """A few words; a line break or a paragraph break may stand between them."""
    broken = st.tuples(st.sampled_from(VOCABULARY), st.sampled_from((" ", " ", "\n", "\n\n", ", ")))
    several = st.lists(broken, max_size=most)
    return several.map(lambda pairs: "".join(map("".join, pairs)).strip())


def flags() -> st.SearchStrategy[bool]:
    """Seldom true, so that most documents can be found."""
    return st.sampled_from((False, False, False, True))


@st.composite
def documents(draw: st.DrawFn, id: str, *, hidden: bool = True) -> Prepared:
    """A document with anything that a scope may ask for."""
    return prepared(
        id,
        draw(texts(6)),
        languages=draw(st.lists(st.sampled_from(LANGUAGES), max_size=2)),
        title=draw(lines(1, 3)),
        aliases=tuple(draw(st.lists(lines(1, 2), max_size=2))),
        tags=tuple(draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True))),
        description=draw(lines(0, 2)),
        summary=draw(lines(0, 2)),
        collection=draw(st.sampled_from(COLLECTIONS)),
        kind=draw(st.sampled_from(Kind)),
        path=draw(st.sampled_from(PATHS)),
        owner=draw(st.sampled_from(OWNERS)),
        updated=draw(st.sampled_from((None, *DAYS))),
        created=draw(st.sampled_from((None, *DAYS))),
        used=draw(st.sampled_from((None, *DAYS))),
        url=draw(st.sampled_from(URLS)),
        arguments=draw(st.sampled_from(((), ("city",)))),
        properties=draw(st.sampled_from(PROPERTIES)),
        archived=draw(flags()),
        deleted=hidden and draw(flags()),
        encrypted=hidden and draw(flags()),
        searchable=not (hidden and draw(flags())),
    )


@st.composite
def shelves(draw: st.DrawFn, *, hidden: bool = True) -> list[Prepared]:
    """Some documents with different ids."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=3, unique=True))
    return [draw(documents(id, hidden=hidden)) for id in ids]


@st.composite
def words(draw: st.DrawFn) -> Word:
    """A word of one or two terms, sometimes as a prefix."""
    spelled = draw(st.lists(st.sampled_from((*VOCABULARY, "be")), min_size=1, max_size=2))
    terms = tuple(sorted({stem for text in spelled for stem in stemmed(text)}))
    return Word(spelled[0], terms, draw(flags()))


@st.composite
def phrases(draw: st.DrawFn) -> Phrase:
    """Words of any sort, or a quotation."""
    if draw(st.booleans()):
        # An engine need only know how to look for a prefix at the end of a phrase.
        *first, last = draw(st.lists(words(), min_size=1, max_size=2))
        return Phrase((*(replace(word, prefix=False) for word in first), last))
    spelled = draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=2))
    return phrase(" ".join(spelled), quoted=True)


def nears() -> st.SearchStrategy[Near]:
    """Two or three phrases at a small distance."""
    several = st.lists(phrases(), min_size=2, max_size=3).map(tuple)
    return st.builds(Near, several, st.integers(0, 4))


def clauses(depth: int = 3) -> st.SearchStrategy[Clause]:
    """A clause at most `depth` levels deep."""
    leaves: st.SearchStrategy[Clause] = st.one_of(phrases(), nears())
    if depth <= 1:
        return leaves
    inner = clauses(depth - 1)
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        leaves,
        st.builds(InField, st.sampled_from((*FIELDS, "title", "body", "body")), inner),
        st.builds(All, several),
        st.builds(Either, several),
        st.builds(Without, inner),
    )


VALUES = (
    "status:done", "status:OPEN|done", "status:=in progress", "status:*", "status:yes", "status:i*",
    "rating:3", "rating:>3", "rating:<=4.5", "rating:1..3", "rating:4.50", "due:2024-05",
    "due:<2024-05-02", "due-date:2024-05-02", "nested:*", "empty:*", "ghost:1", "rating:>1d",
)  # fmt: skip


def _valued(text: str) -> Valued:
    name, _, value = text.partition(":")
    found = valued(name, value, DAYS[-1])
    assert found is not None
    return found


def filters(depth: int = 2) -> st.SearchStrategy[Filter]:
    """Any filter; an exclusion of an exclusion is one, too."""
    traits = {
        Trait.KIND: tuple(Kind),
        Trait.COLLECTION: (*COLLECTIONS, "ghost"),
        Trait.TAG: (*TAGS, "WORK", "work/deep"),
        Trait.PATH: ("notes", "notes/*.md", "**/two*", "top.md"),
        Trait.LANGUAGE: LANGUAGES,
    }
    leaves: st.SearchStrategy[Filter] = st.one_of(
        *(
            st.lists(st.sampled_from(values), min_size=1, max_size=2).map(
                lambda chosen, trait=trait: Among(trait, tuple(chosen))
            )
            for trait, values in traits.items()
        ),
        st.builds(
            During,
            st.sampled_from(Time),
            st.sampled_from((None, *DAYS)),
            st.sampled_from((None, *DAYS)),
        ),
        st.builds(Having, st.sampled_from(Part)),
        st.sampled_from(VALUES).map(_valued),
    )
    return st.one_of(leaves, st.builds(Except, filters(depth - 1))) if depth else leaves


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """A scope with any of its parts, most of them not there."""

    def some(values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(draw(st.lists(st.sampled_from(values), max_size=2))) if draw(flags()) else ()

    return Scope(
        owner=draw(st.sampled_from(OWNERS)) if draw(flags()) else None,
        collections=some(COLLECTIONS),
        kinds=some(tuple(Kind)),
        tags=some(TAGS),
        without_tags=some(TAGS),
        paths=some(("notes", "*.md")),
        languages=some(LANGUAGES),
        updated_from=draw(st.sampled_from(DAYS)) if draw(flags()) else None,
        updated_before=draw(st.sampled_from(DAYS)) if draw(flags()) else None,
        archived=draw(st.booleans()),
        clause=draw(clauses(2)) if draw(flags()) else None,
        filters=tuple(draw(st.lists(filters(), max_size=2))),
    )  # type: ignore[arg-type]
