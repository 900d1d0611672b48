"""The report: one file that needs nothing else, in which nothing is markup that was not meant."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.run_builders import GOLDEN, PERFECT, run_of
from twolane.evaluation.golden import GoldenQuery, GoldenSet
from twolane.evaluation.report import gather, html_report, markdown_report, relevances
from twolane.evaluation.runs import Run
from twolane.model.errors import BadInput

HOSTILE = """"><script>alert('x')</script><img src=x onerror=alert(1)>&{{}}%s|\\`]]>https://evil"""
MEASURES = ("ndcg@10", "recall@10", "mrr")


class Tags(HTMLParser):
    """Counts the tags of a page, and keeps their attributes and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Tags:
    """The tags of a page, each of which is closed where it must be."""
    found = Tags()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def with_text(text: str) -> list[Run]:
    """Two runs in which everything that can be a text is this one."""
    queries = tuple(
        replace(query, query=f"{text} {query.id}", direction=text, category=text)
        for query in GOLDEN.queries
    )
    golden = replace(GOLDEN, name=text or "set", description=text, queries=queries)
    run = run_of(golden=golden, name=text, mode="hybrid", settings={"embedding.embedder": text})
    turned = {id: tuple(reversed(paths)) for id, paths in PERFECT.items()}
    other = run_of(
        turned,
        golden=golden,
        name=f"{text}2",
        commit=text,
        machine={"system": text, f"x {text}": text},
    )
    degraded = replace(other.asked[0], degraded=(text,))
    return [run, replace(other, asked=(degraded, *other.asked[1:]))]


def test_hostile_texts_stay_texts() -> None:
    """A title that looks like a script is shown, and makes no tag and no attribute."""
    page = html_report(gather(with_text(HOSTILE), MEASURES, HOSTILE))
    found = read(page)
    assert found.tags.keys().isdisjoint({"script", "img", "iframe", "object", "link", "a"})
    assert not any(name.startswith("on") for name, _ in found.attributes)
    assert HOSTILE in "".join(found.text)
    assert found.tags == read(html_report(gather(with_text("kind"), MEASURES, "kind"))).tags


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).filter(str.strip))
def test_any_text_stays_text(text: str) -> None:
    """Whatever a query says, the page has the same tags, and the Markdown the same columns."""
    usual, given = gather(with_text("kind"), MEASURES), gather(with_text(text), MEASURES)
    assert read(html_report(given)).tags == read(html_report(usual)).tags
    columns = [line.count("|") - line.count("\\|") for line in rows(markdown_report(given))]
    assert columns == [line.count("|") for line in rows(markdown_report(usual))]


def rows(markdown: str) -> list[str]:
    """The lines of all tables."""
    return [line for line in markdown.split("\n") if line.startswith("|")]


def test_nothing_is_loaded() -> None:
    """The page names no other file and no address, neither in markup nor in style."""
    page = html_report(gather([run_of(), run_of(name="b", ms=90)], MEASURES))
    assert not re.search(r"https?:|//|url\(|@import|src=|href=", page)


def test_the_page_suits_its_reader() -> None:
    """It says its language, and is light or dark as the reader's system is."""
    page = html_report(gather([run_of(), run_of(name="b")], MEASURES))
    assert page.startswith("<!DOCTYPE html>")
    assert 'lang="en"' in page and "prefers-color-scheme:dark" in page


def test_figures_are_the_same_in_both_forms() -> None:
    """Means, intervals and differences of the HTML are found in the Markdown."""
    turned = {id: tuple(reversed(paths)) for id, paths in PERFECT.items()}
    gathered = gather([run_of(), run_of(turned, name="b")], MEASURES)
    page, text = html_report(gathered), markdown_report(gathered)
    (group,) = gathered.groups
    found = group.entries[1].comparison
    assert found is not None and found.delta < 0
    for figure in (f"{found.before:.3f}", f"{found.after:.3f}", f"{-found.delta:.3f}"):
        assert figure.removeprefix("0") in page and figure.removeprefix("0") in text


def test_runs_of_several_sets_stand_apart() -> None:
    """Each golden set has a section, and is compared within itself only."""
    other = GoldenSet("other", queries=(GoldenQuery("z", "z", relevant=("a.md",)),))
    runs = [run_of(), run_of({"z": ("a.md",)}, golden=other), run_of(name="again")]
    gathered = gather(runs, MEASURES)
    assert [(one.golden, len(one.entries)) for one in gathered.groups] == [("set", 2), ("other", 1)]
    assert gathered.groups[0].entries[1].comparison is not None
    assert html_report(gathered).count("<h2>") == 3


def test_runs_of_one_name_are_told_apart() -> None:
    """Labels are names, with modes or numbers where names alone are not enough."""
    runs = [run_of(), run_of(mode="lexical"), run_of(name="x"), run_of(name="x")]
    labels = [one.label for one in gather(runs, MEASURES).groups[0].entries]
    assert len(set(labels)) == 4
    assert [one.label for one in gather(runs[:2], MEASURES).groups[0].entries] == [
        "hybrid",
        "lexical",
    ]


def test_a_set_without_answers_is_shown_all_the_same() -> None:
    """Unanswerable queries have no means, but times and verdicts."""
    nothing = GoldenSet("u", queries=(GoldenQuery("u", "u", unanswerable=True),))
    gathered = gather([run_of({"u": ("a.md",)}, golden=nothing)], MEASURES)
    assert "0 of 1 unanswerable queries recognised, 1 not judged" in html_report(gathered)
    assert "| hybrid |" in markdown_report(gathered)
    with pytest.raises(BadInput):
        gather([], MEASURES)


def with_relevance(run: Run) -> Run:
    """The run with the relevance .8, .7, .6 … of its places, from the first down."""
    asked = tuple(
        replace(
            one,
            ranking=tuple(
                replace(place, relevance=round(0.8 - 0.1 * at, 1))
                for at, place in enumerate(one.ranking)
            ),
        )
        for one in run.asked
    )
    return replace(run, asked=asked)


def test_relevances_of_right_and_other_results() -> None:
    """Relevances are sorted by whether the result was right; runs without any have none."""
    assert relevances(run_of()) == ([], [])
    right, other = relevances(with_relevance(run_of()))
    assert right == [0.8, 0.7, 0.8, 0.8, 0.7]
    assert other == [0.6, 0.7, 0.6]
    text = markdown_report(gather([with_relevance(run_of())], MEASURES))
    assert "0.80 is the median of 5 right results, 0.60 of 3 others" in text
    assert "rated higher with a chance of .933" in text


def test_changes_are_told_with_what_gave_the_first_its_place() -> None:
    """The features of the first right answer stand beside the query that moved."""
    turned = {id: tuple(reversed(paths)) for id, paths in PERFECT.items()}
    text = markdown_report(gather([run_of(), run_of(turned, name="b")], MEASURES))
    assert "why the first is there now" in text
    assert "bm25f +1.0, passage +0.7" in text
