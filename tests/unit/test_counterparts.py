"""Documents that say the same in two languages vouch for each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import indexed_library, unit, write_notes
from twolane.model.answer import Counterpart, Lane
from twolane.model.candidate import Hit, Neighbour
from twolane.ranking.fusion import Ranking, fuse
from twolane.ranking.parallel_documents import Bounds, lifted

BOUNDS = Bounds(slice(0, 2), unlike=0.6, alike=0.8)
EAST, NORTH, BETWEEN = unit(1, 0), unit(0, 1), unit(0.7, 0.7141)


def near(id: str, language: str, similarity: float, vector: object = EAST) -> Neighbour:
    """A neighbour with a vector, in one language or in none."""
    return Neighbour(
        id, (language,) if language else (), 0, similarity, np.asarray(vector, np.float32)
    )


def order(found: list[Neighbour]) -> list[str]:
    """The ids as they come for an English query."""
    return [one.neighbour.id for one in lifted(found, {"en"}, BOUNDS)]


class TestLifting:
    """The dense lane ranks both by the better of two measurements."""

    def test_the_original_rises_to_its_translation(self) -> None:
        """An English note that the model underrates comes just before its Russian counterpart."""
        found = [
            near("ru", "ru", 0.5),
            near("other", "en", 0.4, NORTH),
            near("en", "en", 0.2),
        ]
        first, second, third = lifted(found, {"en"}, BOUNDS)
        assert [one.neighbour.id for one in (first, second, third)] == ["en", "ru", "other"]
        assert first.similarity == second.similarity == 0.5
        assert first.counterpart == Counterpart("ru", 1.0)
        assert second.counterpart == Counterpart("en", 1.0)
        assert third.counterpart is None

    def test_the_translation_rises_most_of_the_way(self) -> None:
        """A Russian note follows its English counterpart, behind it and before the rest."""
        found = [near("en", "en", 0.5), near("other", "en", 0.4, NORTH), near("ru", "ru", 0.2)]
        assert order(found) == ["en", "ru", "other"]
        assert lifted(found, {"en"}, BOUNDS)[1].similarity == pytest.approx(0.2 + 0.9 * 0.3)

    def test_half_as_close_is_half_the_way(self) -> None:
        """Between the bounds the lift grows in proportion."""
        found = [near("ru", "ru", 0.5), near("en", "en", 0.1, BETWEEN)]
        at = lifted(found, {"en"}, BOUNDS)[1]
        assert at.counterpart is not None
        assert at.counterpart.closeness == pytest.approx(0.5, abs=0.01)
        assert at.similarity == pytest.approx(0.3, abs=0.01)

    @pytest.mark.parametrize("languages", [("en", "en"), ("", "ru"), ("en", "")])
    def test_needs_two_languages(self, languages: tuple[str, str]) -> None:
        """Two notes in one language, or of no known one, are no counterparts."""
        one, other = languages
        found = [near("a", one, 0.5), near("b", other, 0.1), near("c", "ru", 0.05, NORTH)]
        assert [one.similarity for one in lifted(found, {"en"}, BOUNDS)] == [0.5, 0.1, 0.05]

    def test_only_the_named_dimensions_count(self) -> None:
        """A part of the vectors outside the bounds' dimensions changes nothing."""
        found = [near("ru", "ru", 0.5, unit(1, 0, 0)), near("en", "en", 0.1, unit(1, 0, 5))]
        assert lifted(found, {"en"}, BOUNDS)[0].counterpart == Counterpart("ru", 1.0)

    def test_nothing_to_do_in_one_language(self) -> None:
        """Where all are in the query's language, no vector is even looked at."""
        found = [Neighbour("a", ("en",), 0, 0.5), Neighbour("b", ("en",), 0, 0.4)]
        assert order(found) == ["a", "b"]

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["en", "ru", "de", ""]),
                st.floats(0, 1, width=32),
                st.sampled_from([EAST, NORTH, BETWEEN]),
            ),
            max_size=12,
        )
    )
    def test_nobody_falls_and_nobody_overtakes(self, rows: list[tuple[str, float, object]]) -> None:
        """A lift only raises, and never beyond the highest similarity there is."""
        rows.sort(key=lambda row: -row[1])
        found = [near(f"{n:02}", *row) for n, row in enumerate(rows)]
        highest = max((one.similarity for one in found), default=0.0)
        ranked = lifted(found, {"en"}, BOUNDS)
        assert sorted(one.neighbour.id for one in ranked) == [one.id for one in found]
        for one in ranked:
            assert one.neighbour.similarity - 1e-9 <= one.similarity <= highest + 1e-9
        assert [one.similarity for one in ranked] == sorted(
            (one.similarity for one in ranked), reverse=True
        )


class TestFusion:
    """The lexical lane judges a translation by its original."""

    def votes(self, close: float, words: float) -> float:
        """What the lexical lane gives a translation whose original it gave a vote."""
        lexical = [Hit("best", ("en",), 2.0), Hit("en", ("en",), 1.0, vote=words)]
        dense = [Hit("ru", ("ru",), 0.5, counterpart=Counterpart("en", close))]
        fused = fuse(
            [Ranking(Lane.LEXICAL, 1.0, lexical), Ranking(Lane.DENSE, 1.0, dense)],
            k=10,
            plausible={"en"},
        )
        cast = next(one for one in fused if one.id == "ru").contributions
        return next(one.value for one in cast if one.lane == Lane.LEXICAL)

    def test_gets_what_the_original_got(self) -> None:
        """A sure counterpart earns the same, be it much or little."""
        assert self.votes(1.0, 1.0) == pytest.approx(1 / 12)
        assert self.votes(1.0, 0.1) == pytest.approx(0.1 / 12)

    def test_without_a_counterpart_it_abstains(self) -> None:
        """No closeness at all is plain abstention, and half of it is half of each."""
        assert self.votes(0.0, 0.1) == pytest.approx(1 / 11)
        assert self.votes(0.5, 0.1) == pytest.approx((1 / 11 + 0.1 / 12) / 2)

    def test_silence_about_the_original_is_a_no(self) -> None:
        """A translation of a note without any word of the query earns nothing by words."""
        dense = [Hit("ru", ("ru",), 0.5, counterpart=Counterpart("absent", 1.0))]
        lanes = [
            Ranking(Lane.LEXICAL, 1.0, [Hit("best", ("en",), 2.0)]),
            Ranking(Lane.DENSE, 1.0, dense),
        ]
        fused = {one.id: one for one in fuse(lanes, k=10, plausible={"en"})}
        assert fused["ru"].score == pytest.approx(1 / 11)


NOTES = {
    "en/hive.md": (
        "# Wintering\n\nNarrow the entrance of the hive before the first frost, "
        "so that no mouse gets in.\n"
    ),
    "ru/улей.md": (
        "# Зимовка\n\nПеред первыми заморозками сузьте вход в улей, чтобы мышь не пролезла.\n"
    ),
    "en/chain.md": "# Chain\n\nPut one drop of oil on each roller of the bicycle chain.\n",
    "ru/сон.md": "# Сон\n\nСпать лучше в тёмной и прохладной комнате, без телефона.\n",
}


@pytest.mark.slow
def test_the_whole_of_it(tmp_path: Path) -> None:
    """With the default model a note and its translation come first, and the diagnosis says why."""
    write_notes(tmp_path / "notes", NOTES)
    with indexed_library(
        tmp_path / "notes", tmp_path / "x.db", "use", cache=tmp_path / "cache"
    ) as library:
        asked = "how to keep mice out of the hive in frost"
        first, second, *_ = library.search(asked).results
        assert (first.path, second.path) == ("en/hive.md", "ru/улей.md")
        (lexical,) = [one for one in second.contributions if one.lane == Lane.LEXICAL]
        assert lexical.counterpart is not None
        assert lexical.counterpart.id == first.id
        (opinion,) = [
            one for one in library.why(asked, second.id).opinions if one.lane == Lane.LEXICAL
        ]
        assert opinion.reason.endswith(f"judged by {first.id}")
