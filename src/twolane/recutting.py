"""Text that is cut into other passages: each borrows the vector of the one that held its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from twolane.model import Chunk
from twolane.ports import Store
from twolane.spaces import serving


def recut(store: Store, id: str, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """The new passages of a document whose text has not changed, each with its lender.

    That is the old passage that holds most of its text,
    or whoever lends to that one if it never got a vector of its own.
    """
    old = store.chunks(id)
    if not old:
        return tuple(chunks)
    generation = serving(store)
    hashes = [one.content_hash for one in old]
    made = store.known_vectors(generation.number, hashes) if generation else {}

    def lent_by(one: Chunk) -> str:
        return one.text_hash if one.content_hash in made else one.lender or one.text_hash

    same = {one.text_hash for one in old}
    return tuple(
        one
        if one.text_hash in same
        else replace(one, lender=lent_by(max(old, key=lambda other: _overlap(one, other))))
        for one in chunks
    )


def _overlap(one: Chunk, other: Chunk) -> int:
    return min(one.end, other.end) - max(one.start, other.start)
