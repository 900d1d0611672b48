"""How a document is named on the command line: as everywhere, or by its file on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twolane.interfaces.cli.options import typed
from twolane.model.errors import NoSuchDocument
from twolane.model.scope import Scope

if TYPE_CHECKING:
    from twolane.library import Library

Reference = Annotated[
    str, typer.Argument(metavar="DOC", help="An id, path, URL, unique title or alias.")
]
References = Annotated[
    list[str], typer.Argument(metavar="DOC...", help="Ids, paths, URLs, unique titles or aliases.")
]

# Who names a document means it, archived or not.
NAMED = Scope(archived=True)

# After the name of a document may stand lines (`:3-7`) or a heading (`#Tools`).
_ENDS = re.compile("[:#]|$")


def reference_to(library: Library, text: str) -> str:
    """The reference as typed, or the id of the note whose file it names.

    A shell completes names of files, from wherever it is; a library knows them from its roots.
    """
    for end in reversed([found.start() for found in _ENDS.finditer(text)]):
        id = _id_of_file(library, text[:end])
        if id is not None:
            return typed(id + text[end:])
    return typed(text)


@contextmanager
def suggesting(library: Library) -> Iterator[None]:
    """Name what is spelled alike if a document that is asked for inside is not there."""
    try:
        yield
    except NoSuchDocument as error:
        near = library.near_names(error.reference, scope=NAMED)
        raise NoSuchDocument(error.reference, near) from None


def _id_of_file(library: Library, name: str) -> str | None:
    # A name without a dot or slash is rather a title than a file.
    if not ("." in name or "/" in name) or not _is_file(path := Path(name)):
        return None
    file = path.resolve()
    roots = {
        Path(collection.root): collection.name
        for collection in library.collections()
        if collection.root is not None
    }
    holding = [root for root in roots if file.is_relative_to(root)]
    if not holding:
        return None
    root = max(holding, key=lambda one: len(one.parts))
    return f"{roots[root]}/{file.relative_to(root).as_posix()}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # A title may be longer than the name of any file.
        return False
