"""Analysing documents again that a repair put together from what was left of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from twolane.ingest.analysis import prepare, reworded
from twolane.ingest.drafting import outlined
from twolane.model.document import Batch, Document
from twolane.model.errors import Conflict
from twolane.model.problem import Stamp
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import Among, DocumentStore
from twolane.settings import Settings


def renew(documents: DocumentStore, settings: Settings) -> None:
    """Give documents that were never analysed their words and passages, as a save does."""
    ids = [
        one.id
        for among in (Among.KEPT, Among.DELETED)
        for one in documents.list(ANYWHERE, among=among)
    ]
    for at in range(0, len(ids), settings.index.batch):
        for one in documents.get(ids[at : at + settings.index.batch]).values():
            if not one.analyzer_version:
                # Who saved it anew meanwhile has done what is to be done here.
                with suppress(Conflict):
                    _renew(documents, settings, one.document)


def _renew(documents: DocumentStore, settings: Settings, stored: Document) -> None:
    document = outlined(stored)
    made = prepare(document, settings)
    keys = documents.boilerplate().keys if settings.ranking.boilerplate else frozenset()
    chunks = reworded(document, made.chunks, settings, keys) if keys else made.chunks
    renewed = replace(made, chunks=chunks, stamp=_stamp(documents, document))
    expected = {document.id: document.version}
    documents.apply(Batch(document.collection, upserts=[renewed], expected=expected))


def _stamp(documents: DocumentStore, document: Document) -> Stamp | None:
    """What is remembered of the document's file, so that it is read again when it is there."""
    known = documents.known(document.collection).get(document.path or "")
    return known.stamp if known else None
