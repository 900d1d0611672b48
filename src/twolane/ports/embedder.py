"""The port of models: what turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix, Vector


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
class Named(Protocol):
    """An embedder whose server says which model answers; any other name is refused from then on."""

    answered_by: str


@runtime_checkable
class SentenceEmbedder(Protocol):
    """An embedder whose space has sentences."""

    def embed_sentences(self, texts: Sequence[str]) -> Matrix:
        """One unit row per text, in the dimensions that `space.sentences` names."""


@runtime_checkable
class Together(SentenceEmbedder, Protocol):
    """An embedder that reads passages along with their sentences in less time than apart."""

    def embed_together(
        self, texts: Sequence[str], sentences: Sequence[Sequence[str]]
    ) -> tuple[Matrix, Matrix]:
        """One unit row per text, and one per sentence of the first text, the second, and so on."""


@runtime_checkable
class Reusing(Protocol):
    """An embedder part of whose work may be stored already, in another space."""

    @property
    def reuses(self) -> Space:
        """The space whose stored vectors it can use."""

    def embed_beside(self, texts: Sequence[str], known: Sequence[Vector | None]) -> Matrix:
        """One unit row per text; `known` is each text's vector in that space where it is known."""
