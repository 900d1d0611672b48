"""`twolane search --open`, and links in the terminal, in JSON and over HTTP."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli, write
from tests.interfaces.http.conftest import serving
from twolane.interfaces.cli.editor import edit_command

OBSIDIAN = "obsidian://open?path={path}"


@pytest.fixture
def editor(tmp_path: Path) -> tuple[str, Path]:
    """An editor that writes down how it was called, and where."""
    called = tmp_path / "called.json"
    program = tmp_path / "bin" / "vim"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport json, pathlib, sys\n"
        f"pathlib.Path({str(called)!r}).write_text(json.dumps(sys.argv[1:]))\n",
        "utf-8",
    )
    program.chmod(0o755)
    return str(program), called


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("vim", ["vim", "+7", "/n/a b.md"]),
        ("nvim -R", ["nvim", "-R", "+7", "/n/a b.md"]),
        ("nano", ["nano", "+7", "/n/a b.md"]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", "/n/a b.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n/a b.md:7"]),
        ("subl", ["subl", "/n/a b.md:7"]),
        ("/usr/bin/hx", ["/usr/bin/hx", "/n/a b.md:7"]),
        ("kate", ["kate", "--line", "7", "/n/a b.md"]),
        ("'/my tools/ed it' -x", ["/my tools/ed it", "-x", "/n/a b.md"]),
    ],
)
def test_editors_are_told_the_line(command: str, wanted: list[str]) -> None:
    """Each editor gets the line as it understands it; an unknown one gets the file."""
    assert edit_command(command, Path("/n/a b.md"), 7) == wanted


def test_a_result_is_opened_at_its_line(indexed: Cli, editor: tuple[str, Path]) -> None:
    """The editor of the environment gets the file and the line of the passage, or another hit."""
    program, called = editor
    first, second = indexed.json("search", "tag:garden", "-n", "2")["results"]
    for words, result in (([], first), (["--nth", "2"], second)):
        said = indexed("search", "--open", *words, "tag:garden", VISUAL=program)
        line, file = json.loads(called.read_text("utf-8"))
        assert Path(file).is_file() and file.endswith(result["path"])
        assert line == f"+{result['lines'][0] if result['lines'] else 1}"
        assert file in said.stderr and not said.stdout
    indexed("search", "--open", "blades", "--mode", "lexical", EDITOR=program)
    assert int(json.loads(called.read_text("utf-8"))[0]) > 1


def test_a_bookmark_is_opened_in_the_browser(twolane: Cli, tmp_path: Path) -> None:
    """What has an address and no file goes to the browser, whatever the editor."""
    opened = tmp_path / "opened"
    page = write(
        tmp_path, {"b.jsonl": '{"kind":"bookmark","url":"https://e.example/a","title":"Quagga"}\n'}
    )
    twolane("import", "jsonl", page / "b.jsonl")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{opened}"\n', "utf-8")
    browser.chmod(0o755)
    twolane("search", "--open", "quagga", BROWSER=f"{browser} %s", EDITOR="false")
    assert opened.read_text("utf-8") == "https://e.example/a"


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("tea",), {}, "set EDITOR"),
        (("tea",), {"EDITOR": "no-such-editor"}, "no-such-editor"),
        (("tea",), {"EDITOR": "false"}, "failed with 1"),
        (("tea",), {"EDITOR": "'unclosed"}, "cannot be read"),
        (("zzzzqqqq", "--mode", "lexical"), {"EDITOR": "true"}, "no result 1"),
        (("tea", "--json"), {"EDITOR": "true"}, "--json"),
    ],
)
def test_what_cannot_be_opened_is_said(
    indexed: Cli, words: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    """No editor, a wrong one, one that fails, nothing found: each says what is the matter."""
    assert said in indexed("search", "--open", *words, code=2, **environment).stderr


def test_a_file_that_is_gone_is_said(twolane: Cli, vault: Path) -> None:
    """An editor would show an empty file instead."""
    twolane("index", vault)
    (vault / "kitchen" / "green tea.md").unlink()
    assert "twolane index" in twolane("search", "--open", "tea", code=2, EDITOR="true").stderr


def test_titles_are_links_in_a_terminal(indexed: Cli) -> None:
    """A title leads to its file, or where the template says; a pipe gets no escape at all."""
    shown = indexed.on_terminal("search", "green", "tea", "--mode", "lexical")
    (target, *_) = re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\", shown)
    assert target.startswith("file:///") and target.endswith("/kitchen/green%20tea.md")
    shown = indexed.on_terminal("search", "green", "tea", TWOLANE_RESULTS_LINK_TEMPLATE=OBSIDIAN)
    assert ";obsidian://open?path=/" in shown
    assert (
        "\x1b"
        not in indexed("search", "green", "tea", TWOLANE_RESULTS_LINK_TEMPLATE=OBSIDIAN).stdout
    )


def test_no_color_switches_colours_off(indexed: Cli) -> None:
    """With NO_COLOR a terminal gets no colour."""
    colours = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38;[\d;]+)m")
    assert colours.search(indexed.on_terminal("search", "green", "tea"))
    assert not colours.search(indexed.on_terminal("search", "green", "tea", NO_COLOR="1"))


def test_json_carries_the_link(indexed: Cli) -> None:
    """Each result, and a document that is read, has its link if there is a template."""
    assert indexed.json("search", "green", "tea")["results"][0]["link"] is None
    found = indexed.json("search", "green", "tea", TWOLANE_RESULTS_LINK_TEMPLATE="x:{file}:{line}")
    assert found["results"][0]["link"].startswith("x:kitchen/green%20tea.md:")
    got = indexed.json("get", "green tea", TWOLANE_RESULTS_LINK_TEMPLATE="x:{name}")
    assert got["link"] == "x:green%20tea"


def test_the_server_keeps_folders_to_itself(indexed: Cli, tmp_path: Path) -> None:
    """A link that tells a folder is only for who may do everything; others are for everyone."""
    both = {"x:{path}": (True, False), "x:{file}": (True, True)}
    tokens = tmp_path / "tokens.json"
    cli = indexed.where(TWOLANE_SERVER_TOKENS=str(tokens))
    secrets = [
        cli("token", "add", "all", "--may", "search.use", "--may", "admin").stdout.strip(),
        cli("token", "add", "few", "--may", "search.use").stdout.strip(),
    ]
    for template, wanted in both.items():
        with serving(cli, tmp_path, TWOLANE_RESULTS_LINK_TEMPLATE=template) as server:
            for secret, shown in zip(secrets, wanted, strict=True):
                head = {"Authorization": f"Bearer {secret}"}
                query = {"q": "green tea", "mode": "lexical"}
                found = server.client.get("/api/search", params=query, headers=head).json()
                first = found["results"][0]
                assert (first["link"] is not None) == shown
                read = server.client.get("/api/documents/green%20tea", headers=head).json()
                assert (read["link"] is not None) == shown
