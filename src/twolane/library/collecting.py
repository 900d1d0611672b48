"""Collections: named sets of documents, each from one folder or from nowhere in particular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from twolane.model.document import Collection, Kind
from twolane.model.draft import LONGEST_DESCRIPTION
from twolane.model.errors import BadInput, MissingFolder
from twolane.model.scope import Scope
from twolane.ports.documents import (
    Among,
    DocumentStore,
    PutCollection,
    RemoveCollection,
    RenameCollection,
)

LONGEST_NAME = 200


class Collections:
    """Adds, changes and removes collections; a name and a folder belong to one of them."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents

    def get(self, name: str, scope: Scope) -> Collection:
        """The collection of this name; one that is not there is an error that lists the others."""
        collections = self._documents.collections(scope)
        for collection in collections:
            if collection.name == name:
                return collection
        there = ", ".join(collection.name for collection in collections) or "none"
        raise BadInput(f"there is no collection {name!r}; there are: {there}")

    def add(self, collection: Collection) -> Collection:
        """Add a collection; its folder, if it has one, must be there."""
        others = self._documents.collections()
        name = _free(_checked(collection.name), others)
        root = None if collection.root is None else _rooted(Path(collection.root), others)
        added = replace(
            collection,
            name=name,
            root=root,
            kind=Kind(collection.kind),
            description=_sentence(collection.description),
        )
        self._documents.apply(PutCollection(added))
        return added

    def describe(
        self,
        collection: Collection,
        description: str | None,
        include: Sequence[str] | None,
        exclude: Sequence[str] | None,
    ) -> Collection:
        """Say anew what a collection is, and which files belong to it; None leaves it as it is."""
        described = replace(
            collection,
            description=collection.description if description is None else _sentence(description),
            include=collection.include if include is None else tuple(include),
            exclude=collection.exclude if exclude is None else tuple(exclude),
        )
        self._documents.apply(PutCollection(described))
        return described

    def rename(self, collection: Collection, new: str) -> Collection:
        """Give a collection another name."""
        name = _free(_checked(new), self._documents.collections())
        self._documents.apply(RenameCollection(collection.name, name))
        return replace(collection, name=name)

    def remove(self, collection: Collection) -> int:
        """Delete a collection; how many documents went with it."""
        inside = Scope(collections=(collection.name,), archived=True)
        count = sum(
            len(self._documents.list(inside, among=among)) for among in (Among.KEPT, Among.DELETED)
        )
        self._documents.apply(RemoveCollection(collection.name))
        return count


def _checked(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or plain != name or "/" in name or not name.isprintable():
        raise BadInput(f"{name!r} is no name for a collection; use letters, without `/`")
    if len(name) > LONGEST_NAME:
        raise BadInput(f"the name of a collection has at most {LONGEST_NAME} characters")
    return name


def _free(name: str, others: Sequence[Collection]) -> str:
    if any(other.name == name for other in others):
        raise BadInput(f"there is a collection {name!r} already; choose another name")
    return name


def _rooted(folder: Path, others: Sequence[Collection]) -> str:
    given = folder.expanduser()
    if not given.is_dir():
        what = "is not a folder" if given.exists() else "does not exist"
        raise MissingFolder(f"{given} {what}; nothing was changed")
    root = str(given.resolve())
    for other in others:
        if other.root == root:
            raise BadInput(f"{root} is the collection {other.name!r} already")
    return root


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > LONGEST_DESCRIPTION:
        raise BadInput(f"a description is one sentence of at most {LONGEST_DESCRIPTION} characters")
    return line
