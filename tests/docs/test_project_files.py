"""The files around the code: licence, notice, changelog, and what must not be in any of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, read, section, tracked_files
from twolane import __version__

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]

# Put together from pieces, so that this file does not hold what it looks for.
_MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "Us" + "ers")) + r")/\w",
            r"(?<![\w.])/tm" + r"p/\w",
            r"(?<![\w.])/op" + r"t/\w",
        ]
    )
)
_REGISTRY = re.compile(
    r"(?:index" + r"-url|trusted" + r"-host|https?://[\w.-]*(?:pyp" + r"i|regis" + r"try|"
    r"artifact" + r"ory|nex" + r"us)[\w.-]*)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("pattern", [_MACHINE, _REGISTRY], ids=["machine", "registry"])
def test_files_speak_of_no_machine(pattern: re.Pattern[str]) -> None:
    """No file names a path of somebody's machine or the host of a package registry."""
    found = {}
    for path in tracked_files():
        try:
            text = read(path)
        except UnicodeDecodeError:
            continue
        if hit := pattern.search(text):
            found[path.relative_to(ROOT).as_posix()] = hit[0]
    assert not found


def test_the_notice_names_every_dependency() -> None:
    """Each package that is installed along has a line with its licence."""
    notice = read(ROOT / "NOTICE")
    for requirement in PROJECT["dependencies"]:
        package = re.split(r"[<>=!~\[; ]", requirement)[0]
        assert re.search(rf"^{re.escape(package)}  +\S", notice, re.MULTILINE), package


def test_the_licence_is_the_declared_one() -> None:
    """The licence file holds what the metadata says."""
    assert PROJECT["license"] == "MIT"
    assert read(ROOT / "LICENSE").startswith("MIT License\n\nCopyright (c) Twolane contributors")


def test_the_changelog_tells_of_this_version() -> None:
    """The version of the package has an entry, with our own two sections."""
    assert PROJECT["version"] == __version__
    entry = section(read(ROOT / "CHANGELOG.md"), f"## [{__version__}]")
    assert "### Ranking" in entry
    assert "### Re-index needed" in entry


def test_decisions_are_numbered() -> None:
    """Decision records are numbered without a gap, and say what follows from them."""
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    for record in records:
        text = read(record)
        assert text.startswith(f"# {int(record.name[:4])}. ")
        assert "## Context" in text and "## Consequences" in text


def test_every_makefile_target_in_the_guide_exists() -> None:
    """What contributors are told to type works."""
    targets = set(re.findall(r"^(\w+):", read(ROOT / "Makefile"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = re.findall(r"^make (\w+)|`make (\w+)", read(Path(page)), re.MULTILINE)
        assert {one or other for one, other in named} <= targets
