"""Which lines are forms: worked out over all texts, when there are many more than last time.

Whatever is embedded afterwards is embedded without them, and passages that hold one are embedded
anew; until then the vectors that they have serve.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from twolane.chunking.forms import FEWEST, common_lines, key_of, lines_of
from twolane.model import Forms, Rewording
from twolane.ports import Store
from twolane.preparing import reworded
from twolane.settings import Settings

log = logging.getLogger("twolane")

# Forms are learned anew when there are so many times as many documents.
_GROWTH = 2

# So many documents are looked at together.
_TOGETHER = 200


def learn_forms(store: Store, settings: Settings) -> bool:
    """Learn the forms of the library if it has grown enough to tell more; whether it had.

    With the setting switched off, what was learned is taken back.
    """
    known = store.forms()
    if not settings.forms:
        if known.documents:
            _keep(store, settings, known, Forms(), {})
        return known.documents > 0
    documents = store.frequencies(()).documents
    if documents < max(FEWEST, _GROWTH * known.documents):
        return False
    lines = common_lines(lambda: (body for _, body in store.bodies()))
    keys = {line: key_of(line) for line in lines}
    _keep(store, settings, known, Forms(frozenset(keys.values()), documents), keys)
    log.info("%d lines are forms, by %d documents", len(keys), documents)
    return True


def _keep(
    store: Store, settings: Settings, known: Forms, forms: Forms, lines: Mapping[str, int]
) -> None:
    ids = _concerned(store, known, lines) if known.keys or lines else []
    # Worked out before anything is written, so that nobody waits for it.
    store.learn(forms, list(_rewordings(store, settings, forms, ids)))


def _concerned(store: Store, known: Forms, lines: Mapping[str, int]) -> list[str]:
    """Documents that hold a line that is a form now, or was one before."""
    gone = known.keys - set(lines.values())

    def holds(body: str) -> bool:
        held = set(lines_of(body))
        return not held.isdisjoint(lines) or bool(gone and not gone.isdisjoint(map(key_of, held)))

    return [id for id, body in store.bodies() if holds(body)]


def _rewordings(
    store: Store, settings: Settings, forms: Forms, ids: Sequence[str]
) -> Iterator[Rewording]:
    for at in range(0, len(ids), _TOGETHER):
        some = ids[at : at + _TOGETHER]
        documents, passages = store.documents(some), store.chunks_of(some)
        for id in sorted(documents.keys() & passages.keys()):
            document, before = documents[id], passages[id]
            after = reworded(document, before, settings, forms.keys)
            for old, new in zip(before, after, strict=True):
                if old != new:
                    yield Rewording(id, old.content_hash, new)
