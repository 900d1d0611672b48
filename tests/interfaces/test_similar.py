"""`twolane similar`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write

NOTES = {
    "soup.md": "# Soup\n\nOnions, water, salt and one carrot. See [[stock]].\n",
    "stock.md": "---\ntags: [kitchen]\n---\n# Stock\n\nOnions, water and a carrot, but no salt.\n",
    "stew.md": "# Stew\n\n## Base\n\nOnions, carrots and water for hours.\n",
    "chess.md": "# Chess\n\nRooks belong behind passed pawns.\n",
}


@pytest.fixture
def cooked(twolane: Cli, tmp_path: Path) -> Cli:
    """The command line over a vault about soup."""
    twolane("index", write(tmp_path / "vault", NOTES))
    return twolane


def test_results_say_why(cooked: Cli) -> None:
    """A result shows its title, how similar it is, the closest passages and the shared words."""
    lines = cooked("similar", "-n", "1", "soup.md").stdout.splitlines()
    assert lines[0].startswith("1. Stock  score 0.")
    assert lines[1] == "   stock.md  linked"
    assert lines[2].startswith("   :1-3  ~  :4-6  (0.")
    assert lines[3].startswith("   both: ")
    assert "Onions" in lines[3]


def test_json(cooked: Cli) -> None:
    """The JSON has exactly the promised keys."""
    said = cooked.json("similar", "Soup")
    assert set(said) == {"id", "title", "generation", "degraded", "took_ms", "results"}
    assert (said["id"], said["title"], said["generation"]) == ("vault/soup.md", "Soup", 1)
    assert [result["path"] for result in said["results"]][-1] == "chess.md"
    first = said["results"][0]
    assert set(first) == {
        "file",
        "id",
        "kind",
        "collection",
        "path",
        "url",
        "title",
        "tags",
        "updated",
        "score",
        "similarity",
        "shared",
        "linked",
        "passages",
    }
    assert (first["id"], first["linked"], first["tags"]) == ("vault/stock.md", True, ["kitchen"])
    assert set(first["passages"]) == {"own", "other", "similarity"}
    assert first["passages"]["own"] == {"heading": [], "lines": [1, 3]}


def test_without_linked_ones(cooked: Cli) -> None:
    """--exclude-linked leaves out what is linked in either direction."""
    for reference, missing in (("soup.md", "stock.md"), ("stock.md", "soup.md")):
        said = cooked.json("similar", reference, "--exclude-linked")
        assert missing not in [result["path"] for result in said["results"]]
        assert len(said["results"]) == 2


def test_filters(cooked: Cli) -> None:
    """The filters are those of a search; the document itself need not pass them."""
    said = cooked.json("similar", "soup.md", "--tag", "kitchen")
    assert [result["path"] for result in said["results"]] == ["stock.md"]


def test_without_vectors(twolane: Cli, tmp_path: Path) -> None:
    """Before there are vectors the words decide, and a message says so."""
    twolane("index", "--no-wait", write(tmp_path / "vault", NOTES))
    done = twolane("similar", "-n", "1", "soup.md")
    assert done.stdout.startswith("1. Stock\n")
    assert "the words decide" in done.stderr
    said = twolane.json("similar", "soup.md")
    assert [degradation["lane"] for degradation in said["degraded"]] == ["dense"]
    assert said["results"][0]["passages"] is None


def test_nothing_similar(twolane: Cli, tmp_path: Path) -> None:
    """A note that is alone has no similar ones, which is no error."""
    twolane("index", write(tmp_path / "vault", {"soup.md": "# Soup\n"}))
    assert "no results" in twolane("similar", "soup.md").stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "no document"),
        (("soup.md", "--collection", "nowhere"), "nowhere"),
        (("soup.md", "-n", "0"), "-n"),
        ((), "DOC"),
    ],
)
def test_bad_input(cooked: Cli, words: tuple[str, ...], said: str) -> None:
    """What cannot be done exits with 2 and says why."""
    assert said in cooked("similar", *words, code=2).stderr
