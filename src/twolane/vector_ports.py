"""The ports of meaning: what keeps vectors and the work that is left, and what makes vectors."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from twolane.model import Failure, Generation, Pending, Progress, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Matrix = NDArray[np.float32]


# No sentences; a default that nobody can change.
NOTHING: Mapping[str, bytes] = MappingProxyType({})


class Vectors(Protocol):
    """Keeps generations of vectors and the work that is left."""

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none.

        The first generation of a store serves at once; a later one fills until activated.
        One that was retired fills again, with the vectors that it had.
        """

    def activate(
        self, generation: int, *, standby: Container[int] = (), held: Container[int] = ()
    ) -> None:
        """Let this generation serve, at once for every reader.

        Of the others that served or stood by, those named stand by or are held back,
        and the rest retire.
        """

    def hold(self, generation: int, reason: str) -> None:
        """Keep a generation that does not serve from taking over by itself, and say why."""

    def drop_generation(self, generation: int) -> None:
        """Delete a generation with its vectors."""

    def set_rate(self, generation: int, rate: float) -> None:
        """Remember how many passages a second the generation is filled by."""

    def claim(
        self,
        generation: int,
        *,
        worker: str,
        limit: int,
        seconds: float,
        ids: Collection[str] | None = None,
    ) -> list[Pending]:
        """Up to `limit` passages without a vector, leased to `worker` for `seconds`.

        A passage that is leased to somebody else, or failed and not due, is left out;
        with `ids`, so are those of other documents.
        """

    def add_vectors(
        self,
        generation: int,
        vectors: Iterable[tuple[str, str, Vector]],
        sentences: Mapping[str, bytes] = NOTHING,
    ) -> None:
        """Store (content hash, text hash, unit vector) rows and end their leases.

        `sentences` are the codes of the passages' sentences by content hash; a passage whose
        vector is replaced without them keeps those that it has.
        """

    def means(self, generation: int) -> dict[str, Vector]:
        """The language means that the generation's vectors were centred by; empty before that."""

    def all_vectors(self, generation: int) -> list[tuple[str, str, str | None, Vector]]:
        """(content hash, text hash, language, vector) of each passage of the generation.

        In the order of document ids and positions; a passage of several documents comes once.
        """

    def recentre(
        self,
        generation: int,
        means: Mapping[str, Vector],
        vectors: Iterable[tuple[str, str, Vector]],
    ) -> None:
        """Replace the vectors and set the means they were centred by, both or neither.

        Vectors that are not named are gone: they were centred by other means.
        """

    def spoken(self, generation: int, *, at_most: bool = False) -> dict[str, tuple[int, int]]:
        """Embedded passages of each language when the means were taken, and now.

        The first is 0 for a language that had no mean.
        With `at_most` the second may be more, and is cheap enough to ask after every save.
        """

    def known_vectors(self, generation: int, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of those passages that have one of their own, by content hash."""

    def known_sentences(
        self, generation: int, content_hashes: Sequence[str]
    ) -> Mapping[str, bytes]:
        """The codes of the sentences of those passages that have any, by content hash."""

    def fail(
        self, generation: int, content_hash: str, reason: str, *, retry_in: float | None
    ) -> None:
        """Record that a passage could not be embedded, and when to try again; None: never."""

    def retry(self, generation: int) -> int:
        """Make every passage that failed due now, as if never tried; how many there were."""

    def due(self, generation: int) -> float | None:
        """Seconds until a lease ends or a failed passage is due; None if nobody waits for any."""

    def workers(self, generation: int) -> list[str]:
        """The workers that hold a lease, sorted, whether it has run out or not."""

    def release(self, generation: int, worker: str) -> None:
        """End all leases of a worker."""

    def progress(self, generation: int) -> Progress:
        """How many distinct passages are ready, pending and failed."""

    def failures(self, generation: int) -> dict[str, Failure]:
        """The failure of the first passage that failed, by document id."""

    def unembedded(self, generation: int) -> dict[str, int]:
        """Number of passages without a vector by document id, where there are any."""

    def uncovered(self, generation: int) -> int:
        """How many passages `nearest` cannot compare: no vector of their own, none to borrow.

        Cheap enough for every query.
        """

    def sweep(self) -> int:
        """Delete vectors that serve no chunk any more; the number deleted."""


class Embedder(Protocol):
    """Turns texts into unit vectors of one space."""

    @property
    def space(self) -> Space:
        """The identity of the vectors; costs nothing and loads no model."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text."""

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query."""


@runtime_checkable
class Parallel(Protocol):
    """An embedder that gains from several calls at once; others are called one at a time."""

    parallel: int


@runtime_checkable
class SentenceEmbedder(Protocol):
    """An embedder whose space has sentences."""

    def embed_sentences(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in the dimensions that `space.sentences` names."""


@runtime_checkable
class Reusing(Protocol):
    """An embedder part of whose work may be stored already, in another space."""

    @property
    def reuses(self) -> Space:
        """The space whose stored vectors it can use."""

    def embed_beside(self, texts: Sequence[str], known: Sequence[Vector | None]) -> Matrix:
        """One unit row per text; `known` is each text's vector in that space where it is known."""
