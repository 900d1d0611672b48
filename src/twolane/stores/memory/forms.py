"""Lines that many documents hold, in the memory store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from twolane.model import Chunk, Forms, Prepared, Rewording
from twolane.stores.memory.state import State


class MemoryForms:
    """The part of the `Documents` port that knows forms."""

    _state: State

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Id and body of every document that is not hidden."""
        with self._state.lock:
            held = self._state.visible()
        yield from ((one.document.id, one.document.body) for one in held)

    def forms(self) -> Forms:
        """The forms as they were last learned."""
        with self._state.lock:
            return self._state.forms

    def learn(self, forms: Forms, rewordings: Iterable[Rewording]) -> None:
        """Keep these forms, and what is embedded for these passages because of them."""
        changed: dict[str, dict[tuple[int, str], Rewording]] = {}
        for one in rewordings:
            changed.setdefault(one.id, {})[one.after.position, one.before] = one
        with self._state.lock:
            documents = dict(self._state.documents)
            for id, passages in changed.items():
                if id in documents:
                    documents[id] = _reworded(documents[id], passages)
            self._state.documents, self._state.forms = documents, forms
            self._state.changes += 1


def _reworded(prepared: Prepared, changed: dict[tuple[int, str], Rewording]) -> Prepared:
    def after(chunk: Chunk) -> Chunk:
        one = changed.get((chunk.position, chunk.content_hash))
        if one is None:
            return chunk
        now = one.after
        return replace(chunk, content_hash=now.content_hash, language=now.language, forms=now.forms)

    return replace(prepared, chunks=tuple(map(after, prepared.chunks)))
