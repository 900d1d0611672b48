"""Every error, exit code and problem is documented where people look for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.pages import REFERENCE, read, rows, section
from twolane.interfaces import failures
from twolane.interfaces.failures import exit_code
from twolane.model import errors
from twolane.model.problem import ProblemCode

PAGE = read(REFERENCE / "errors.md")


_DRAWING = errors.__doc__ or ""


def tree(
    kind: type[errors.TwolaneError] = errors.TwolaneError, depth: int = 0
) -> Iterator[tuple[type[errors.TwolaneError], int]]:
    """Every class of the tree with its depth."""
    yield kind, depth
    for below in kind.__subclasses__():
        yield from tree(below, depth + 1)


def test_the_page_draws_the_tree() -> None:
    """Each class has a row with its parent and its exit code, and no other class has one."""
    told = {cells[0]: cells[1:3] for cells in rows(section(PAGE, "## The tree"))}
    real = {
        f"`{kind.__name__}`": [f"`{kind.__base__.__name__}`", str(exit_code(kind.__new__(kind)))]
        for kind, _ in tree()
        if kind.__base__ is not None
    }
    assert told == real


def test_the_module_draws_the_tree() -> None:
    """The docstring of the module has each class at its depth, and no other."""
    drawn = [
        (found[2], len(found[1]) // 4)
        for found in re.finditer(r"(?m)^    ((?:[│├└── ]{4})*)(\w+)  ", _DRAWING)
    ]
    assert drawn == [(kind.__name__, depth) for kind, depth in tree()]


def test_every_exit_code_is_explained() -> None:
    """Each code that a command can return has a row, with the classes that lead to it."""
    told = {int(cells[0]): cells for cells in rows(section(PAGE, "## Exit codes"))}
    constants = {
        value for name, value in vars(failures).items() if name.isupper() and isinstance(value, int)
    }
    assert set(told) == constants == {failures.OK, *failures.EXIT_CODES.values()}
    for kind, code in failures.EXIT_CODES.items():
        assert f"`{kind.__name__}`" in told[code][2]


def test_every_problem_is_explained() -> None:
    """Each code of a problem has a row, and no other has one."""
    told = {cells[0].strip("`") for cells in rows(section(PAGE, "## Problems"))}
    assert told == {code.value for code in ProblemCode}
