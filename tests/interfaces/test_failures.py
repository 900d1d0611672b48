"""Which exit code an error has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from twolane.interfaces.failures import discreet, exit_code, message
from twolane.model import errors


def every(kind: type[errors.TwolaneError]) -> Iterator[type[errors.TwolaneError]]:
    """The class and all below it."""
    yield kind
    for below in kind.__subclasses__():
        yield from every(below)


EXPECTED = {
    "TwolaneError": 1,
    "BadInput": 2,
    "BadSetting": 2,
    "NoSuchDocument": 2,
    "AmbiguousDocument": 2,
    "MissingFolder": 2,
    "NotPermitted": 2,
    "StoreError": 4,
    "NoDatabase": 3,
    "NotADatabase": 4,
    "NewerSchema": 4,
    "StoreBusy": 4,
    "EmbedderError": 5,
    "EmbedderUnavailable": 5,
    "BadVectors": 5,
}


def test_every_error_has_an_exit_code() -> None:
    """Each error of the tree has the code of the contract, a new one that of its parent."""
    found = {kind.__name__: exit_code(kind.__new__(kind)) for kind in every(errors.TwolaneError)}
    assert found.items() >= EXPECTED.items()


def test_what_the_system_refuses_is_bad_input() -> None:
    """An error of the operating system names its file; an interrupt has its usual code."""
    error = FileNotFoundError(2, "No such file or directory", "nowhere.txt")
    assert (exit_code(error), message(error)) == (2, "nowhere.txt: No such file or directory")
    assert exit_code(KeyboardInterrupt()) == 130


def test_bugs_are_not_dressed_up() -> None:
    """An error that nobody expects has no exit code, so that its traceback is seen."""
    with pytest.raises(LookupError):
        exit_code(ZeroDivisionError())


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("cannot write /home/ann/my notes/x.db: full", "cannot write x.db: full"),
        ("http://10.0.0.5:8080/v1 answered 500: no", "the server answered 500: no"),
        (
            'cannot reach postgresql://ann@db.internal/x: connection to server at "10.0.0.5",'
            " port 5432 failed",
            "cannot reach the server: connection to server at the server failed",
        ),
        ("a and/or b, 1/2", "a and/or b, 1/2"),
    ],
)
def test_strangers_are_told_no_place(told: str, shown: str) -> None:
    """Neither where things are on the disk, nor which servers are asked."""
    assert discreet(errors.TwolaneError(told)) == shown
