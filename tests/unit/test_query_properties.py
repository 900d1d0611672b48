"""What holds for every query, however odd."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.builders import prepared
from twolane.model.document import Kind, Prepared
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Scope, Without
from twolane.query import Filters, narrow, parse
from twolane.stores.memory.matching import in_scope, meets
from twolane.text.names import matches_any

HELD = ("en", "ru", "de")
NOW = datetime(2024, 3, 31, tzinfo=UTC)
NOBODY = parse("")

# Pieces of syntax, whole and broken, and words with and without meaning.
PIECES = (
    *("ant", "bee", "the", "и", "Ёлка", "猫", "don't", "to-do", "ab*", "C++", "'", '"', "«", "»"),
    *("“", "„", "AND", "OR", "NOT", "(", ")", "-", "--", "-(", "NEAR(", ", 3)", "title:", "tag:"),
    *("#ant", "kind:note", "kind:x", "path:a*", "in:x", "lang:ru", "after:2024", "updated:1y..2d"),
    *("*", ":", "&", "\x00", "\ud800", "\u0301", "\u200b", "…", " ", " ", " ", "\n"),
)
typed = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
)
plain = st.lists(
    st.sampled_from(("ants", "Bee", "the", "и", "Ёлка", "天文学", "ts_rank", "to-do", "x.y", "&")),
    max_size=8,
).map(" ".join)


@settings(max_examples=600, deadline=None)
@given(text=typed)
@example(text="\ud800\udc00" * 20)
@example(text="-" * 50 + "(" * 50)
def test_anything_can_be_typed(text: str) -> None:
    """Every text gives a query, always the same one, that can be stored and sent."""
    query = parse(text, HELD, now=NOW)
    assert query == parse(text, HELD, now=NOW)
    repr(query).encode()
    for part in (query.text, query.meaning, *leaf_texts(query.clause)):
        part.encode()
        assert "\x00" not in part


@settings(max_examples=600, deadline=None)
@given(text=typed)
def test_words_are_marked_and_bounded(text: str) -> None:
    """Each word is a mark; words and marks are distinct, few, and have terms."""
    query = parse(text, HELD, now=NOW)
    assert set(query.words) <= set(query.marks)
    assert len(query.words) <= 64
    keys = [(word.terms, word.prefix) for word in query.marks]
    assert len(keys) == len(set(keys))
    assert all(word.terms and all(word.terms) for word in query.marks)
    assert bool(query.marks) or not query.meaning


@settings(max_examples=300, deadline=None)
@given(text=typed)
def test_clauses_are_well_formed(text: str) -> None:
    """A group has at least two parts, a phrase has something to find, fields are not nested."""
    check(parse(text, HELD, now=NOW).clause)


@settings(max_examples=300, deadline=None)
@given(text=plain)
def test_the_meaning_of_a_plain_query_is_the_query(text: str) -> None:
    """Parsing what would be embedded gives the same words again."""
    query = parse(text, HELD)
    assert query.clause is None
    again = parse(query.meaning, HELD)
    assert (again.words, again.marks, again.reading) == (query.words, query.marks, query.reading)


@settings(max_examples=300, deadline=None)
@given(
    text=typed,
    before=plain,
    excluded=st.sampled_from(
        (
            "-yak",
            "-yaks*",
            '-"yak"',
            "-(yak)",
            "-title:yak",
            "-tag:yak",
            "-NEAR(yak yak)",
            "NOT yak",
        )
    ),
)
def test_exclusions_are_neither_marked_nor_meant(text: str, before: str, excluded: str) -> None:
    """What is excluded is never highlighted, scored or embedded, whatever stands around it."""
    # A quote or parenthesis that reaches over the exclusion would make it something else.
    around = "".join(char for char in text if char not in "()'\"«»“”„‘’")
    query = parse(f"{before} {excluded} {around}", HELD)
    if "OR" not in around and "NOT" not in around:
        assert "yak" not in query.meaning
        assert not any("yak" in word.text for word in query.marks)


WORDS = ("ant", "bee", "cat", "dog")
trees = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.tuples(st.just("NOT"), inner),
        st.tuples(st.sampled_from(("AND", "OR", "")), inner, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(tree=trees, held=st.sets(st.sampled_from(WORDS)))
def test_operators_mean_what_they_say(tree: object, held: set[str]) -> None:
    """A boolean query lets through exactly the documents for which the expression is true."""
    clause = parse(f"({written(tree)}) AND (ant OR NOT ant)", ("en",)).clause
    assert clause is not None
    assert meets(prepared("a", " ".join(sorted(held))), clause) == is_true(tree, held)


def written(tree: object) -> str:
    """The expression as it is typed."""
    match tree:
        case str():
            return tree
        case ("NOT", inner):
            return f"NOT ({written(inner)})"
        case (operator, one, two):
            return f"({written(one)}) {operator} ({written(two)})"
    raise AssertionError(tree)


def is_true(tree: object, held: set[str]) -> bool:
    """Whether the expression is true of a document with these words."""
    match tree:
        case str():
            return tree in held
        case ("NOT", inner):
            return not is_true(inner, held)
        case ("OR", one, two):
            return is_true(one, held) or is_true(two, held)
        case (_, one, two):
            return is_true(one, held) and is_true(two, held)
    raise AssertionError(tree)


PATTERNS = ("a", "a/*", "a/**", "**/b", "*b*", "?", "a/b", "**", "*", "a?", "./a/", "b/**/a")
PATHS = ("a", "b", "ab", "a/b", "a/ab", "b/a", "b/b/a", "a/b/b", None)
DAYS = tuple(datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3))


def some(values: tuple[object, ...]) -> st.SearchStrategy[tuple[object, ...]]:
    """None, one or two of the values."""
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


filters = st.fixed_dictionaries(
    {
        "kinds": some(tuple(Kind)),
        "tags": some(("home", "work")),
        "without_tags": some(("home", "work")),
        "paths": some(PATTERNS),
        "collections": some(("notes", "links")),
        "languages": some(("en", "ru")),
        "updated_from": st.sampled_from((None, *DAYS)),
        "updated_before": st.sampled_from((None, *DAYS)),
    }
)
documents = st.builds(
    lambda kind, tags, path, collection, languages, updated, body: prepared(
        "x", body, kind=kind, tags=tags, path=path, collection=collection,
        languages=languages, updated=updated,
    ),
    st.sampled_from(Kind),
    some(("home", "work")),
    st.sampled_from(PATHS),
    st.sampled_from(("notes", "links")),
    some(("en", "ru")),
    st.sampled_from((None, *DAYS)),
    st.sampled_from(("", "ant", "bee", "ant\n\nbee")),
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    given_scope=filters,
    asked=filters,
    demand=st.sampled_from(("", "-ant", '"bee"')),
    document=documents,
)
def test_narrowing_never_widens(
    given_scope: dict[str, object], asked: dict[str, object], demand: str, document: Prepared
) -> None:
    """What a narrowed scope lets through, the scope and the query each let through alone.

    The reverse holds too, save for patterns that overlap and documents in several languages.
    """
    scope = Scope(**given_scope, clause=parse("-bee").clause)  # type: ignore[arg-type]
    query = replace(parse(demand), filters=Filters(**asked))  # type: ignore[arg-type]
    alone = Scope(**asdict(query.filters), clause=query.clause)
    both = in_scope(document, scope) and in_scope(document, alone)
    narrowed = in_scope(document, narrow(scope, query))
    assert both or not narrowed
    if not (scope.paths and alone.paths) and not (scope.languages and alone.languages):
        assert narrowed == both


signs = st.text("ab/*?", min_size=1, max_size=6).filter(lambda text: text.strip("/."))


@settings(max_examples=600, deadline=None)
@given(one=signs, other=signs, path=st.text("ab/", min_size=1, max_size=6))
@example(one="b", other="**/a", path="b/a")
@example(one="a?", other="a*", path="abb")
@example(one="b/a", other="b/*", path="b/a/a")
def test_common_paths_fit_both_patterns(one: str, other: str, path: str) -> None:
    """A path that fits the pattern left by narrowing fits the patterns of both sides."""
    query = replace(NOBODY, filters=Filters(paths=(other,)))
    left = narrow(Scope(paths=(one,)), query)
    if not left.documents and matches_any(path, left.paths):
        assert matches_any(path, (one,))
        assert matches_any(path, (other,))


@pytest.mark.parametrize(
    "piece",
    ["(", "()", "( ", "(a) ", "-(", '"', "'a ", '"a" ', "NOT ", "a OR ", "NEAR(", "NEAR(a b) ",
     "title:", "title:(", "#a ", "kind:note ", "a", "ab* ", "*", "天", "a-", "the ", "-x ",
     "path:*a", "\ud800", "\x00", "\u0301\u0327", "x(", "a'", "»", "(a OR "],
)  # fmt: skip
def test_hostile_input_costs_little(piece: str) -> None:
    """A megabyte of anything is answered in a moment, and gives a query of bounded size."""
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    query = parse(text, HELD)
    # An ordinary machine takes a tenth of a second; quadratic time would take minutes.
    assert time.process_time() - start < 3
    assert len(query.marks) <= 64 + 256 + 64
    check(query.clause)


def check(clause: Clause | None, *, field: bool = False) -> None:
    """The clause has the shape that stores may expect."""
    match clause:
        case Phrase(words, literal):
            assert words or literal
            assert len(words) <= 64
        case Near(phrases):
            assert len(phrases) > 1
            assert all(phrase.words for phrase in phrases)
        case InField(_, inner):
            assert not field
            check(inner, field=True)
        case All(clauses) | Either(clauses):
            assert len(clauses) > 1
            for each in clauses:
                check(each, field=field)
        case Without(inner):
            assert not isinstance(inner, Without)
            check(inner, field=field)


def leaf_texts(clause: Clause | None) -> list[str]:
    """Everything in a clause that a store would bind."""
    match clause:
        case Phrase(words, literal):
            return [literal or "", *(term for word in words for term in word.terms)]
        case Near(inner) | All(inner) | Either(inner):
            return [text for each in inner for text in leaf_texts(each)]
        case InField(_, inner) | Without(inner):
            return leaf_texts(inner)
        case _:
            return []
