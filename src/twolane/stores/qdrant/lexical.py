"""Candidates by words, through sparse vectors: their order picks the pool, streams are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import models

from twolane.model.candidate import DocumentTerms, Frequencies, Match, Names
from twolane.model.errors import EngineUnavailable
from twolane.model.scope import Scope, Word
from twolane.ports.documents import DocumentStore
from twolane.ports.lexical import LexicalIndex, Likeness
from twolane.stores.qdrant.cluster import Cluster
from twolane.stores.qdrant.conditions import holds, in_scope, still_there
from twolane.stores.qdrant.layout import TERMS, Layout
from twolane.stores.qdrant.points import term_number, words_id
from twolane.stores.term_counts import TermCounter

_SHOWN = ["document", "languages", "streams"]


class QdrantLexical:
    """The LexicalIndex port; `behind` is the database's, which answers all that is not ours."""

    def __init__(
        self, cluster: Cluster, layout: Layout, behind: LexicalIndex, documents: DocumentStore
    ) -> None:
        self._cluster = cluster
        self._documents = documents
        self._layout = layout
        self._behind = behind

    def candidates(
        self,
        words: Sequence[Word],
        scope: Scope,
        *,
        every: bool,
        limit: int,
        count: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> list[DocumentTerms]:
        """Documents in scope that hold every word (or any, if not `every`), at most `limit`.

        The database answers for the beginnings of words, and for scopes that only it can tell.
        """
        filter = in_scope(scope, *(map(holds, words) if every else ()))
        if not words or limit <= 0 or filter is None or any(word.prefix for word in words):
            return self._behind.candidates(
                words, scope, every=every, limit=limit, count=count, sequence=sequence
            )
        weights: dict[int, float] = {}
        for word in words:
            for term in word.terms:
                number = term_number(term)
                weights[number] = max(weights.get(number, 0.0), word.weight)
        query = models.SparseVector(indices=list(weights), values=list(weights.values()))
        collection = self._layout.asked(None)
        found = self._cluster.ask(
            lambda client: client.query_points(
                collection,
                query=query,
                using=TERMS,
                query_filter=filter,
                limit=limit,
                with_payload=_SHOWN,
                consistency=self._layout.shape.consistency,
            )
        )
        counter = TermCounter(words if count is None else count, sequence)
        told = [_counted(counter, point.payload or {}) for point in found.points]
        shown = still_there(self._documents, [one.id for one in told], scope)
        # Two terms may share a number, so that a document may hold neither.
        return [one for one in told if one.id in shown and (one.frequencies or count is not None)]

    def term_frequencies(
        self,
        ids: Sequence[str],
        words: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> Mapping[str, DocumentTerms]:
        """The same for documents that were found in scope before, by id."""
        if not ids:
            return {}
        points = [words_id(id) for id in ids]
        try:
            collection = self._layout.asked(None)
            found = self._cluster.ask(
                lambda client: client.retrieve(
                    collection,
                    points,
                    with_payload=_SHOWN,
                    consistency=self._layout.shape.consistency,
                )
            )
        except EngineUnavailable:
            # What other lanes found is measured by the database.
            return self._behind.term_frequencies(ids, words, sequence)
        counter = TermCounter(words, sequence)
        payloads = [point.payload for point in found if point.payload]
        told = [_counted(counter, one) for one in payloads if "document" in one]
        return {one.id: one for one in told}

    def document_frequencies(self, words: Sequence[Word], scope: Scope) -> Frequencies:
        """The owner's documents, how many of them hold each term, and average field lengths."""
        return self._behind.document_frequencies(words, scope)

    def similar_terms(
        self, term: str, scope: Scope, likeness: Likeness, *, edits: int = 1, limit: int
    ) -> list[str]:
        """Terms of the owner's documents that are like this one, at most `limit`."""
        return self._behind.similar_terms(term, scope, likeness, edits=edits, limit=limit)

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter, at most `limit`."""
        return self._behind.substring(text, scope, limit=limit)

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names may hold all pieces of one group, at most `limit`."""
        return self._behind.named(pieces, scope, limit=limit)


def _counted(counter: TermCounter, payload: Mapping[str, Any]) -> DocumentTerms:
    return counter.of(payload["document"], tuple(payload["languages"]), payload["streams"])
