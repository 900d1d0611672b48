"""`twolane search`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from math import exp
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write
from tests.waiting import PATIENCE

KEYS = {
    "query",
    "intent",
    "plan",
    "lanes",
    "degraded",
    "generation",
    "answerable",
    "repairs",
    "misread",
    "missing_tags",
    "took_ms",
    "next",
    "collections",
    "results",
}
RESULT_KEYS = {
    "id",
    "kind",
    "collection",
    "path",
    "url",
    "link",
    "title",
    "title_html",
    "tags",
    "updated",
    "score",
    "relevance",
    "heading",
    "lines",
    "snippet",
    "contributions",
    "ranks",
    "matched",
    "foreign",
    "copies",
    "copy_of",
    "file",
}


def paths(cli: Cli, *words: str) -> list[str]:
    """The paths that a search finds, best first."""
    return [result["path"] for result in cli.json("search", *words)["results"]]


def test_results_are_numbered_and_say_where_they_are(indexed: Cli) -> None:
    """A result shows its title, path and lines, heading path, passage and tags."""
    lines = indexed("search", "scissors", "--mode", "lexical").stdout.splitlines()
    assert re.fullmatch(r"1\. Pruning tomatoes  \d+%", lines[0])
    assert lines[1].startswith("   garden/Tomatoes.md:")
    assert "Tools" in lines[1]
    assert "clean scissors" in lines[2]
    assert lines[3] == "   #garden #summer"


def test_an_answer_says_that_nothing_is_relevant(indexed: Cli) -> None:
    """Where nothing answers the query, that is said before the nearest notes are shown."""
    query = (
        "search",
        "scissors quantum chromodynamics lattice gauge renormalisation hadron",
        "--mode",
        "lexical",
    )
    assert indexed(*query).stdout.startswith("nothing relevant; nearest:\n\n1. Pruning tomatoes  ")
    answer = indexed.json(*query)
    assert answer["answerable"] is False
    assert answer["results"][0]["relevance"] < 0.5
    explained = indexed("search", "scissors", "--mode", "lexical", "--explain").stdout
    assert "nothing relevant" not in explained
    assert "relevance 0." in explained
    assert "words in one passage      1.00" in explained


def test_words_need_no_quotes(indexed: Cli) -> None:
    """Several arguments are one query."""
    assert indexed.json("search", "green", "tea")["query"] == "green tea"
    assert paths(indexed, "green", "tea")[0] == "kitchen/green tea.md"


def test_json_has_the_keys_of_the_contract(indexed: Cli) -> None:
    """The JSON of a search has exactly the promised keys; those not built yet are null."""
    answer = indexed.json("search", "green tea", "-n", "1")
    assert set(answer) == KEYS
    assert answer["answerable"] is True
    assert answer["next"] is None or isinstance(answer["next"], str)
    assert (answer["intent"], answer["repairs"]) == ("keywords", [])
    assert answer["plan"] == {"lexical": 1.0, "dense": 1.0, "identity": 1.0}
    assert set(answer["lanes"]) == {"lexical", "dense", "identity"}
    assert all(set(lane) == {"hits", "ms"} for lane in answer["lanes"].values())
    assert answer["degraded"] == []
    assert answer["generation"] == 1
    (result,) = answer["results"]
    assert set(result) == RESULT_KEYS
    assert result["id"] == "Мои notes/kitchen/green tea.md"
    assert result["collection"] == "Мои notes"
    assert result["kind"] == "note"
    assert result["tags"] == ["drinks"]
    assert result["updated"].endswith("+00:00")
    assert "<mark>" in result["title_html"]
    assert "<mark>tea</mark>" in result["snippet"]
    assert {contribution["lane"] for contribution in result["contributions"]} >= {
        "lexical",
        "dense",
    }
    assert set(result["contributions"][0]) == {
        "lane",
        "feature",
        "value",
        "weight",
        "share",
        "parallel",
    }
    assert result["ranks"]["lexical"] == 1
    assert result["matched"] == ["green", "tea"]
    for one in result["contributions"]:
        assert one["share"] == pytest.approx(one["weight"] * one["value"], abs=0.001)
    assert result["relevance"] == pytest.approx(1 / (1 + exp(-result["score"])), abs=0.001)


def test_limit(indexed: Cli) -> None:
    """-n bounds the results, and must be at least one."""
    assert len(paths(indexed, "garden tea butter", "-n", "2")) == 2
    assert "-n" in indexed("search", "tea", "-n", "0", code=2).stderr


def test_modes(indexed: Cli) -> None:
    """Each mode runs its lanes."""
    for mode, lanes in (
        ("hybrid", {"lexical", "dense", "identity"}),
        ("lexical", {"lexical"}),
        ("semantic", {"dense"}),
        ("exact", {"exact"}),
    ):
        assert set(indexed.json("search", "tea", "--mode", mode)["lanes"]) == lanes
    assert "semantic" in indexed("search", "tea", "--mode", "nonsense", code=2).stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tag", "осень"], {"garden/Компост.md"}),
        (["--tag", "garden", "--tag", "summer"], {"garden/Tomatoes.md"}),
        (["--tag", "garden", "--not-tag", "summer"], {"garden/Компост.md"}),
        (["--path", "kitchen/*"], {"kitchen/green tea.md", "kitchen/C# cookies: a recipe.md"}),
        (["--lang", "ru"], {"garden/Компост.md"}),
        (["--collection", "Мои notes", "--lang", "ru"], {"garden/Компост.md"}),
        (["--kind", "bookmark"], set()),
        (["--before", "30d"], set()),
        (["--after", "2000-01", "--lang", "ru"], {"garden/Компост.md"}),
        (["--after", "2999"], set()),
    ],
)
def test_filters(indexed: Cli, options: list[str], expected: set[str]) -> None:
    """Filters leave only the documents that they describe."""
    query = "tomatoes compost tea butter Листья"
    assert set(paths(indexed, query, *options)) == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kind", "poem"], "note, bookmark, prompt"),
        (["--after", "someday"], "30d"),
        (["--before", "2024-13"], "2024-05-01"),
        (["--lang", "tlh"], "language"),
        (["--tag", "!"], "tag"),
        (["--collection", "nowhere"], "Мои notes"),
        (["--not-collection", "nowhere"], "Мои notes"),
        (["--has", "wings"], "url"),
        (["--where", "status"], "status:done"),
        (["--where", "wings:2"], "no document has the property 'wings'"),
    ],
)
def test_a_filter_that_makes_no_sense_is_explained(
    indexed: Cli, options: list[str], said: str
) -> None:
    """A filter with an impossible value says which values there are."""
    done = indexed("search", "tea", *options, code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert said in done.stderr


def test_a_filter_that_was_taken_for_words_is_told(indexed: Cli) -> None:
    """In a query such a filter is words; the answer says so, and what could be written."""
    said = indexed("search", "tea after:someday").stderr
    assert "after:someday was searched as words: 'someday' is not a date; write 2024" in said
    assert "after:someday" not in indexed("search", "-q", "tea after:someday").stderr


def test_archived_documents_are_out_unless_asked_for(twolane: Cli, tmp_path: Path) -> None:
    """--archived brings the archived documents in."""
    twolane("index", write(tmp_path / "v", {"old.md": "---\narchived: true\n---\nA quagga.\n"}))
    assert paths(twolane, "quagga") == []
    assert paths(twolane, "quagga", "--archived") == ["old.md"]
    assert twolane("get", "old.md").stdout == "A quagga.\n"


def test_explain_shows_what_each_feature_gave(indexed: Cli) -> None:
    """--explain lists score, ranks, words and what each feature gave, and times."""
    said = indexed("search", "green tea", "--explain", "-n", "1").stdout
    for word in (
        "lexical rank 1",
        "score",
        "how well its words fit",
        "+++",
        "holds green, tea",
        "ms",
    ):
        assert word in said


def test_copies_are_named_and_say_so(twolane: Cli, tmp_path: Path) -> None:
    """A note names its copies, and a copy comes later and says why."""
    text = "# Tide mill\n\nThe wheel was mended in spring, when the water stood low and clear.\n"
    notes = {"mill.md": text, "old/mill.md": text, "pond.md": "# Pond\n\nNo mill, no tide here.\n"}
    for name, body in notes.items():
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text(body, "utf-8")
    twolane("index", str(tmp_path / "vault"))
    said = twolane("search", "tide mill", "--mode", "lexical", "--explain").stdout
    assert "1 copy: vault/old/mill.md" in said
    assert "a copy of vault/mill.md, so it comes after other documents" in said
    found = json.loads(twolane("search", "tide mill", "--mode", "lexical", "--json").stdout)
    assert [result["path"] for result in found["results"]] == ["mill.md", "pond.md", "old/mill.md"]
    assert [result["copy_of"] for result in found["results"]] == [None, None, "vault/mill.md"]
    assert found["results"][0]["copies"] == ["vault/old/mill.md"]


def test_explain_says_what_is_in_another_language(indexed: Cli) -> None:
    """A document in none of the query's languages, which words hardly judge, is told so."""
    answer = indexed.json("search", "how do I steep the tea")
    foreign = {result["path"] for result in answer["results"] if result["foreign"]}
    assert foreign == {"garden/Компост.md"}
    said = indexed("search", "how do I steep the tea", "--explain", "--all").stdout
    assert "in another language than the query" in said


def test_no_results_is_no_failure(indexed: Cli) -> None:
    """Nothing found exits with 0, leaves standard output empty and says so beside it."""
    done = indexed("search", "xylophonist", "--mode", "lexical")
    assert (done.stdout, done.stderr) == ("", "no results\n")
    assert indexed("search", "xylophonist", "--mode", "lexical", "-q").stderr == ""


@pytest.mark.parametrize("query", ["", " ", '"', "((", "AND", "tag:", "NEAR(", "a" * 5000, "*"])
def test_any_query_is_answered(indexed: Cli, query: str) -> None:
    """Nothing that can be typed as a query is an error."""
    assert indexed.json("search", query)["query"] == query


def test_a_query_may_begin_with_a_dash(indexed: Cli) -> None:
    """After `--` a dash is part of the query, here an exclusion."""
    assert paths(indexed, "--", "-tea", "garden") != []
    assert "kitchen/green tea.md" not in paths(indexed, "--mode", "lexical", "--", "-boiling tea")


def test_a_query_and_a_batch_exclude_each_other(indexed: Cli) -> None:
    """One of query and batch is needed, and only one; a batch needs --json."""
    assert "give a QUERY" in indexed("search", code=2).stderr
    assert "either" in indexed("search", "tea", "--batch", "-", "--json", code=2).stderr
    assert "--json" in indexed("search", "--batch", "-", code=2).stderr


def test_batch_answers_line_by_line(indexed: Cli, tmp_path: Path) -> None:
    """A batch gives one object for each line that is not blank, in order."""
    queries = "green tea\n\n   \n\u2028листья трава\r\nno such thing"
    done = indexed("search", "--batch", "-", "--json", stdin=queries.encode())
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["query"] for one in said] == ["green tea", "\u2028листья трава", "no such thing"]
    assert said[1]["results"][0]["path"] == "garden/Компост.md"
    (tmp_path / "queries.txt").write_bytes(queries.encode("utf-8-sig"))
    again = indexed("search", "--batch", str(tmp_path / "queries.txt"), "--json").stdout
    assert [json.loads(line)["query"] for line in again.splitlines()] == [
        one["query"] for one in said
    ]


def test_batch_answers_before_the_next_line_comes(indexed: Cli) -> None:
    """Each answer is written at once, so that a program can ask and wait for its answer."""
    with indexed.beside("search", "--batch", "-", "--json") as process:
        assert process.stdin
        assert process.stdout
        for query in ("tea", "butter"):
            process.stdin.write(f"{query}\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["query"] == query
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_batch_file_that_is_missing(indexed: Cli) -> None:
    """A batch file that does not exist is named."""
    assert "nowhere.txt" in indexed("search", "--batch", "nowhere.txt", "--json", code=2).stderr


def test_a_lane_that_cannot_run_is_named(
    twolane: Cli, vault: Path, no_model: Callable[[Cli], Cli]
) -> None:
    """Without its model a hybrid search answers by words and says what is missing."""
    twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")("index", vault)
    broken = no_model(twolane)
    done = broken("search", "green tea")
    assert "Green tea" in done.stdout
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("warning: ")
    assert "dense" in done.stderr
    assert [
        degradation["lane"] for degradation in broken.json("search", "green tea")["degraded"]
    ] == ["dense"]
    assert "did not run" in broken("search", "green tea", "--explain").stdout
    assert broken("search", "green tea", "-q").stderr == ""


def test_meaning_that_was_demanded_and_is_missing_is_a_failure(
    twolane: Cli, vault: Path, no_model: Callable[[Cli], Cli]
) -> None:
    """A semantic search without its model exits with 5, and its JSON says why."""
    twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")("index", vault)
    broken = no_model(twolane)
    assert "dense" in broken("search", "tea", "--mode", "semantic", code=5).stderr
    assert broken.json("search", "tea", "--mode", "semantic", code=5)["degraded"]


def test_a_terminal_sees_colours_and_a_pipe_does_not(indexed: Cli) -> None:
    """Marks are coloured on a terminal; NO_COLOR takes the colour, a pipe every escape."""
    said = indexed.on_terminal("search", "green tea")
    assert "\x1b[1;33mtea\x1b[0m" in said
    assert "33m" not in indexed.on_terminal("search", "green tea", NO_COLOR="1")
    assert "\x1b" not in indexed("search", "green tea").stdout
    assert "<mark>" not in said


def test_notes_cannot_command_the_terminal(twolane: Cli, tmp_path: Path) -> None:
    """Escape sequences in a note reach neither results nor a terminal that shows the note."""
    note = "# Evil \x1b]0;owned\x07 title\n\nA quagga \x1b[2J here & <there>.\n"
    twolane("index", write(tmp_path / "v", {"evil.md": note}))
    assert "\x1b" not in twolane("search", "quagga").stdout
    assert "here & <there>" in twolane("search", "quagga").stdout
    assert "\x1b[2J" not in twolane.on_terminal("search", "quagga")
    assert "\x1b[2J" not in twolane.on_terminal("get", "evil.md")
    assert "\x1b[2J" in twolane("get", "evil.md").stdout


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell")
def test_a_reader_that_leaves_early_is_no_error(twolane: Cli, tmp_path: Path) -> None:
    """`| head -1` ends the command quietly, however much is left to say."""
    notes = {f"{number}.md": f"# Tea {number}\n\n{'tea ' * 200}\n" for number in range(300)}
    twolane("index", "--no-wait", write(tmp_path / "many", notes))
    command = " ".join(
        f"'{word}'" for word in twolane.arguments("search", "tea", "-n", "300", "--mode", "lexical")
    )
    for pipe in (f"{command} | head -1", f"{command} --json | head -c 10"):
        done = subprocess.run(
            ["/bin/sh", "-c", pipe],
            env=twolane.environment,
            cwd=twolane.home,
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert done.stdout
        assert done.stderr == b""


def test_the_real_model_finds_by_meaning_and_across_languages(twolane: Cli, vault: Path) -> None:
    """With the model inside the package, a query without common words finds its note."""
    real = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")
    said = real("index", vault).stdout
    assert "passages embedded" in said
    answer = real.json("search", "a hot drink made from leaves")
    assert answer["results"][0]["path"] == "kitchen/green tea.md"
    assert answer["degraded"] == []
    crossing = real.json("search", "compost heap with worms", "-n", "2")
    assert "garden/Компост.md" in [result["path"] for result in crossing["results"]]


def test_a_tag_that_no_document_has_is_told(indexed: Cli) -> None:
    """An empty answer names the tag and those like it; it is no error, and --quiet is quiet."""
    done = indexed("search", "tomatoes", "--tag", "gardn")
    assert done.stderr == "no document here has the tag gardn; near it: garden\nno results\n"
    said = indexed.json("search", "tomatoes tag:gardn")
    assert said["missing_tags"] == [{"tag": "gardn", "near": ["garden"]}]
    assert indexed("search", "--quiet", "tomatoes", "--tag", "gardn").stderr == ""
