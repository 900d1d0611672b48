"""Opening what was found: a file in the editor at its line, an address in the browser."""

from __future__ import annotations

import shlex
import subprocess
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.model.errors import BadInput

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.model.answer import Result

# How editors are told a line; what is not listed gets the file alone.
_PLUS = frozenset(
    "vi vim nvim gvim mvim view nano pico emacs emacsclient micro kak joe ne mg jed gedit".split()
)
_GOTO = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"})
_COLON = frozenset({"subl", "sublime_text", "hx", "helix", "zed", "zeditor", "lite-xl"})
_LINE = frozenset({"kate", "kwrite", "mate", "idea", "pycharm", "webstorm", "goland", "clion"})


def open_result(library: Library, result: Result) -> str:
    """Open a result where it is read or edited; what was opened, for the user."""
    file = library.file(result)
    if file is None:
        if result.url is None:
            raise BadInput(
                f"{result.title!r} is neither a file nor an address; "
                f"read it with: twolane get {shlex.quote(result.id)}"
            )
        _browse(result.url)
        return result.url
    if not file.is_file():
        raise BadInput(f"{file} is gone; bring the index up to date with: twolane index")
    line = result.lines[0] if result.lines else 1
    editor = library.settings.results.editor
    if editor:
        _edit(editor, file, line)
        return f"{file}:{line}"
    link = library.links([result]).get(result.id)
    if link is None:
        raise BadInput("no editor is known; set EDITOR, or the setting `results.editor` of Twolane")
    _browse(link)
    return link


def edit_command(editor: str, file: Path, line: int) -> list[str]:
    """The words that start an editor with a file at a line."""
    words = shlex.split(editor)
    if not words:
        raise BadInput("the setting `results.editor` names no program")
    name = Path(words[0]).name.lower().removesuffix(".exe")
    if name in _PLUS:
        return [*words, f"+{line}", str(file)]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*words, f"{file}:{line}"]
    if name in _LINE:
        return [*words, "--line", str(line), str(file)]
    return [*words, str(file)]


def _edit(editor: str, file: Path, line: int) -> None:
    try:
        command = edit_command(editor, file, line)
    except ValueError as error:
        raise BadInput(f"the setting `results.editor` cannot be read: {error}") from error
    try:
        # The editor is the user's own choice, and gets the terminal.
        done = subprocess.run(command, check=False)  # noqa: S603
    except FileNotFoundError as error:
        raise BadInput(f"there is no editor {command[0]!r}; set EDITOR to another") from error
    if done.returncode:
        raise BadInput(f"the editor {command[0]!r} failed with {done.returncode}")


def _browse(address: str) -> None:
    if not webbrowser.open(address):
        raise BadInput(f"no browser could be started; open it yourself: {address}")
