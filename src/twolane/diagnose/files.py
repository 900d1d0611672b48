"""Files that are known and gave no document that can be found."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from twolane.diagnose.values import Obstacle, ObstacleKind, Origin
from twolane.errors import AmbiguousDocument
from twolane.language import fold
from twolane.model import FileState
from twolane.ports import Documents
from twolane.scopes import Capability, Scope

# Collection, path, and what keeps the file out of every answer.
Missing = tuple[str, str, Obstacle]

# What a folder says of a file that the store has never heard of.
Unindexed = Callable[[str], tuple[str, str, str] | None]


def file_named(
    documents: Documents, reference: str, scope: Scope, unindexed: Unindexed
) -> Missing | None:
    """The file that the reference names, and why it is no document; None if there is none.

    The ledger knows no owners, so only who is nobody in particular may look into it,
    and only who may index may learn what lies in a folder unindexed.
    """
    if scope.owner is not None:
        return None
    known = list(_known(documents))
    for fits in (
        lambda collection, path: f"{collection}/{path}" == reference,
        lambda collection, path: path == reference,
        lambda collection, path: fold(_name(path)) == fold(reference),
    ):
        found = [one for one in known if fits(one[0], one[1])]
        if len(found) > 1:
            raise AmbiguousDocument(reference, [f"{one[0]}/{one[1]}" for one in found])
        if found:
            return found[0]
    told = unindexed(reference) if Capability.WRITE in scope.capabilities else None
    if told is None:
        return None
    collection, path, reason = told
    why = f"the file is not in the index: {reason}"
    return collection, path, Obstacle(ObstacleKind.NOT_INDEXED, Origin.INDEX, path, why)


def _known(documents: Documents) -> Iterator[Missing]:
    """Every file that gave no document, and every document that is kept out of search."""
    for collection in documents.collections():
        records = {record.path: record for record in documents.ledger(collection.name)}
        for path, known in documents.known(collection.name).items():
            record = records.get(path)
            if record is not None and record.state == FileState.SKIPPED:
                reason = f"the file is left out: {record.reason}"
            elif record is not None and record.state == FileState.FAILED:
                reason = f"the file could not be indexed: {record.reason}"
            elif known.id is not None:
                reason = "it is kept out of search"
            else:
                continue
            kind = ObstacleKind.EXCLUDED
            yield collection.name, path, Obstacle(kind, Origin.INDEX, path, reason)


def _name(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
