"""Which lines are boilerplate: worked out over all texts, when there are many more than last time.

Whatever is embedded afterwards is embedded without them, and passages that hold one are embedded
anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from twolane.ingest.analysis import reworded
from twolane.ingest.chunking.boilerplate import FEWEST, common_lines, key_of, lines_of
from twolane.model.document import Boilerplate, Document, Rewording
from twolane.model.scope import ANYWHERE, EVERYBODY
from twolane.ports import Stores
from twolane.ports.documents import DocumentStore, KeepBoilerplate, Part
from twolane.settings import Settings

log = logging.getLogger("twolane")

# Boilerplate is detected anew when there are so many times as many documents.
_GROWTH = 2

# So many documents are looked at together.
_TOGETHER = 200

_WITH_CHUNKS = frozenset({Part.TEXT, Part.CHUNKS})


def detect_boilerplate(stores: Stores, settings: Settings) -> bool:
    """Detect the library's boilerplate if it has grown enough to tell more; whether it had.

    With the setting switched off, what was detected is taken back.
    """
    documents = stores.documents
    known = documents.boilerplate()
    if not settings.ranking.boilerplate:
        if known.documents:
            _keep(documents, settings, known, Boilerplate(), {})
        return known.documents > 0
    count = stores.lexical.document_frequencies((), EVERYBODY).documents
    if count < max(FEWEST, _GROWTH * known.documents):
        return False
    lines = common_lines(lambda: (one.body for one in _all(documents)))
    keys = {line: key_of(line) for line in lines}
    _keep(documents, settings, known, Boilerplate(frozenset(keys.values()), count), keys)
    log.info("%d lines are boilerplate, by %d documents", len(keys), count)
    return True


def _keep(
    documents: DocumentStore,
    settings: Settings,
    known: Boilerplate,
    boilerplate: Boilerplate,
    lines: Mapping[str, int],
) -> None:
    ids = _concerned(documents, known, lines) if known.keys or lines else []
    # Worked out before anything is written, so that nobody waits for it.
    rewordings = list(_rewordings(documents, settings, boilerplate, ids))
    documents.apply(KeepBoilerplate(boilerplate, rewordings))


def _all(documents: DocumentStore) -> Iterator[Document]:
    ids = [one.id for one in documents.list(ANYWHERE)]
    for at in range(0, len(ids), _TOGETHER):
        yield from (
            one.document for one in documents.get(ids[at : at + _TOGETHER], ANYWHERE).values()
        )


def _concerned(documents: DocumentStore, known: Boilerplate, lines: Mapping[str, int]) -> list[str]:
    """Documents that hold a line that is boilerplate now, or was before."""
    gone = known.keys - set(lines.values())

    def holds(body: str) -> bool:
        own_lines = set(lines_of(body))
        return not own_lines.isdisjoint(lines) or bool(
            gone and not gone.isdisjoint(map(key_of, own_lines))
        )

    return [one.id for one in _all(documents) if holds(one.body)]


def _rewordings(
    documents: DocumentStore, settings: Settings, boilerplate: Boilerplate, ids: Sequence[str]
) -> Iterator[Rewording]:
    for at in range(0, len(ids), _TOGETHER):
        some = documents.get(ids[at : at + _TOGETHER], ANYWHERE, _WITH_CHUNKS)
        for id in sorted(some):
            before = some[id].chunks
            after = reworded(some[id].document, before, settings, boilerplate.keys)
            for old, new in zip(before, after, strict=True):
                if old != new:
                    yield Rewording(id, old.content_hash, new)
