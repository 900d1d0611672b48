"""Collections: named sets of documents, each from one folder or from nowhere in particular."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from twolane.library.held import LOCAL, Held
from twolane.model.document import Collection, Kind
from twolane.model.draft import LONGEST_DESCRIPTION
from twolane.model.errors import BadInput, MissingFolder
from twolane.model.permissions import require
from twolane.model.scope import Capability, Scope
from twolane.ports.documents import Among, PutCollection, RemoveCollection, RenameCollection

LONGEST_NAME = 200


class Collecting(Held):
    """Collections are everybody's, so changing them takes the capability `admin`."""

    def collections(self, *, scope: Scope = LOCAL) -> list[Collection]:
        """All collections, by name; for an owner, those that hold a document of theirs."""
        return list(self._stores.documents.collections(scope))

    def collection(self, name: str, *, scope: Scope = LOCAL) -> Collection:
        """The collection of this name; one that is not there is an error that lists the others."""
        held = self._stores.documents.collections(scope)
        for one in held:
            if one.name == name:
                return one
        there = ", ".join(one.name for one in held) or "none"
        raise BadInput(f"there is no collection {name!r}; there are: {there}")

    def add_collection(
        self,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        kind: Kind = Kind.NOTE,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        description: str = "",
        scope: Scope = LOCAL,
    ) -> Collection:
        """Add a collection; its folder is read by `index`, with patterns of its own if given.

        `kind` is what its files are unless they say otherwise.
        """
        require(scope, Capability.ADMIN)
        held = self._stores.documents.collections()
        added = Collection(
            _free(_named(name), held),
            None if root is None else _rooted(Path(root), held),
            Kind(kind),
            tuple(include),
            tuple(exclude),
            _sentence(description),
        )
        self._stores.documents.apply(PutCollection(added))
        return added

    def describe_collection(
        self,
        name: str,
        *,
        description: str | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        scope: Scope = LOCAL,
    ) -> Collection:
        """Say anew what a collection is, and which files belong to it; None leaves it as it is."""
        require(scope, Capability.ADMIN)
        held = self.collection(name, scope=scope)
        described = replace(
            held,
            description=held.description if description is None else _sentence(description),
            include=held.include if include is None else tuple(include),
            exclude=held.exclude if exclude is None else tuple(exclude),
        )
        self._stores.documents.apply(PutCollection(described))
        return described

    def rename_collection(self, name: str, new: str, *, scope: Scope = LOCAL) -> Collection:
        """Give a collection another name; the ids of its files' documents change with it."""
        require(scope, Capability.ADMIN)
        held = self.collection(name, scope=scope)
        wanted = _free(_named(new), self._stores.documents.collections())
        self._stores.documents.apply(RenameCollection(name, wanted))
        return replace(held, name=wanted)

    def remove_collection(self, name: str, *, scope: Scope = LOCAL) -> int:
        """Delete a collection with all its documents, for good; files stay where they are."""
        require(scope, Capability.ADMIN)
        self.collection(name, scope=scope)
        inside = Scope(collections=(name,), archived=True)
        gone = [
            one
            for among in (Among.KEPT, Among.DELETED)
            for one in self._stores.documents.list(inside, among=among)
        ]
        self._stores.documents.apply(RemoveCollection(name))
        return len(gone)


def _named(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or plain != name or "/" in name or not name.isprintable():
        raise BadInput(f"{name!r} is no name for a collection; use letters, without `/`")
    if len(name) > LONGEST_NAME:
        raise BadInput(f"the name of a collection has at most {LONGEST_NAME} characters")
    return name


def _free(name: str, held: Sequence[Collection]) -> str:
    if any(one.name == name for one in held):
        raise BadInput(f"there is a collection {name!r} already; choose another name")
    return name


def _rooted(folder: Path, held: Sequence[Collection]) -> str:
    given = folder.expanduser()
    if not given.is_dir():
        what = "is not a folder" if given.exists() else "does not exist"
        raise MissingFolder(f"{given} {what}; nothing was changed")
    root = str(given.resolve())
    for one in held:
        if one.root == root:
            raise BadInput(f"{root} is the collection {one.name!r} already")
    return root


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > LONGEST_DESCRIPTION:
        raise BadInput(f"a description is one sentence of at most {LONGEST_DESCRIPTION} characters")
    return line
