"""`twolane completion`, and what a shell may complete beside commands and options."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.model.errors import TwolaneError

if TYPE_CHECKING:
    from twolane.library import Library


class Shell(StrEnum):
    """The shells whose completion is known."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="Your shell.")],
) -> None:
    """Print a completion script for your shell."""
    output.say_text(_SCRIPTS[shell].strip("\n"))


def held_names(filter: str) -> Callable[[str], list[str]] | None:
    """What completes the value of a filter from the library; None if nothing does."""
    read = _NAMES.get(filter.removeprefix("not_").removeprefix("any_"))
    if read is None:
        return None

    def complete(incomplete: str) -> list[str]:
        # A message would land in the middle of the line that is being typed.
        logging.disable()
        try:
            from twolane.interfaces.cli.opening import open_library
            from twolane.settings import Settings

            # Names need no model.
            settings = Settings.load(arguments={"embedding.embedder": "none"}).settings
            with open_library(settings) as library:
                return sorted(one for one in read(library) if one.startswith(incomplete))
        except (TwolaneError, OSError):
            return []

    return complete


def _collections(library: Library) -> Iterable[str]:
    return (collection.name for collection in library.collections())


def _tags(library: Library) -> Iterable[str]:
    return library.facets().tags


def _languages(library: Library) -> Iterable[str]:
    return library.facets().languages


_NAMES: dict[str, Callable[[Library], Iterable[str]]] = {
    "collection": _collections,
    "tag": _tags,
    "lang": _languages,
}

# Each asks the program itself, in the way that typer answers that shell.
_SCRIPTS = {
    Shell.BASH: r"""
_twolane_completion() {
    local IFS=$'\n'
    COMPREPLY=( $(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \
        _TWOLANE_COMPLETE=complete_bash "$1" 2>/dev/null) )
}
complete -o default -F _twolane_completion twolane
""",
    Shell.ZSH: r"""
#compdef twolane
_twolane_completion() {
    eval "$(_TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" \
        _TWOLANE_COMPLETE=complete_zsh twolane 2>/dev/null)"
}
if [[ "${funcstack[1]}" == _twolane ]]; then
    _twolane_completion "$@"
else
    compdef _twolane_completion twolane
fi
""",
    Shell.FISH: r"""
function __twolane_asked
    _TWOLANE_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] \
        _TYPER_COMPLETE_ARGS=(commandline -cp | string collect) twolane 2>/dev/null
end
complete --command twolane --no-files \
    --condition '__twolane_asked is-args' --arguments '(__twolane_asked get-args)'
""",
}
