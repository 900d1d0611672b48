"""Where documents are outside of the library: their files, and links that open them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.library.held import Held
from twolane.model.deep_links import (
    deep_link,
    file_link,
    obsidian_link,
    obsidian_vault,
    tells_root,
)

if TYPE_CHECKING:
    from twolane.model.answer import Result
    from twolane.model.document import Document


class Opening(Held):
    """The way from what was found to the program that shows it."""

    def file(self, found: Result | Document) -> Path | None:
        """The file of a result or a document; None for what has none."""
        root = self._folders().get(found.collection)
        return root / found.path if root is not None and found.path is not None else None

    def links(
        self, found: Iterable[Result | Document], *, roots: bool = True, plain: bool = False
    ) -> dict[str, str]:
        """Links that open the files of results or documents, by their ids.

        They follow the setting `results.link_template`; without one, those into an Obsidian
        vault open Obsidian, and of others there are none, or with `plain` those to the files.
        `roots` is whether a link may tell where a collection is on disk.
        """
        template = self.settings.results.link_template
        folders = self._folders()
        vaults = {} if template else {name: obsidian_vault(root) for name, root in folders.items()}
        if template and not roots and tells_root(template):
            return {}
        links = {}
        for one in found:
            folder = folders.get(one.collection)
            if one.path is None or folder is None:
                continue
            if template:
                links[one.id] = deep_link(
                    template, root=folder, path=one.path, line=_line(one), collection=one.collection
                )
            elif vault := vaults[one.collection]:
                links[one.id] = obsidian_link(vault, folder / one.path)
            elif plain and roots:
                links[one.id] = file_link(folder, one.path)
        return links

    def _folders(self) -> dict[str, Path]:
        return {
            one.name: Path(one.root)
            for one in self._stores.documents.collections()
            if one.root is not None
        }


def _line(found: Result | Document) -> int:
    lines = getattr(found, "lines", None)
    return lines[0] if lines else 1
