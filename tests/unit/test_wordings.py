"""Other wordings of a query are features of its ranking."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import indexed_library, write_notes
from twolane import Library
from twolane.model.answer import Feature, Lane
from twolane.ranking.phrasings import Phrasings

NOTES = {
    "tea.md": "# Green tea\n\nSteep it at eighty degrees, never with boiling water.\n",
    "soil.md": "# Compost\n\nWorms turn leaves and grass into dark soil by spring.\n",
    "bread.md": "# Bread\n\nFeed the starter twice a day with flour and water.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Library:
    """Three notes with vectors."""
    write_notes(tmp_path / "notes", NOTES)
    return indexed_library(tmp_path / "notes", tmp_path / "x.db")


def test_each_wording_is_one_feature(notes: Library) -> None:
    """A document moves towards what a wording says of it, by the wording's weight."""
    with notes as library:
        plain = {one.id: one.score for one in library.search("what do worms eat").results}
        given = Phrasings("leaves grass", "food of worms", "Worms eat leaves and grass.")
        answer = library.search("what do worms eat", phrasings=given)
        assert answer.results[0].id.endswith("soil.md")
        for result in answer.results:
            moved = {one.feature: one for one in result.contributions if one.lane is Lane.EXPAND}
            if result.id in plain:
                told = plain[result.id] + sum(one.share for one in moved.values())
                assert result.score == pytest.approx(told)
        best = {one.feature: one.weight for one in answer.results[0].contributions}
        assert best[Feature.EXPECTED_ANSWER] == 0.5
        assert best[Feature.SHORT_QUERY] == best[Feature.REPHRASED_QUERY] == 0.1


def test_a_wording_brings_documents_that_the_query_does_not_find(notes: Library) -> None:
    """They are judged by the query as well, and carry the rank that the wording gave them."""
    with notes as library:
        answer = library.search("xyzzy", mode="lexical")
        assert not answer.results
        answer = library.search("xyzzy", mode="lexical", phrasings=Phrasings("starter flour"))
        (result,) = answer.results
        assert result.id.endswith("bread.md") and result.ranks == {Lane.EXPAND: 1}


def test_names_and_codes_are_left_alone(notes: Library) -> None:
    """What names its document is not blurred by other words."""
    with notes as library:
        plain = library.search('"eighty degrees"')
        worded = library.search('"eighty degrees"', phrasings=Phrasings("worms soil"))
        assert [one.score for one in worded.results] == [one.score for one in plain.results]
