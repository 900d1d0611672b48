"""Links that open a note in another program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import write_notes
from twolane import Library
from twolane.model.deep_links import PLACES, deep_link, file_link, tells_root, template_problem
from twolane.model.errors import BadSetting
from twolane.settings import Settings

ROOT = Path("/home/you/My notes")


def link(template: str, path: str = "garden/Помидоры & co.md") -> str:
    """The link of a template to a note whose name needs care."""
    return deep_link(template, root=ROOT, path=path, line=7, collection="my notes")


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("obsidian://open?path={path}", "obsidian://open?path=/home/you/My%20notes/a%26b.md"),
        ("vscode://file/{path}:{line}", "vscode://file/home/you/My%20notes/a%26b.md:7"),
        ("vscode://file{path}:{line}", "vscode://file/home/you/My%20notes/a%26b.md:7"),
        (
            "obsidian://open?vault={collection}&file={file}",
            "obsidian://open?vault=my%20notes&file=a%26b.md",
        ),
        ("x-note:{name}", "x-note:a%26b"),
    ],
)
def test_templates_are_filled(template: str, wanted: str) -> None:
    """Each place gets its part, percent-encoded; a slash before an absolute path is not doubled."""
    assert link(template, "a&b.md") == wanted


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_no_name_breaks_out_of_a_link(name: str) -> None:
    """Whatever a file is called, its link is ASCII without a blank, quote or new parameter."""
    made = deep_link("x:?a={file}", root=ROOT, path=name, line=1, collection="c")
    assert made.isascii() and made.isprintable()
    assert not set(made.removeprefix("x:?a=")) & set(" &?#\"'<>")


@pytest.mark.parametrize(
    "template", ["javascript:alert({line})", "DATA:text/html,{path}", "{path}", "x:{root}", "x:{}"]
)
def test_bad_templates_are_refused(template: str) -> None:
    """A template that runs a program in the page, or has unknown places, is a bad setting."""
    assert template_problem(template)
    with pytest.raises(BadSetting, match="link_template"):
        Settings.load(environment={"TWOLANE_RESULTS_LINK_TEMPLATE": template})


def test_good_templates_pass() -> None:
    """Every place may be used, and no template is fine."""
    assert template_problem("") is None
    assert template_problem("x:" + "".join(f"{{{one}}}" for one in PLACES)) is None
    assert tells_root("x:{path}") and not tells_root("x:{file}")
    assert file_link(ROOT, "a b.md") == "file:///home/you/My%20notes/a%20b.md"


@pytest.mark.parametrize(
    ("environment", "editor", "origin"),
    [
        ({}, "", "default"),
        ({"EDITOR": "nano"}, "nano", "EDITOR"),
        ({"EDITOR": "nano", "VISUAL": "code -w"}, "code -w", "VISUAL"),
        ({"EDITOR": "nano", "VISUAL": ""}, "nano", "EDITOR"),
        ({"EDITOR": "nano", "TWOLANE_RESULTS_EDITOR": "hx"}, "hx", "environment"),
    ],
)
def test_the_editor_is_the_usual_one(
    environment: dict[str, str], editor: str, origin: str, tmp_path: Path
) -> None:
    """The editor is VISUAL, or else EDITOR, unless it was set for Twolane."""
    file = tmp_path / "twolane.toml"
    file.write_text("", "utf-8")
    loaded = Settings.load(environment=environment, file=file)
    assert (loaded.settings.results.editor, loaded.origins["results.editor"]) == (editor, origin)


def test_notes_of_an_obsidian_vault_open_there(tmp_path: Path) -> None:
    """Where Obsidian keeps its folder, beside the notes or above them, links lead to it."""
    vault = write_notes(tmp_path / "My vault", {"work/a & b.md": "ant", ".obsidian/app.json": "{}"})
    plain = write_notes(tmp_path / "plain", {"c.md": "ant"})
    with Library.open(
        settings=Settings(db=tmp_path / "x.db", embedding={"embedder": "none"})
    ) as library:
        library.index(vault / "work")
        library.index(plain)
        found = library.search("ant", mode="lexical").results
        wanted = "obsidian://open?vault=My%20vault&file=work/a%20%26%20b"
        assert library.links(found) == {"work/a & b.md": wanted}
        assert library.links(found, roots=False) == {"work/a & b.md": wanted}
        assert library.links(found, plain=True)["plain/c.md"].startswith("file://")
