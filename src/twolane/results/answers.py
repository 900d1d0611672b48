"""A ranking becomes an answer: what is shown of the documents that were found."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.ingest.chunking import embedded_text
from twolane.model import deadlines
from twolane.model.answer import Answer, Mode, Result
from twolane.model.candidate import Candidate
from twolane.model.scope import ANYWHERE
from twolane.ports.documents import DocumentStore, Part
from twolane.query import Query
from twolane.query.analyzer import AnalyzedQuery
from twolane.ranking.rankings import Ranking
from twolane.results.exact import exact_result_of, only_by_letters
from twolane.results.mentions import sought
from twolane.results.results import passage_to_read, results_of


def answer_of(
    documents: DocumentStore, text: str, mode: Mode, ranking: Ranking, shown: Sequence[Candidate]
) -> Answer:
    """The answer that shows some of a ranking."""
    query = ranking.query
    with deadlines.time_to_show():
        results = shown_results(documents, shown, query.parsed, query.literal)
    return Answer(
        query=text,
        mode=mode,
        lanes=ranking.lanes,
        degraded=ranking.degraded,
        generation=ranking.generation,
        took_ms=0.0,
        results=results,
        repairs=query.repairs,
        misread=query.parsed.misread,
        intent=str(query.intent),
        found=ranking.found,
        collections=descriptions(documents, results),
        answerable=ranking.answerable,
        plan=ranking.plan.weights,
    )


def descriptions(documents: DocumentStore, results: Sequence[Result]) -> dict[str, str]:
    """What the collections of the results are, where somebody said it."""
    shown = {one.collection for one in results}
    with deadlines.time_to_show():
        held = documents.collections() if shown else []
    return {one.name: one.description for one in held if one.name in shown and one.description}


def passages_to_read(
    store: DocumentStore,
    query: AnalyzedQuery,
    candidates: Sequence[Candidate],
    *,
    whole: bool = False,
    letters: int | None = None,
) -> dict[str, str]:
    """What a reranker reads of each candidate, by id: the passage that would be shown.

    Or all of the document, if it is to be the `whole`; of either at most so many `letters`.
    """
    ids = [one.id for one in candidates]
    held = store.get(ids, ANYWHERE, frozenset({Part.TEXT, Part.CHUNKS}))
    words = sought(query.parsed.marks)
    found = {}
    for one in candidates:
        if (stored := held.get(one.id)) is not None:
            document = stored.document
            text = (
                embedded_text(document.title, (), document.body)
                if whole
                else passage_to_read(one, document, stored.chunks, words)
            )
            found[one.id] = text[:letters]
    return found


def shown_results(
    store: DocumentStore,
    candidates: Sequence[Candidate],
    query: Query,
    literal: str = "",
) -> tuple[Result, ...]:
    """What is shown of documents that were found."""
    ids = [one.id for one in candidates]
    held = store.get(ids, ANYWHERE, frozenset({Part.TEXT, Part.CHUNKS}))
    documents = {id: one.document for id, one in held.items()}
    chunks = {id: one.chunks for id, one in held.items()}
    by_letters = {
        one.id: exact_result_of(one, documents[one.id], chunks.get(one.id, ()), literal)
        for one in candidates
        if one.id in documents and only_by_letters(one)
    }
    others = [one for one in candidates if one.id not in by_letters]
    found = results_of(others, documents, chunks, query.marks)
    shown = {one.id: one for one in found} | by_letters
    # A document may go between the lanes and here; it is then rightly missing.
    return tuple(shown[id] for id in ids if id in shown)
