"""What a terminal shows of results: where they are, how relevant, a passage, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import twolane.interfaces.cli.output as output
from twolane.model.answer import Answer, Contribution, Feature, Result
from twolane.text.plural import counted

# A passage takes no more lines than this.
_LINES = 2

# What each feature means to somebody who looks for something.
WORDS = {
    Feature.BM25F: "how well its words fit",
    Feature.COVERAGE: "share of your words",
    Feature.PASSAGE_COVERAGE: "words in one passage",
    Feature.TITLE: "words of its title",
    Feature.PAIRS: "words side by side",
    Feature.ALL_WORDS: "every word is there",
    Feature.PASSAGE: "nearest passage",
    Feature.SENTENCE: "nearest sentence",
    Feature.DOCUMENT: "the document as a whole",
    Feature.NAME: "its name",
    Feature.EXACT: "the letters as typed",
    Feature.PARALLEL: "says the same as",
    Feature.SMALL_LIBRARY: "few documents in all",
    Feature.RANK: "rank",
}

# A bar of this many signs is this much log-odds: a chance of 1 in 2 becomes 49 in 50.
_SIGNS, _LONGEST = 20, 4.0


def show_results(
    results: Sequence[Result], links: Mapping[str, str], *, mixed: bool, explain: bool
) -> None:
    """Print results; `mixed` is whether several collections are among them."""
    for number, result in enumerate(results, start=1):
        if number > 1:
            output.say()
        label = f"{number}. "
        title = [
            (text, output.linked(style, links.get(result.id)))
            for text, style in output.marked(result.title_html, output.TITLE)
        ]
        output.say((label, output.DIM), *title, (_relevance(result), output.DIM))
        _show_body(result, len(label), mixed=mixed)
        if explain:
            _show_explanation(result, len(label))


def show_lanes(answer: Answer) -> None:
    """Print what each lane found, and how long it took."""
    for lane in answer.lanes:
        said = f"{lane.lane.value:<8}  hits {lane.hits}  weight {lane.weight:g}  {lane.ms:.1f} ms"
        output.say((said, output.DIM))
    for missing in answer.degraded:
        output.say((f"{missing.lane.value:<8}  did not run: {missing.reason}", output.BAD))
    generation = f"  generation {answer.generation}" if answer.generation is not None else ""
    output.say((f"{'total':<8}  {answer.took_ms:.1f} ms{generation}", output.DIM))


def explained(contribution: Contribution) -> str:
    """One line: what it is, how much it is, what it gave, and a bar."""
    words = WORDS[contribution.feature]
    if contribution.feature is Feature.RANK:
        return (
            f"{contribution.lane.value:<8}  rank {contribution.value:g}  {contribution.share:.5f}"
        )
    sign = "-" if contribution.share < 0 else "+"
    signs = round(_SIGNS * min(1.0, abs(contribution.share) / _LONGEST))
    of = f"  {contribution.parallel}" if contribution.parallel else ""
    line = f"{words:<24}{contribution.value:>6.2f}  {contribution.share:>+6.2f}  {sign * signs}{of}"
    return line.rstrip()


def percent(relevance: float) -> str:
    """The chance that a result is relevant, as people say it."""
    return "<1%" if relevance < 0.005 else f"{relevance:.0%}"


def line_range(lines: tuple[int, int]) -> str:
    """Lines of a file: `3`, or `3-7`."""
    first, last = lines
    return f"{first}-{last}" if last > first else f"{first}"


def _relevance(result: Result) -> str:
    return "" if result.relevance is None else f"  {percent(result.relevance)}"


def _show_body(result: Result, indent: int, *, mixed: bool) -> None:
    """Where it is, its passage, its tags and its copies."""
    where = result.path or result.url or result.id
    lines = f":{line_range(result.lines)}" if result.lines and result.path else ""
    breadcrumb = f"  {' > '.join(result.heading)}" if result.heading else ""
    # Two collections may have files of the same path.
    breadcrumb += f"  (in {result.collection})" if mixed else ""
    tags = " ".join(f"#{tag}" for tag in result.tags)
    passage = "".join(text for text, _ in output.marked(result.snippet))
    # A document without text may have nothing to show that is not shown anyway.
    is_place = passage == where
    place = [*output.marked(result.snippet, output.PLACE)] if is_place else [(where, output.PLACE)]
    output.say(*place, (lines, output.PLACE), (breadcrumb, output.DIM), indent=indent)
    if passage and passage not in (where, result.title):
        output.say(*_shortened([*output.marked(result.snippet)], indent), indent=indent)
    if tags and tags != passage:
        output.say((tags, output.DIM), indent=indent)
    if result.copies:
        copies = counted(len(result.copies), "copy", "copies")
        output.say((f"{copies}: {', '.join(result.copies)}", output.DIM), indent=indent)


def _shortened(pieces: list[tuple[str, str]], indent: int) -> list[tuple[str, str]]:
    """As much of a passage as fits into the lines that it may take, around its marks."""
    signs = [(sign, style) for text, style in pieces for sign in text]
    text = "".join(sign for sign, _ in signs)
    if output.lines_of(text, indent) <= _LINES:
        return pieces
    # Each word that begins at or before a mark may be the first that is shown.
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == " ")]
    room = _LINES * (output.width() - indent)
    marks = [
        at
        for at, (before, sign) in enumerate(pairwise([("", ""), *signs]))
        if sign[1] == output.MARK != before[1]
    ]
    start = max(starts, key=lambda at: (sum(at <= mark < at + room - 12 for mark in marks), -at))
    words = text[start:].split(" ")
    shown = ""
    for word in words:
        longer = f"{shown} {word}" if shown else word
        if shown and output.lines_of(f"…{longer}…", indent) > _LINES:
            break
        shown = longer
    end = start + len(shown)
    before, after = ("…" if start else "", ""), ("…" if end < len(text) else "", "")
    return [before, *signs[start:end], after]


def _show_explanation(result: Result, indent: int) -> None:
    """Its score, ranks and words, and what each feature gave."""
    said = [f"score {result.score:.2f}"]
    if result.relevance is not None:
        said.append(f"relevance {result.relevance:.2f}")
    said += [f"{lane.value} rank {rank}" for lane, rank in result.ranks.items()]
    if result.foreign:
        said.append("in another language than the query")
    if result.matched:
        said.append(f"holds {', '.join(result.matched)}")
    output.say(("  ".join(said), output.DIM), indent=indent)
    if result.copy_of:
        told = f"a copy of {result.copy_of}, so it comes after other documents"
        output.say((told, output.DIM), indent=indent + 2)
    for contribution in result.contributions:
        output.say((explained(contribution), output.DIM), indent=indent + 2)
