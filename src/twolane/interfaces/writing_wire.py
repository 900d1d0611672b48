"""The JSON of collections, tags and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.interfaces.wire import Json, embedded_json, problem_json

if TYPE_CHECKING:
    from twolane.drafts import Saved
    from twolane.exchange.rows import ImportReport
    from twolane.library.embedding import Embedded
    from twolane.model import Collection, Document


def collection_json(collection: Collection, documents: int | None = None) -> Json:
    """A collection, with how many documents it holds if that is known."""
    return {
        "name": collection.name,
        "root": collection.root,
        "kind": collection.kind.value,
        "include": list(collection.include),
        "exclude": list(collection.exclude),
        "description": collection.description or None,
        "documents": documents,
    }


def collections_json(collections: Sequence[Collection], counts: Mapping[str, int]) -> Json:
    """All collections, by name."""
    return {"collections": [collection_json(one, counts.get(one.name, 0)) for one in collections]}


def removed_json(name: str, documents: int) -> Json:
    """What went with a collection."""
    return {"removed": name, "documents": documents}


def tags_json(tags: Mapping[str, int]) -> Json:
    """Tags with the number of documents that bear them, by name."""
    return {"tags": dict(sorted(tags.items()))}


def deleted_json(documents: Sequence[Document]) -> Json:
    """The deleted documents that can be restored."""
    return {"deleted": [{"id": one.id, "title": one.title} for one in documents]}


def import_json(report: ImportReport, embedded: Embedded | None) -> Json:
    """What an import did, and what embedding did if it ran."""
    return {
        "source": report.name,
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "merged": report.merged,
        "skipped": report.skipped,
        "failed": report.failed,
        "mended": report.mended,
        "collections": report.collections,
        "seconds": round(report.seconds, 3),
        "problems": [problem_json(one) for one in report.problems],
        "embedding": embedded_json(embedded) if embedded else None,
    }


def export_json(file: str, documents: int) -> Json:
    """How many documents were written, and where."""
    return {"exported": file, "documents": documents}


def saved_json(saved: Sequence[Saved]) -> Json:
    """What became of the documents that a change named."""
    return {
        "documents": [
            {
                "id": one.id,
                "version": one.version,
                "changed": one.changed,
                "created": one.created,
            }
            for one in saved
        ]
    }
