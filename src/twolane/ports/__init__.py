"""What the inside asks of the outside, one small file per port.

A store implements one or more of six ports: DocumentStore, LexicalIndex, VectorIndex,
EmbeddingQueue, Maintenance and Tokens.
It holds no ranking policy: it returns candidates and counts, and its own order only picks the pool.
It translates its driver's errors into `twolane.model.errors`, and is safe to call from several
threads.
Whatever looks at many documents for a question keeps to its deadline (`twolane.model.deadlines`),
and raises TooSlow when that is over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from twolane.model.values import dataclass
from twolane.ports.documents import DocumentStore
from twolane.ports.lexical import LexicalIndex
from twolane.ports.maintenance import Maintenance
from twolane.ports.outbox import Follower, Outbox
from twolane.ports.queue import EmbeddingQueue
from twolane.ports.tokens import Tokens
from twolane.ports.vectors import VectorIndex


@dataclass(frozen=True, slots=True)
class Stores:
    """The store ports of one library; one adapter may stand behind several of them.

    `replica` is the same library on another server, which searches ask where there is one; it may
    be a moment behind.
    `outbox` records changes for another engine, where the store can do that; `follower` brings
    them there, where there is one.
    All that a thread reads inside of `snapshot` is of one state where the store can do so, which is
    also quicker; whoever waits for others inside calls `pause` before, and reads a later state
    afterwards.
    """

    documents: DocumentStore
    lexical: LexicalIndex
    vectors: VectorIndex
    queue: EmbeddingQueue
    maintenance: Maintenance
    tokens: Tokens
    replica: Stores | None = None
    outbox: Outbox | None = None
    follower: Follower | None = None
    snapshot: Callable[[], AbstractContextManager[None]] = nullcontext
    pause: Callable[[], None] = lambda: None

    @property
    def searched(self) -> Stores:
        """What searches ask."""
        return self.replica or self
