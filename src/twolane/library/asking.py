"""What can be asked of a library: searches, explanations, documents."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from twolane.library.held import LOCAL, Held
from twolane.model import deadlines
from twolane.model.answer import Answer, Mode, Order
from twolane.model.document import Chunk, Document
from twolane.model.errors import BadInput, TooSlow
from twolane.model.permissions import require
from twolane.model.scope import ANYWHERE, Capability, Scope
from twolane.ports.documents import Facets, Part
from twolane.query.lookup import named, near_names
from twolane.query.missing_tags import missing_tags
from twolane.results.paging import Pages
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.explain.similar import SimilarAnswer, Similarities
    from twolane.explain.why import Diagnoser, Diagnosis
    from twolane.ranking.phrasings import Phrasings
    from twolane.results.excerpts import Excerpt


# Words rank, and where there are none the latest come first.
BEST = Order()


class Asking(Held):
    """The questions; each is asked in a scope and checks its capabilities."""

    def search(
        self,
        text: str,
        *,
        scope: Scope = LOCAL,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
        order: Order = BEST,
        phrasings: Phrasings | None = None,
    ) -> Answer:
        """The best documents for the query: by words, by meaning, or both.

        A query without words lists the documents that its filters leave; an order sorts them,
        and with the `next` of an answer as its cursor it goes on where that answer ended.
        Other `phrasings` of the query are asked beside it; such an answer has one page.
        """
        wanted = _checked(limit, self.settings)
        with self._in_time():
            answer = self._answer(text, scope, Mode(mode), wanted, order, phrasings)
            if not answer.results:
                # An answer need not wait for what may be the reason that it is empty.
                with deadlines.time_to_show(), suppress(TooSlow):
                    return self._without_results(answer, scope)
            return answer

    def _answer(
        self,
        text: str,
        scope: Scope,
        mode: Mode,
        wanted: int,
        order: Order,
        phrasings: Phrasings | None,
    ) -> Answer:
        if phrasings:
            return self._phrased(text, phrasings, scope, mode, wanted)
        return self._pages.page(text, scope, order, mode=mode, limit=wanted)

    def _phrased(
        self, text: str, phrasings: Phrasings, scope: Scope, mode: Mode, limit: int
    ) -> Answer:
        from twolane.ranking.phrasings import rank_phrasings
        from twolane.results.answers import answer_of

        started = time.perf_counter()
        weight = self.settings.ranking.phrasing_weight
        ranked = rank_phrasings(
            self._searcher, text, phrasings, scope, mode=mode, limit=limit, weight=weight
        )
        answer = answer_of(self._stores.documents, text, mode, ranked, ranked.fused[:limit])
        return replace(answer, took_ms=(time.perf_counter() - started) * 1000)

    def _without_results(self, answer: Answer, scope: Scope) -> Answer:
        """The answer with what may be the reason that it is empty."""
        asked = self._searcher.asked(answer.query, scope, mode=answer.mode)
        return replace(
            answer, missing_tags=missing_tags(self._stores.documents, asked.scope, scope)
        )

    def why(
        self,
        text: str,
        reference: str,
        *,
        scope: Scope = LOCAL,
        mode: Mode | str = Mode.HYBRID,
        limit: int | None = None,
    ) -> Diagnosis:
        """Why a document is, or is not, among the results of a query, and what would change it."""
        wanted = _checked(limit, self.settings)
        with self._in_time():
            return self._diagnoser.why(text, reference, scope, mode=Mode(mode), limit=wanted)

    def similar(
        self,
        reference: str,
        *,
        scope: Scope = LOCAL,
        limit: int | None = None,
        exclude_linked: bool = False,
    ) -> SimilarAnswer:
        """The documents most similar to the one that an id, path, URL, title or alias names."""
        wanted = _checked(limit, self.settings)
        with self._in_time():
            return self._similarities.similar(
                reference, scope, limit=wanted, exclude_linked=exclude_linked
            )

    def document(self, reference: str, *, scope: Scope = LOCAL) -> Document:
        """The document that an id, path, URL, unique title or alias names."""
        require(scope, Capability.SEARCH)
        with self._in_time():
            return named(self._stores.documents, reference, scope)

    def near_names(self, reference: str, *, scope: Scope = LOCAL) -> list[str]:
        """Titles and paths in scope that are spelled much like a name that no document has."""
        require(scope, Capability.SEARCH)
        with self._in_time():
            return near_names(self._stores.lexical, reference, scope)

    def excerpt(
        self,
        reference: str,
        *,
        section: str | Sequence[str] = "",
        lines: str = "",
        scope: Scope = LOCAL,
    ) -> Excerpt:
        """Part of a document: what `DOC`, `DOC:FROM-TO` or `DOC#HEADING > HEADING` names.

        Or that of its `lines` (`10-20`), or of a `section`: a heading, a path of headings as one
        text or as a list, the id that an outline shows, or `^block`.
        """
        from twolane.results.excerpts import excerpt, part_of

        found = excerpt(reference, lambda name: self.document(name, scope=scope))
        return part_of(found.document, section, lines) if section or lines else found

    def documents(self, *, scope: Scope = LOCAL) -> Iterator[Document]:
        """The documents in scope, by id; read a batch at a time, so any number fits."""
        require(scope, Capability.SEARCH)
        ids = [one.id for one in self._stores.documents.list(scope)]
        size = self.settings.index.batch
        get = self._stores.documents.get
        batches = (get(ids[at : at + size], ANYWHERE) for at in range(0, len(ids), size))
        return (held[id].document for held in batches for id in sorted(held))

    def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document."""
        held = self._stores.documents.get([document.id], ANYWHERE, frozenset({Part.CHUNKS}))
        return [chunk for one in held.values() for chunk in one.chunks]

    def facets(self, *, scope: Scope = LOCAL, documents: Sequence[str] | None = None) -> Facets:
        """How documents are spread over kinds, collections, tags and languages.

        Those in scope, or of them only the ones with these ids.
        """
        require(scope, Capability.SEARCH)
        if documents is not None and not documents:
            return Facets({}, {}, {}, {})
        counted = scope if documents is None else replace(scope, documents=tuple(documents))
        with self._in_time():
            return self._stores.documents.facets(counted)

    def stop_answering(self) -> None:
        """End all answers that are being worked on, with TooSlow; there are no others after this.

        For whoever is about to close the library.
        """
        self._searcher.stop()

    def _in_time(self) -> AbstractContextManager[None]:
        """The time that a question may take, as a block around its answer."""
        return deadlines.within(self._searcher.deadline())

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self._stores.documents, self._searcher, self.settings.search.pool)

    @cached_property
    def _diagnoser(self) -> Diagnoser:
        from twolane.explain.why import Diagnoser

        return Diagnoser(self._stores, self.settings, self._searcher, self._source)

    @cached_property
    def _similarities(self) -> Similarities:
        from twolane.explain.similar import Similarities

        return Similarities(self._stores, self.settings)


def _checked(limit: int | None, settings: Settings) -> int:
    if limit is not None and limit < 1:
        raise BadInput("the number of results must be at least 1")
    return settings.search.limit if limit is None else limit
