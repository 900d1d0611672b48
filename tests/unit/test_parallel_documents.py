"""Documents that say the same in two languages speak for each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import unit, write_notes
from twolane import Library, Settings
from twolane.model.candidate import Candidate
from twolane.model.space import Space
from twolane.ranking.parallel_documents import find_parallels

USE = Space("use", "m", "1", 512, chunker="1")


def vector(*values: float) -> object:
    """A unit vector that begins with these numbers."""
    return np.asarray(unit(*values, *[0.0] * (514 - len(values))), np.float32)


EAST, NORTH = vector(1, 0), vector(0, 1)
# As near to the east as two passages of which one cannot be sure that they say the same.
BETWEEN = vector(0.675, (1 - 0.675**2) ** 0.5)


def parallels(*found: tuple[str, object], space: Space = USE) -> list[dict[str, float]]:
    """What each of the documents, given by language and vector, is parallel to."""
    candidates = [
        Candidate(str(at), (language,) if language else ())
        for at, (language, _) in enumerate(found)
    ]
    vectors = {str(at): np.asarray(vector) for at, (_, vector) in enumerate(found)}
    find_parallels(candidates, vectors, space)
    return [one.parallels for one in candidates]


def test_the_same_in_two_languages() -> None:
    """A note and its translation are told of each other, and of no third."""
    told = parallels(("en", EAST), ("ru", EAST), ("ru", NORTH))
    assert told == [{"1": 1.0}, {"0": 1.0}, {}]


def test_half_as_close_is_half_as_sure() -> None:
    """Between the bounds, .60 and .75, sureness grows in proportion."""
    (told, _) = parallels(("en", EAST), ("ru", BETWEEN))
    assert told["1"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("languages", [("en", "en"), ("", "ru"), ("en", "")])
def test_needs_two_languages(languages: tuple[str, str]) -> None:
    """Two notes in one language, or of no known one, are not parallel."""
    one, other = languages
    assert parallels((one, EAST), (other, EAST)) == [{}, {}]


def test_only_the_model_without_an_accent_is_compared() -> None:
    """Dimensions of the second model beside it change nothing."""
    told = parallels(("en", vector(1, *[0.0] * 511, 5)), ("ru", EAST))
    assert told[0]["1"] == pytest.approx(1.0)


def test_a_space_that_nobody_measured_has_none() -> None:
    """How near translations are is known for two spaces."""
    unknown = Space("hashing", "m", "1", 514, chunker="1")
    assert parallels(("en", EAST), ("ru", EAST), space=unknown) == [{}, {}]


@given(
    st.lists(
        st.tuples(st.sampled_from(["en", "ru", "de", ""]), st.sampled_from([EAST, NORTH, BETWEEN])),
        max_size=8,
    )
)
def test_each_is_as_sure_of_the_other(found: list[tuple[str, object]]) -> None:
    """Sureness is mutual, above 0 and at most 1."""
    told = parallels(*found)
    for at, others in enumerate(told):
        for other, closeness in others.items():
            assert 0 < closeness <= 1
            assert told[int(other)][str(at)] == pytest.approx(closeness)


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
    settings = Settings(
        db=tmp_path / "x.db", cache=tmp_path / "cache", embedding={"embedder": "use"}
    )
    with Library.open(settings=settings) as library:
        library.index(tmp_path / "notes")
        library.embed()
        asked = "how to keep mice out of the hive in frost"
        first, second, *_ = library.search(asked).results
        assert (first.path, second.path) == ("en/hive.md", "ru/улей.md")
        assert second.foreign
        (found,) = [one for one in library.candidates(asked) if one.id == second.id]
        assert found.parallels[first.id] > 0.5
        assert "in another language" in library.why(asked, second.id).verdict
