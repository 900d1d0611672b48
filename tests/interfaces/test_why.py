"""`twolane why`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write

KEYS = {
    "query",
    "mode",
    "limit",
    "id",
    "collection",
    "path",
    "url",
    "title",
    "standing",
    "verdict",
    "rank",
    "score",
    "relevance",
    "found",
    "copy_of",
    "foreign",
    "contributions",
    "obstacles",
    "opinions",
    "words",
    "coverage",
    "passage",
    "suggestion",
    "degraded",
    "generation",
    "took_ms",
}


def test_the_verdict_comes_first(indexed: Cli) -> None:
    """The first line says where the document is and why, then comes a table."""
    lines = indexed("why", "green tea", "kitchen/green tea.md").stdout.splitlines()
    assert lines[0].startswith("It is 1st of ")
    assert lines[1] == "kitchen/green tea.md  Green tea"
    assert lines[3].split() == ["lane", "rank", "share"]
    rows = {line.split()[0]: line for line in lines[4:] if line}
    assert {"lexical", "dense"} <= set(rows)
    assert "green (title, headings, body)" in rows["words"]
    assert "coverage 1.00" in rows["words"]
    assert "similarity" in rows["passage"]


def test_why_not(indexed: Cli) -> None:
    """A document that a filter removes names the filter and what would help."""
    said = indexed("why", "scissors", "Pruning tomatoes", "--path", "kitchen").stdout
    assert said.splitlines()[0] == (
        "It is not found because its path “garden/Tomatoes.md” is not under “kitchen”."
    )
    assert "try       without the filter path “kitchen” it is 1st: scissors" in said


def test_a_word_too_many(indexed: Cli) -> None:
    """What to type instead is shown."""
    said = indexed("why", "scissors -shoots", "garden/Tomatoes.md").stdout
    assert "which is excluded" in said.splitlines()[0]
    assert "try       without -shoots it is 1st: scissors" in said


def test_quiet_is_the_verdict_alone(indexed: Cli) -> None:
    """With --quiet only the verdict is printed."""
    said = indexed("why", "-q", "green tea", "kitchen/green tea.md").stdout
    assert said.startswith("It is 1st")
    assert said.count("\n") == 1


def test_json(indexed: Cli) -> None:
    """The JSON has exactly the promised keys, for a document that is found."""
    said = indexed.json("why", "scissors tomatoes", "garden/Tomatoes.md", "-n", "2")
    assert set(said) == KEYS
    assert (said["rank"], said["standing"], said["limit"]) == (1, "shown", 2)
    assert said["title"] == "Pruning tomatoes"
    assert {"lexical", "dense"} <= {opinion["lane"] for opinion in said["opinions"]}
    assert set(said["opinions"][0]) == {
        "lane",
        "hits",
        "rank",
        "share",
        "reason",
    }
    assert said["words"][0] == {
        "word": "scissors",
        "held": True,
        "fields": ["body"],
        "taken_for": [],
    }
    assert set(said["passage"]) == {"heading", "lines", "similarity"}
    assert (said["obstacles"], said["suggestion"], said["degraded"]) == ([], None, [])
    (result, *_) = indexed.json("search", "scissors tomatoes")["results"]
    assert said["score"] == result["score"]


def test_json_of_what_is_missing(indexed: Cli) -> None:
    """Obstacles and suggestions have their keys, too."""
    said = indexed.json("why", "scissors tag:drinks", "garden/Tomatoes.md")
    assert set(said) == KEYS
    assert (said["rank"], said["standing"]) == (None, "missing")
    assert said["obstacles"] == [
        {
            "kind": "tag",
            "origin": "query",
            "what": "drinks",
            "reason": "it does not have the tag “drinks”",
        }
    ]
    assert said["suggestion"] == {
        "change": "drop-filter",
        "what": "tag:drinks",
        "query": "scissors",
        "value": None,
        "rank": 1,
    }


def test_an_excluded_file(indexed: Cli) -> None:
    """A file that was left out is told with its reason, and nothing of its content."""
    said = indexed("why", "pinch", "_templates/day.md").stdout
    assert "underscore" in said.splitlines()[0]
    assert "A template" not in said
    found = indexed.json("why", "pinch", "_templates/day.md")
    assert set(found) == KEYS
    assert (found["id"], found["title"], found["path"]) == (None, None, "_templates/day.md")


def test_a_new_file(twolane: Cli, vault: Path) -> None:
    """A file that is not indexed yet is told what to run."""
    twolane("index", vault)
    write(vault, {"new.md": "# New\n"})
    assert "twolane index" in twolane("why", "new", "new.md").stdout


def test_words_alone(indexed: Cli) -> None:
    """Without meaning only the words are judged, and the passage is the one with them."""
    said = indexed.json("why", "scissors", "garden/Tomatoes.md", "--mode", "lexical")
    assert "dense" not in [opinion["lane"] for opinion in said["opinions"]]
    assert said["passage"]["heading"] == ["Tools"]
    assert said["passage"]["similarity"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tea", "nothing"), "no document"),
        (("tea", "Green tea", "--collection", "nowhere"), "nowhere"),
        (("tea", "Green tea", "--after", "someday"), "a date"),
        (("tea", "Green tea", "-n", "0"), "-n"),
        (("tea",), "DOC"),
    ],
)
def test_bad_input(indexed: Cli, words: tuple[str, ...], said: str) -> None:
    """What cannot be done exits with 2 and says why."""
    assert said in indexed("why", *words, code=2).stderr


def test_on_a_terminal(indexed: Cli) -> None:
    """On a terminal the same is said, in colours."""
    said = indexed.on_terminal("why", "green tea", "Green tea")
    assert "\x1b[1m" in said
    assert "It is 1st of" in said
