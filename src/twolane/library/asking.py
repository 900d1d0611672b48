"""What can be asked of a library: searches, explanations, documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from twolane.answers import Answer, Mode, Order
from twolane.errors import BadInput
from twolane.library.held import ALL, LOCAL, Held
from twolane.lookup import named
from twolane.missing_tags import missing_tags
from twolane.model import Chunk, Document
from twolane.paging import Pages
from twolane.permissions import require
from twolane.ports import Facets
from twolane.scopes import Capability, Scope
from twolane.settings import Settings

if TYPE_CHECKING:
    # These are slow to import, and a search needs none of them.
    from twolane.diagnose import Diagnoser, Diagnosis
    from twolane.excerpts import Excerpt
    from twolane.phrasings import Phrasings
    from twolane.similar import SimilarAnswer, Similarities


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
        if phrasings:
            from twolane.phrasings import ask

            answer = ask(
                self._searcher,
                text,
                phrasings,
                scope,
                mode=Mode(mode),
                limit=wanted,
                weight=self.settings.phrasing_weight,
            )
        else:
            answer = self._pages.page(text, scope, order, mode=Mode(mode), limit=wanted)
        return answer if answer.results else self._without_results(answer, scope)

    def _without_results(self, answer: Answer, scope: Scope) -> Answer:
        """The answer with what may be the reason that it is empty."""
        asked = self._searcher.asked(answer.query, scope, mode=answer.mode)
        return replace(answer, missing_tags=missing_tags(self._store, asked.scope, scope))

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
        return self._similarities.similar(
            reference, scope, limit=_checked(limit, self.settings), exclude_linked=exclude_linked
        )

    def document(self, reference: str, *, scope: Scope = LOCAL) -> Document:
        """The document that an id, path, URL, unique title or alias names."""
        require(scope, Capability.SEARCH)
        return named(self._store, reference, scope)

    def excerpt(self, reference: str, *, scope: Scope = LOCAL) -> Excerpt:
        """Part of a document: what `DOC`, `DOC:FROM-TO` or `DOC#HEADING > HEADING` names."""
        from twolane.excerpts import excerpt

        return excerpt(reference, lambda name: self.document(name, scope=scope))

    def documents(self, *, scope: Scope = LOCAL) -> Iterator[Document]:
        """The documents in scope, by id; read a batch at a time, so any number fits."""
        require(scope, Capability.SEARCH)
        ids = sorted(self._store.recent(scope, limit=ALL))
        size = self.settings.batch
        batches = (self._store.documents(ids[at : at + size]) for at in range(0, len(ids), size))
        return (held[id] for held in batches for id in sorted(held))

    def chunks(self, document: Document) -> list[Chunk]:
        """The passages of a document."""
        return self._store.chunks(document.id)

    def facets(self, *, scope: Scope = LOCAL, documents: Sequence[str] | None = None) -> Facets:
        """How documents are spread over kinds, collections, tags and languages.

        Those in scope, or of them only the ones with these ids.
        """
        require(scope, Capability.SEARCH)
        if documents is None:
            return self._store.facets(scope)
        if not documents:
            return Facets({}, {}, {}, {})
        return self._store.facets(replace(scope, documents=tuple(documents)))

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self._store, self._searcher, self.settings.pool)

    @cached_property
    def _diagnoser(self) -> Diagnoser:
        from twolane.diagnose import Diagnoser

        return Diagnoser(self._store, self.settings, self._searcher, self._source)

    @cached_property
    def _similarities(self) -> Similarities:
        from twolane.similar import Similarities

        return Similarities(self._store, self.settings)


def _checked(limit: int | None, settings: Settings) -> int:
    if limit is not None and limit < 1:
        raise BadInput("the number of results must be at least 1")
    return settings.limit if limit is None else limit
