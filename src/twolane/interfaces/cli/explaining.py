"""What the features of a result gave it, in words and bars."""

from __future__ import annotations

from twolane.model.answer import Contribution, Feature

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
    Feature.RANK: "rank",
}

# A bar of this many signs is this much log-odds: a chance of 1 in 2 becomes 49 in 50.
_SIGNS, _LONGEST = 20, 4.0


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
