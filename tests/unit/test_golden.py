"""Golden sets are read from JSON and written to it, and every defect is named with its cure."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.small_sets import written
from twolane.evaluation.golden import Evidence, GoldenQuery, GoldenSet, validate
from twolane.evaluation.golden_formats import FORMAT, load_golden, save_golden
from twolane.model.errors import BadGoldenSet, BadInput

SHIPPED = sorted((Path(__file__).parents[2] / "benchmarks" / "golden").glob("*.json"))

TEA = GoldenQuery("1", "green tea", ("en/tea.md",), ("ru/chai.md",), lang="en")


def native(*queries: object, **fields: object) -> dict[str, object]:
    """A set in our own format."""
    return {"format": FORMAT, "queries": list(queries), **fields}


def query(**fields: Any) -> dict[str, object]:
    """A sound query in our own format, but for these fields."""
    return {"id": "1", "query": "green tea", "relevant": ["en/tea.md"], **fields}


def problems_of(path: Path, topics: Path | None = None) -> tuple[str, ...]:
    """What is wrong with a file that cannot be understood."""
    with pytest.raises(BadGoldenSet) as caught:
        load_golden(path, topics)
    return caught.value.problems


# ------------------------------------------------------------------------------------ values


def test_relevant_is_two_and_partial_is_one() -> None:
    """Grades follow the lists; numbers from a collection stay as they are."""
    assert TEA.grades == {"en/tea.md": 2, "ru/chai.md": 1}
    assert GoldenQuery("1", "q", graded=(("a", 3), ("b", 0))).grades == {"a": 3, "b": 0}


# ------------------------------------------------------------------------------- our own format


def test_a_query_may_say_everything(tmp_path: Path) -> None:
    """Every field of the format is read."""
    everything = query(
        partial=["ru/chai.md"],
        graded={"x": 3},
        unanswerable=False,
        absent=["whale"],
        lang="en",
        direction="en→ru",
        category="drinks",
        verified=True,
        evidence=[{"path": "en/tea.md", "quote": "# Tea"}],
        rare=["sencha"],
    )
    path = written(tmp_path, native(everything, name="n", description="d", vault="../v"))
    assert load_golden(path) == GoldenSet(
        name="n",
        description="d",
        vault="../v",
        queries=(
            GoldenQuery(
                id="1",
                query="green tea",
                relevant=("en/tea.md",),
                partial=("ru/chai.md",),
                lang="en",
                direction="en→ru",
                category="drinks",
                verified=True,
                evidence=(Evidence("en/tea.md", "# Tea"),),
                graded=(("x", 3),),
                absent=("whale",),
                rare=("sencha",),
            ),
        ),
    )


def test_a_query_may_say_little(tmp_path: Path) -> None:
    """An id, a query and what is relevant are enough; the file lends its name to the set."""
    golden = load_golden(written(tmp_path, native(query(lang=None)), "my.set.json"))
    assert golden == GoldenSet("my.set", queries=(GoldenQuery("1", "green tea", ("en/tea.md",)),))


def fields_that_say_something(path: Path) -> dict[str, Any]:
    """The JSON of a file without the lists that are empty."""

    def filled(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if value != []}

    found: dict[str, Any] = json.loads(path.read_text("utf-8"), object_pairs_hook=filled)
    return found


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_sets_come_back_whole(path: Path, tmp_path: Path) -> None:
    """Reading and writing a shipped set loses nothing, and each is sound in itself."""
    golden = load_golden(path)
    validate(golden)
    save_golden(golden, tmp_path / path.name)
    assert fields_that_say_something(tmp_path / path.name) == fields_that_say_something(path)


def test_shipped_sets_are_found() -> None:
    """The test above looks at the project's ten sets, not at an empty folder."""
    assert len(SHIPPED) >= 10


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_sets_name_notes_of_their_vault(path: Path) -> None:
    """Every document that a shipped set judges is a note of the vault that it names."""
    golden = load_golden(path)
    root = path.parent / str(golden.vault)
    validate(golden, [note.relative_to(root).as_posix() for note in root.rglob("*.md")])


TEXT = st.text(max_size=8)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
QUERIES = st.builds(
    GoldenQuery,
    id=TEXT,
    query=TEXT,
    relevant=NAMES,
    partial=NAMES,
    lang=st.none() | TEXT,
    direction=st.none() | TEXT,
    category=st.none() | TEXT,
    verified=st.booleans(),
    unanswerable=st.booleans(),
    evidence=st.lists(st.builds(Evidence, TEXT, TEXT), max_size=2).map(tuple),
    graded=st.dictionaries(TEXT, st.integers(-2, 4), max_size=3).map(lambda d: tuple(d.items())),
    absent=NAMES,
    rare=NAMES,
)


@given(st.builds(GoldenSet, TEXT, TEXT, st.none() | TEXT, st.lists(QUERIES, max_size=3).map(tuple)))
def test_any_set_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, golden: GoldenSet
) -> None:
    """Writing and reading gives an equal set, sound or not."""
    path = tmp_path_factory.mktemp("golden") / "set.json"
    save_golden(golden, path)
    assert load_golden(path) == golden


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    """A set that cannot be written leaves the old file as it was, and no other file behind."""
    folder = tmp_path / "sets"
    path = written(folder, native(query()))
    before = path.read_bytes()
    with pytest.raises(BadInput, match="surrogate"):
        save_golden(GoldenSet("half \ud800 character"), path)
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]
    with pytest.raises(BadInput, match="cannot be written"):
        save_golden(GoldenSet("n"), path / "set.json")
    save_golden(GoldenSet("n"), tmp_path / "new" / "set.json")
    assert (tmp_path / "new" / "set.json").is_file()


# ----------------------------------------------------------------------------- expected_urls


def test_expected_urls_are_kept_as_given(tmp_path: Path) -> None:
    """The other shape needs no format and no ids, and fields of the other system are left alone."""
    data = {
        "version": 3,
        "queries": [
            {"query": "sourdough", "expected_urls": ["/en/sourdough", "/ru/zakvaska"], "top": 5},
            {
                "id": "ru-1",
                "query": "закваска",
                "expected_urls": ["/ru/zakvaska"],
                "lang": "ru",
                "direction": "ru→ru",
                "category": "bread",
                "verified": True,
            },
        ],
    }
    golden = load_golden(written(tmp_path, data))
    assert golden.name == "set"
    assert golden.queries == (
        GoldenQuery("q1", "sourdough", ("/en/sourdough", "/ru/zakvaska")),
        GoldenQuery(
            "ru-1",
            "закваска",
            ("/ru/zakvaska",),
            lang="ru",
            direction="ru→ru",
            category="bread",
            verified=True,
        ),
    )
    validate(golden, ["en/sourdough.md", "ru/zakvaska.md"])


def test_expected_urls_are_needed_in_every_query(tmp_path: Path) -> None:
    """A query of the other shape without its URLs is named by its number."""
    data = {"queries": [{"query": "a", "expected_urls": ["/a"]}, {"query": "b"}]}
    assert problems_of(written(tmp_path, data)) == (
        'query number 2: field "expected_urls" must be a list of texts, but is missing; correct it',
    )


# --------------------------------------------------------------------------- malformed files


def test_malformed_json_is_located(tmp_path: Path) -> None:
    """Line and column of the first mistake are named."""
    path = written(tmp_path, '{\n  "format": "twolane-golden/1",\n  "queries": [,]\n}')
    (found,) = problems_of(path)
    assert found.startswith("line 3, column 15: not JSON")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1: not JSON"),
        ("[]", "the file must hold one object"),
        ("null", "the file must hold one object"),
        ("7", "the file must hold one object"),
        ("[" * 100_000, "not usable JSON"),
        ('{"queries": ' + "9" * 5000 + "}", "not usable JSON"),
        ('{"queries": [], "queries": []}', "not usable JSON (the key 'queries' occurs twice"),
    ],
)
def test_files_that_hold_no_set_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    """What is not an object with queries is refused for what it is."""
    (found,) = problems_of(written(tmp_path, text))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("twolane-golden/2", "format 'twolane-golden/2' is not known to this Twolane"),
        ("qmd", "the set: field \"format\" must be 'twolane-golden/1', but is 'qmd'"),
        (1, "the set: field \"format\" must be 'twolane-golden/1', but is 1"),
        (None, "the set: field \"format\" must be 'twolane-golden/1', but is missing"),
    ],
)
def test_unknown_formats_are_refused(tmp_path: Path, given: object, problem: str) -> None:
    """A newer version, another format and none at all are told apart."""
    (found,) = problems_of(written(tmp_path, native(query(), format=given)))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("id", 7, "a text, but is 7"),
        ("id", None, "a text, but is missing"),
        ("query", ["green", "tea"], "a text, but is a list"),
        ("query", None, "a text, but is missing"),
        ("query", "half \ud800", "a text, but is 'half \\ud800'"),
        ("relevant", "en/tea.md", "a list of texts, but is 'en/tea.md'"),
        ("relevant", [1], "a list of texts, but is a list"),
        ("partial", {"a": 1}, "a list of texts, but is an object"),
        ("absent", 1.5, "a list of texts, but is 1.5"),
        ("rare", True, "a list of texts, but is True"),
        ("lang", 1, "a text, but is 1"),
        ("direction", [], "a text, but is a list"),
        ("category", {}, "a text, but is an object"),
        ("verified", "yes", "true or false, but is 'yes'"),
        ("unanswerable", 1, "true or false, but is 1"),
        ("graded", {"a": True}, "an object of whole numbers by document, but is an object"),
        ("graded", {"a": 1.5}, "an object of whole numbers by document, but is an object"),
        ("graded", ["a"], "an object of whole numbers by document, but is a list"),
        ("evidence", ["x"], 'a list of {"path": text, "quote": text}, but is a list'),
        ("evidence", [{"path": "x"}], 'a list of {"path": text, "quote": text}, but is a list'),
    ],
)
def test_wrong_types_are_named(tmp_path: Path, field: str, value: object, expected: str) -> None:
    """A field of the wrong type is named with its query, what it must be and what it is."""
    path = tmp_path / "set.json"
    path.write_text(json.dumps(native(query(**{field: value}))), "ascii")
    where = "query number 1" if field == "id" else "query '1'"
    assert problems_of(path) == (f'{where}: field "{field}" must be {expected}; correct it',)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"queries": None}, 'field "queries" must be a list of queries, but is missing; add it'),
        ({"queries": {}}, 'field "queries" must be a list of queries, but is an object; add it'),
        ({"name": 1}, 'field "name" must be a text, but is 1; correct it'),
        ({"vault": []}, 'field "vault" must be a text, but is a list; correct it'),
        ({"descripton": ""}, 'unknown field "descripton"; did you mean "description"?'),
    ],
)
def test_wrong_fields_of_a_set_are_named(
    tmp_path: Path, fields: dict[str, object], problem: str
) -> None:
    """The fields of the set itself are checked like those of its queries."""
    assert problems_of(written(tmp_path, native(query()) | fields)) == (f"the set: {problem}",)


def test_misspelt_fields_are_not_ignored(tmp_path: Path) -> None:
    """A field that the format does not have would lose judgments in silence."""
    found = problems_of(written(tmp_path, native(query(relevent=["x"]), query(zzz=1), 7)))
    assert found == (
        'query \'1\': unknown field "relevent"; did you mean "relevant"?',
        "query '1': unknown field \"zzz\"; remove it",
        "query number 3: must be an object, but is a number; correct it",
    )


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file and one that is not UTF-8 are errors of ours, with the path."""
    with pytest.raises(BadInput, match=r"nowhere\.json cannot be read"):
        load_golden(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b'{"name": "caf\xe9"}')
    with pytest.raises(BadInput, match=r"latin\.json is not UTF-8 \(at byte 13\)"):
        load_golden(tmp_path / "latin.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["format", "queries", "id", "query", "relevant", "expected_urls", "x"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_no_json_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: object, ours: bool
) -> None:
    """Whatever JSON a file holds, reading and validating it raises our error or none."""
    if ours and isinstance(data, dict):
        data = {**data, "format": FORMAT}
    path = written(tmp_path_factory.mktemp("golden"), data)
    with suppress(BadGoldenSet):
        validate(load_golden(path), ["a.md"])


# ----------------------------------------------------------------------------- documentation

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "golden-sets.md"


def test_documented_sets_can_be_read(tmp_path: Path) -> None:
    """The examples of the reference page are sound golden sets."""
    examples = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 2
    known = ["en/sourdough.md", "ru/zakvaska.md", "en/yeast-bread.md"]
    for example in examples:
        validate(load_golden(written(tmp_path, example)), known)


def test_every_field_is_documented(tmp_path: Path) -> None:
    """What the writer can write has a row on the reference page."""
    full = GoldenQuery(
        "1", "q", ("a",), ("b",), "en", "en→en", "c", True, True, (), (("x", 1),), ("y",), ("z",)
    )
    save_golden(GoldenSet("n", "d", "v", (full,)), tmp_path / "set.json")
    data = json.loads((tmp_path / "set.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    for field in [*data, *data["queries"][0]]:
        assert f"\n| `{field}` |" in page
