"""What a document is called in golden sets and runs: its path, or its id where paths clash."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from twolane import Document, Library, Result
from twolane.model import FileState


class Names:
    """The names of one library's documents; the paths of one collection are names enough."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._shared: frozenset[str] = frozenset()
        if len(library.collections()) > 1:
            paths = Counter(
                file.record.path
                for file in library.files()
                if file.record.state == FileState.INDEXED
            )
            self._shared = frozenset(path for path, count in paths.items() if count > 1)

    def of(self, found: Document | Result) -> str:
        """The name of a document or of a result."""
        if found.path is None:
            return found.url or found.id
        return found.id if found.path in self._shared else found.path

    def known(self) -> list[str]:
        """The names of all documents that can be found."""
        return [self.of(document) for document in self._library.documents()]


def vault_of(library: Library, golden: Path) -> str | None:
    """The folder of the notes as seen from the file of a golden set, if there is only one."""
    roots = [one.root for one in library.collections()]
    if len(roots) != 1 or roots[0] is None:
        return None
    root, folder = Path(roots[0]), golden.resolve().parent
    try:
        return Path(os.path.relpath(root, folder)).as_posix()
    except ValueError:  # Two drives have no path between them.
        return root.as_posix()
