"""Where documents are outside of the library: their files, and links that open them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from twolane.library.held import Held
from twolane.model.deep_links import deep_link, file_link, tells_root

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

        They follow the setting `results.link_template`; without one there are none, or with
        `plain` those to the files themselves.
        `roots` is whether a link may tell where a collection is on disk.
        """
        template = self.settings.results.link_template
        if not (template or plain) or (not roots and (not template or tells_root(template))):
            return {}
        folders = self._folders()
        return {
            one.id: deep_link(
                template, root=folder, path=one.path, line=_line(one), collection=one.collection
            )
            if template
            else file_link(folder, one.path)
            for one in found
            if one.path is not None and (folder := folders.get(one.collection)) is not None
        }

    def _folders(self) -> dict[str, Path]:
        return {
            one.name: Path(one.root)
            for one in self._stores.documents.collections()
            if one.root is not None
        }


def _line(found: Result | Document) -> int:
    lines = getattr(found, "lines", None)
    return lines[0] if lines else 1
