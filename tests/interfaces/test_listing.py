"""`twolane search` as a list: sorted, without a query, page by page."""

from __future__ import annotations

import pytest

from tests.interfaces.conftest import Cli


def listed(cli: Cli, *words: str) -> list[str]:
    """The paths of the results."""
    return [result["path"] for result in cli.json("search", *words)["results"]]


def test_a_list_without_a_query(indexed: Cli) -> None:
    """A sort or a filter is enough, and an empty query lists everything."""
    titles = [result["title"] for result in indexed.json("search", "--sort", "title")["results"]]
    assert titles == sorted(titles, key=str.casefold)
    assert len(titles) > 2
    assert set(listed(indexed, "")) == set(listed(indexed, "--sort", "updated"))
    assert listed(indexed, "--kind", "note", "--sort", "title") == listed(
        indexed, "kind:note", "--sort", "title"
    )
    assert (
        listed(indexed, "--sort", "title", "--reverse") == listed(indexed, "--sort", "title")[::-1]
    )


def test_pages(indexed: Cli) -> None:
    """The `next` of one page is the cursor of the one after it."""
    whole = listed(indexed, "--sort", "title")
    found, cursor = [], []
    for _ in range(len(whole)):
        page = indexed.json("search", "--sort", "title", "-n", "2", *cursor)
        found += [result["path"] for result in page["results"]]
        if page["next"] is None:
            break
        cursor = ["--cursor", page["next"]]
    assert found == whole


def test_a_person_is_told_of_more(indexed: Cli) -> None:
    """A sorted list that goes on says how to see the rest, on standard error."""
    done = indexed("search", "--sort", "title", "-n", "1")
    assert "there is more: --cursor " in done.stderr
    assert "--cursor" not in indexed("search", "tea", "-n", "1").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give a QUERY"),
        (("--sort", "relevance"), "without words"),
        (("tea", "--reverse"), "one way only"),
        (("tea", "--sort", "size"), "--sort"),
        (("tea", "--cursor", "x"), "no cursor"),
        (("--batch", "-", "--json", "--cursor", "x"), "--cursor"),
        (("tea", "--batch", "-", "--json"), "either"),
    ],
)
def test_what_cannot_be_listed(indexed: Cli, words: tuple[str, ...], said: str) -> None:
    """What cannot be done exits with 2 and says what to do."""
    assert said in indexed("search", *words, code=2).stderr
