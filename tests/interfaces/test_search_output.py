"""What `twolane search` prints: how many results, how relevant, how long, in which form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, _at, write
from tests.interfaces.http.conftest import serving

LONG = (
    "The mill at the river has a wheel of oak that was cut in the forest behind the hill. "
    "Every spring the miller mends it, and every autumn the flood takes a board or two. "
    "On the third day of the market a quagga was seen there, drinking from the mill race. "
    "Nobody knows where it came from, and the children still tell of it in the evening."
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A library with twelve notes about tea, and others that hold the word once at most."""
    folder = tmp_path_factory.mktemp("many")
    notes = {f"tea/{n:02}.md": f"# Tea {n}\n\nBrew tea number {n}.\n" for n in range(12)}
    filler = "A long walk past fields and barns, with nothing to drink but water. " * 20
    notes |= {f"walk/{n}.md": f"# Walk {n}\n\n{filler}\n\nThen tea.\n" for n in range(4)}
    notes["mill.md"] = f"# Mill\n\n{LONG}\n"
    cli = _at(folder / "home")
    cli("index", write(folder / "notes", notes))
    cli("save", "https://example.org/tea-shop", "--title", "Tea shop")
    return cli


def titles(said: str) -> list[str]:
    """The titles of the results that were printed."""
    return re.findall(r"^\d+\. (.*?)(?:  <?\d+%)?$", said, re.MULTILINE)


def test_eight_results_are_shown_and_the_rest_is_counted(many: Cli) -> None:
    """A screen holds eight; what is left out is counted, and --all or -n shows it."""
    done = many("search", "tea", "--mode", "lexical")
    assert len(titles(done.stdout)) == 8
    count = len(many.json("search", "tea", "--mode", "lexical")["results"])
    assert count > 12
    assert done.stderr == f"{count - 8} more: --all\n"
    whole = many("search", "tea", "--mode", "lexical", "--all")
    assert len(titles(whole.stdout)) == count
    assert whole.stderr == ""
    assert len(titles(many("search", "tea", "--mode", "lexical", "-n", "10").stdout)) == 10
    assert many("search", "tea", "--mode", "lexical", "-q").stderr == ""


def test_more_than_a_search_gives_are_counted_too(many: Cli) -> None:
    """The count is of all that match, and the number beside it shows them."""
    query = ("search", "tea", "--mode", "lexical")
    count = len(many.json(*query, "-n", "100")["results"])
    few = {"TWOLANE_SEARCH_LIMIT": "9"}
    assert many(*query, **few).stderr == f"{count - 9} more: -n {count}\n"
    assert len(titles(many(*query, "-n", str(count), **few).stdout)) == count


def test_the_settings_say_how_many_are_shown(many: Cli) -> None:
    """Who sets `search.limit` sees as many."""
    done = many("search", "tea", "--mode", "lexical", TWOLANE_SEARCH_LIMIT="10")
    assert len(titles(done.stdout)) == 10


def test_unlikely_results_are_not_shown(many: Cli) -> None:
    """Results below the model's line are only counted."""
    query = ("search", "quagga mill children tea", "--mode", "lexical")
    found = many.json(*query)
    unlikely = [result["title"] for result in found["results"] if result["relevance"] < 0.025]
    assert unlikely
    done = many(*query)
    assert titles(done.stdout)[0] == "Mill"
    assert not set(titles(done.stdout)) & set(unlikely)
    assert f"{len(unlikely)} weaker: --all" in done.stderr
    assert set(titles(many(*query, "--all").stdout)) >= set(unlikely)


def test_each_result_says_how_relevant_it_is(many: Cli) -> None:
    """The chance stands behind the title, as JSON has it; a list has none."""
    first = many.json("search", "tea 3", "--mode", "lexical")["results"][0]
    line = many("search", "tea 3", "--mode", "lexical").stdout.splitlines()[0]
    assert line == f"1. {first['title']}  {first['relevance']:.0%}"
    assert many("search", "--sort", "title").stdout.splitlines()[0] == "1. Mill"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_passage_takes_two_lines_and_shows_the_word(many: Cli, columns: int) -> None:
    """However wide the terminal is, two lines are enough, and the found word is in them."""
    shown = many.on_terminal("search", "quagga", "--mode", "lexical", COLUMNS=str(columns))
    plain = re.sub(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", shown).replace("\r", "")
    passage = [line for line in plain.splitlines() if line.startswith("   ")][1:]
    assert len(passage) <= 2
    assert "quagga" in " ".join(passage)
    assert all(len(line) <= columns for line in passage)


def test_a_pipe_gets_a_passage_of_the_same_length(many: Cli) -> None:
    """Also in a pipe a passage is short, in one line, and marks where it was cut."""
    passage = many("search", "quagga", "--mode", "lexical").stdout.splitlines()[2]
    assert "quagga" in passage
    assert len(passage) <= 3 + 2 * 77
    assert passage.startswith("   …")


def test_paths_for_pipes(many: Cli) -> None:
    """--files prints absolute paths, one a line; what is no file is counted beside them."""
    done = many("search", "tea", "--mode", "lexical", "--files", "--all")
    files = [Path(line) for line in done.stdout.splitlines()]
    assert files
    assert all(file.is_absolute() and file.is_file() for file in files)
    assert "1 result without a file" in done.stderr
    same = many("search", "tea", "--mode", "lexical", "--format", "paths", "--all")
    assert same.stdout == done.stdout
    nothing = many("search", "hadron lattice gauge quark boson tea", "--mode", "lexical", "--files")
    assert (nothing.stdout, "nothing relevant" in nothing.stderr) == ("", True)


def test_formats(many: Cli) -> None:
    """--json is the short form of --format json; two formats at once are refused."""
    query = ("search", "tea", "--mode", "lexical")
    assert json.loads(many(*query, "--format", "json").stdout)["query"] == "tea"
    assert many(*query, "--format", "table").stdout == many(*query).stdout
    for pair in (("--json", "--files"), ("--format", "table", "--json")):
        assert "choose one" in many(*query, *pair, code=2).stderr
    assert "table" in many(*query, "--format", "xml", code=2).stderr
    assert "--json" in many("search", "--batch", "-", "--files", code=2).stderr


def test_json_names_the_file(many: Cli) -> None:
    """A result, a similar document and one that is read have the path of their file, or null."""
    results = many.json("search", "tea", "--mode", "lexical", "-n", "20")["results"]
    for result in results:
        if result["kind"] == "bookmark":
            assert result["file"] is None
        else:
            assert Path(result["file"]).is_file()
            assert result["file"].endswith(f"/notes/{result['path']}")
    assert {result["kind"] for result in results} == {"note", "bookmark"}
    assert Path(many.json("similar", "tea/01.md")["results"][0]["file"]).is_file()
    assert Path(many.json("get", "tea/01.md")["file"]).is_file()


def test_the_server_tells_no_files(many: Cli, tmp_path: Path) -> None:
    """Over HTTP, also to a caller on this machine, nothing says where the notes lie."""
    with serving(many, tmp_path) as server:
        found = server.client.get("/api/search", params={"q": "tea", "mode": "lexical"})
        assert found.status_code == 200, found.text
        near = server.client.get("/api/similar", params={"doc": "tea/01.md"})
        read = server.client.get("/api/documents/notes%2Ftea%2F01.md")
        for answer in (found, near, read):
            assert answer.status_code == 200
            assert '"file"' not in answer.text
            assert str(tmp_path.parent) not in answer.text


def test_the_least_relevance_can_be_chosen(many: Cli) -> None:
    """--min-relevance leaves out what is less likely, in every format."""
    query = ("search", "tea walk", "--mode", "lexical")
    every = many.json(*query, "-n", "20")["results"]
    middle = sorted(one["relevance"] for one in every)[len(every) // 2]
    kept = many.json(*query, "-n", "20", "--min-relevance", str(middle))["results"]
    assert 0 < len(kept) < len(every)
    assert all(one["relevance"] >= middle for one in kept)
    assert "between 0 and 1" in many(*query, "--min-relevance", "7", code=2).stderr


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (["-5", "degrees"], "-5 degrees"),
        (["tea", "-shop"], "tea -shop"),
        (["tea", "-nope", "-n", "3"], "tea -nope"),
        (["-n3", "tea", "-van"], "tea -van"),
        (["--", "-5", "--db"], "-5 --db"),
    ],
)
def test_a_word_may_begin_with_a_dash(many: Cli, words: list[str], query: str) -> None:
    """What begins with one dash and is no option is a word of the query."""
    assert many.json("search", *words)["query"] == query


def test_a_mistyped_option_is_still_told(many: Cli) -> None:
    """Two dashes are an option; a wrong one names the nearest."""
    said = many("search", "tea", "--fils", code=2).stderr
    assert "error: no such option: --fils. Did you mean --files?" in said


@pytest.mark.parametrize("option", ["--tag", "--kind", "-n", "--nth"])
def test_an_option_without_its_value_is_told(many: Cli, option: str) -> None:
    """An option at the end that needs a value is not given another one."""
    said = many("search", "tea", option, code=2).stderr
    assert f"error: option '{option}' requires an argument" in said
