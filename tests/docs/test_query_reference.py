"""The query language is documented in full, and its examples are what they are said to be."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import pytest

from tests.builders import open_library
from tests.docs.pages import REFERENCE, coded, read, rows, section
from twolane.query import Filters, parse
from twolane.query.syntax import DEEPEST, NAMES
from twolane.text.tokens import words_of

PAGE = read(REFERENCE / "query-language.md")
HELD = ("en", "ru", "zh")


def examples(*headings: str) -> list[str]:
    """The queries in the first column of the tables under the headings."""
    return [
        query
        for heading in headings
        for cells in rows(section(PAGE, f"## {heading}"))
        for query in coded(cells[0])
    ]


def test_every_name_before_a_colon_is_described() -> None:
    """Each field and filter stands in the tables, in each of its spellings."""
    told = {query.partition(":")[0] for query in examples("Fields", "Filters")}
    assert told >= set(NAMES)


@pytest.mark.parametrize("query", examples("Words", "What is read as words"))
def test_what_is_read_as_words(query: str) -> None:
    """Without syntax there are words, no demand and no filter."""
    found = parse(query, HELD)
    assert found.words
    assert found.clause is None
    assert found.filters == Filters()


@pytest.mark.parametrize(
    "query", examples("Phrases", "Operators", "Exclusions", "Nearness", "Fields")
)
def test_what_is_a_demand(query: str) -> None:
    """Syntax makes a demand, or a filter where tags and kinds are excluded."""
    found = parse(query, HELD)
    assert found.clause is not None or found.filters != Filters()


@pytest.mark.parametrize("query", examples("Filters"))
def test_what_is_a_filter(query: str) -> None:
    """A filter restricts, and is no word to look for."""
    found = parse(query, HELD)
    assert found.filters != Filters()
    assert not found.words
    assert found.clause is None


def test_prefixes_are_shown_as_such() -> None:
    """The example of a prefix is one."""
    (query,) = [query for query in examples("Words") if query.endswith("*")]
    assert parse(query, HELD).words[0].prefix


def test_slips_are_taken_for_what_the_page_says(tmp_path: Path) -> None:
    """Each slip of the table is repaired in the sample vault, as the table has it."""
    with (
        open_library(tmp_path / "notes.db", "none") as library,
        as_file(files("twolane")) as package,
    ):
        library.index(package / "sample_vault")
        for typed, meant, _ in rows(section(PAGE, "## Slips")):
            (repair,) = library.search(coded(typed)[0]).repairs
            stems = {term for word in words_of(" ".join(coded(meant)), ()) for term in word.terms}
            assert set(repair.terms) == stems, typed


def test_the_limits_are_the_real_ones() -> None:
    """What the page says of limits is what the parser does."""
    limits = section(PAGE, "## Limits")
    assert f"nest {DEEPEST} deep" in limits
    assert "first 64 words" in limits
    assert len(parse(" ".join(f"w{number}" for number in range(99)), HELD).words) == 64
    assert "10,000 characters" in limits
    assert len(parse("x" * 20_000, HELD).text) == 10_000
    assert "64 values" in limits
    assert len(parse(" ".join(f"#t{number}" for number in range(99)), HELD).filters.tags) == 64


def test_what_is_embedded() -> None:
    """The example of a meaning is right."""
    query, meaning = coded(section(PAGE, "## What is embedded"))[:2]
    assert parse(query, HELD).meaning == meaning


@pytest.mark.parametrize("query", examples("Properties"))
def test_what_filters_by_a_property(query: str) -> None:
    """A property that some document has restricts, and is no word to look for."""
    found = parse(query, HELD, properties={"status", "rating", "done", "due"})
    assert found.filters.filters
    assert not found.words
    assert found.clause is None
