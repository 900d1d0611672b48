"""Asking a library: filters by name, modes by name, and words that are still being typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interfaces.conftest import write
from twolane import BadInput, Library, Settings
from twolane.model.answer import Mode, ModeName

NOTES = {
    "sync.md": "---\ntags: [files, sync]\n---\n# Sync conflicts\n\nTwo versions of a note.\n",
    "relay.md": "---\ntags: [sync]\n---\n# Set up Relay\n\nSync through our server.\n",
    "tmux.md": "# tmux.conf\n\nSettings of the terminal, not of sync.\n",
    "shop.md": "---\nkind: bookmark\nurl: https://example.org\n---\n# Sync shop\n\nCables.\n",
    "size.md": "# Helmets\n\nSizes S and M.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A few notes, found by their words."""
    folder = tmp_path_factory.mktemp("asking")
    settings = Settings().changed(**{"embedding.embedder": "none"})
    with Library.open(folder / "notes.db", settings=settings) as opened:
        opened.index(write(folder / "vault", NOTES))
        yield opened


def titles(library: Library, text: str, *, typing: bool = True) -> list[str]:
    """The titles of what is found by words, best first."""
    return [one.title for one in library.search(text, mode="lexical", typing=typing).results]


def test_the_first_result_stays_while_a_word_is_typed(library: Library) -> None:
    """From its second letter on a word is the beginning of one, whatever else is spelled so."""
    word = "conflict"
    first = {titles(library, f"sync {word[:end]}")[0] for end in range(2, len(word) + 1)}
    assert first == {"Sync conflicts"}
    # A file name holds these letters as a word.
    assert titles(library, "sync conf", typing=False)[0] == "tmux.conf"


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("conflcit", "Sync conflicts"),
        ("sync s", "Sync conflicts"),
        ("helm", "Helmets"),
        ("sync ", "Sync conflicts"),
        ("cables OR", "Sync shop"),
    ],
)
def test_what_is_no_beginning_stays_as_it_is(library: Library, typed: str, first: str) -> None:
    """Slips are repaired, one letter after other words says nothing, operators are no words."""
    assert titles(library, typed)[0] == first


def test_a_quotation_is_not_gone_on_with(library: Library) -> None:
    """Within quotes every letter counts; the answer repeats what was typed, and no more."""
    assert titles(library, '"sync conf"') == []
    assert library.search("sync conf", mode="lexical", typing=True).query == "sync conf"


def test_filters_by_name(library: Library) -> None:
    """Filters are keywords, one value or several; a scope of None is everything of one's own."""
    found = library.search("sync", mode="lexical", scope=None, kind="bookmark").results
    assert [one.title for one in found] == ["Sync shop"]
    found = library.search("sync", mode="lexical", tag=["files", "sync"], kind=None).results
    assert [one.title for one in found] == ["Sync conflicts"]
    with pytest.raises(BadInput, match="there is no filter 'tagg'; the filters are kind, "):
        library.search("sync", tagg="files")


def test_modes_by_name(library: Library) -> None:
    """Every mode goes by its name, and another name is refused with those that there are."""
    assert ModeName.__args__ == tuple(Mode)  # type: ignore[attr-defined]
    wrong: ModeName = "fuzzy"  # type: ignore[assignment]
    with pytest.raises(BadInput, match="there is no mode 'fuzzy'; the modes are hybrid, lexical"):
        library.search("sync", mode=wrong)
