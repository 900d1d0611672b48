"""Every way in which a golden set makes no sense is named, with its cure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from twolane.evaluation.golden import (
    Evidence,
    GoldenQuery,
    GoldenSet,
    validate,
)
from twolane.model.errors import BadGoldenSet

TEA = GoldenQuery("1", "green tea", ("en/tea.md",), ("ru/chai.md",), lang="en")
PATHS = ["en/tea.md", "en/coffee.md", "ru/chai.md", "ru/Зелёный чай.md"]


def problems_in(*queries: GoldenQuery, known: list[str] | None = None) -> tuple[str, ...]:
    """What is wrong with a set that can be read but makes no sense."""
    with pytest.raises(BadGoldenSet) as caught:
        validate(GoldenSet("tiny", queries=queries), known)
    return caught.value.problems


def test_a_sound_set_is_accepted() -> None:
    """A set whose documents exist has no problem."""
    chai = GoldenQuery("2", "чай", ("/ru/%D0%97%D0%B5%D0%BB%D1%91%D0%BD%D1%8B%D0%B9%20чай",))
    none = GoldenQuery("3", "whales", unanswerable=True)
    validate(GoldenSet("sound", queries=(TEA, chai, none)), PATHS)
    validate(GoldenSet("sound", queries=(TEA, chai, none)))


def test_an_empty_set_is_refused() -> None:
    """A set without queries measures nothing."""
    assert problems_in() == ("the set has no queries; add some",)


def test_repeated_ids_are_refused() -> None:
    """Rows of a table are told apart by their ids."""
    other = replace(TEA, query="black tea")
    assert problems_in(TEA, other) == ("query '1': the id is used before; give each query its own",)


def test_repeated_queries_are_refused() -> None:
    """A query that only differs where search sees no difference would count twice."""
    first = replace(TEA, query="зелёный чай")
    (found,) = problems_in(first, replace(TEA, id="2", query="Зеленый  чай "))
    assert found.startswith("query '2': asks the same as query '1' ('Зеленый  чай ')")


def test_empty_texts_are_refused() -> None:
    """A query needs a name and something to search for."""
    assert problems_in(replace(TEA, id=" ", query="")) == (
        "query ' ': the id is empty; give the query a name",
        "query ' ': the query is empty; write what to search for",
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"partial": ("en/tea.md",)}, "'en/tea.md' is both relevant and partial; decide for one"),
        (
            {"partial": ("/en/tea",)},
            "'/en/tea' is both relevant (as 'en/tea.md') and partial; decide for one",
        ),
        (
            {"relevant": ("/en/tea", "en/tea.md")},
            "'en/tea.md' is listed twice as relevant (as '/en/tea'); keep one",
        ),
        (
            {"relevant": ("en/tea.md", "en/tea.md")},
            "'en/tea.md' is listed twice as relevant; keep one",
        ),
        (
            {"graded": (("en/tea.md", 1),)},
            "'en/tea.md' is both relevant and graded; decide for one",
        ),
    ],
)
def test_contradictions_are_refused(fields: dict[str, Any], problem: str) -> None:
    """A document has one judgment per query, however it is spelt."""
    assert problems_in(replace(TEA, **{"partial": (), **fields})) == (f"query '1': {problem}",)


def test_another_suffix_is_another_document() -> None:
    """Two files that differ in their suffix alone may both be judged."""
    validate(GoldenSet("s", queries=(replace(TEA, relevant=("a.md", "a.markdown")),)))


@pytest.mark.parametrize(
    "fields",
    [{}, {"partial": ("en/tea.md",)}, {"graded": (("en/tea.md", 0),)}],
    ids=["nothing", "partial", "graded-zero"],
)
def test_an_answerable_query_needs_an_answer(fields: dict[str, Any]) -> None:
    """Something must be relevant, or the query be marked unanswerable."""
    assert problems_in(GoldenQuery("1", "tea", **fields)) == (
        "query '1': no relevant document; name one, or mark the query unanswerable",
    )


@pytest.mark.parametrize(
    "fields",
    [{"relevant": ("a.md",)}, {"partial": ("a.md",)}, {"graded": (("a.md", 1),)}],
    ids=["relevant", "partial", "graded"],
)
def test_an_unanswerable_query_has_no_answer(fields: dict[str, Any]) -> None:
    """A document that answers an unanswerable query contradicts the mark."""
    assert problems_in(GoldenQuery("1", "tea", unanswerable=True, **fields)) == (
        "query '1': unanswerable, yet 'a.md' is said to answer it; remove the document or the mark",
    )


@pytest.mark.parametrize(
    ("reference", "advice"),
    [
        ("en/tee.md", "did you mean 'en/tea.md'?"),
        ("old/chai.md", "did you mean 'ru/chai.md'?"),
        ("/old/chai", "did you mean 'ru/chai.md'?"),
        ("EN/TEA.md", "did you mean 'en/tea.md'?"),
        ("ru/Зеленый чаи.md", "did you mean 'ru/Зелёный чай.md'?"),
        ("qqqqqqqqqqqq", "correct the path, or remove it"),
    ],
)
def test_unknown_documents_get_the_nearest_name(reference: str, advice: str) -> None:
    """A document that does not exist is named, with the nearest one that does."""
    assert problems_in(replace(TEA, relevant=(reference,), partial=()), known=PATHS) == (
        f"query '1': no document {reference!r}; {advice}",
    )


def test_a_large_vault_gets_suggestions_too() -> None:
    """The nearest of many paths is found, and only so many are looked for."""
    known = [f"folder-{number % 7}/note-{number * 7919}.md" for number in range(3_000)]
    wrong = [path.replace("note", "nte") for path in known[:110]]
    queries = [GoldenQuery(path, path, (path,)) for path in wrong]
    found = problems_in(*queries, known=known)
    assert [one.rpartition("; ")[2] for one in found] == [
        *(f"did you mean {path!r}?" for path in known[:100]),
        *["correct the path, or remove it"] * 10,
    ]


def test_evidence_must_exist_too() -> None:
    """A quotation from a document that does not exist is a problem."""
    quoted = replace(TEA, evidence=(Evidence("en/cofee.md", "x"),))
    assert problems_in(quoted, known=PATHS) == (
        "query '1': no document 'en/cofee.md'; did you mean 'en/coffee.md'?",
    )


def test_without_documents_the_vault_is_to_blame() -> None:
    """An empty index is not answered with a list of misspellings."""
    (found,) = problems_in(replace(TEA, partial=()), known=[])
    assert found.endswith("there are no documents at all; index the vault first")


def test_a_reference_must_name_one_document() -> None:
    """A page that two files could be is refused; written in full it is not."""
    query = replace(TEA, relevant=("/a",), partial=())
    (found,) = problems_in(query, known=["a.md", "a.markdown"])
    assert found == "query '1': '/a' may be any of a.markdown, a.md; write the path in full"
    validate(GoldenSet("s", queries=(replace(query, relevant=("a.md",)),)), ["a.md", "a.markdown"])
    validate(GoldenSet("s", queries=(replace(query, relevant=("a",)),)), ["a", "a.md"])


def test_paths_match_in_either_unicode_form() -> None:
    """A path decomposed by a file system is the path that was typed."""
    validate(
        GoldenSet("s", queries=(replace(TEA, relevant=("йод.md",), partial=()),)), ["и\u0306од.md"]
    )


def test_every_problem_is_listed() -> None:
    """One validation finds them all; a long message is cut, the list is not."""
    queries = tuple(GoldenQuery(str(number), f"query {number}") for number in range(150))
    with pytest.raises(BadGoldenSet) as caught:
        validate(GoldenSet("large", queries=queries))
    assert len(caught.value.problems) == 150
    message = str(caught.value)
    assert message.startswith("large: 150 problems in this golden set\n  query '0': no relevant")
    assert message.endswith("\n  … and 50 more")
