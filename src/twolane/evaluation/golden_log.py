"""Candidates for a golden set from what was opened: queries that people really asked.

Somebody opened a result; whether it answered is for a person to say, so none of them is verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from twolane import Document, Library, NoSuchDocument
from twolane.evaluation.golden import GoldenQuery, GoldenSet, Names, with_query
from twolane.model.scope import Scope

CATEGORY = "log"


def with_opened(golden: GoldenSet, library: Library, *, scope: Scope, least: int = 1) -> GoldenSet:
    """The set with one query for each that led to an opened document and that it lacks.

    What was opened most often for a query is relevant, the rest partial; what was opened fewer
    than `least` times for it, and documents that are gone, do not count.
    """
    spelled: dict[str, str] = {}
    counts: dict[str, Counter[str]] = {}
    for one in library.opened(scope=scope):
        folded = " ".join(one.query.casefold().split())
        spelled[folded] = one.query
        counts.setdefault(folded, Counter())[one.id] += 1
    known = {" ".join(one.query.casefold().split()) for one in golden.queries}
    names = Names(library, scope=scope)
    for folded, opened in counts.items():
        enough = {id: count for id, count in opened.items() if count >= least}
        documents = {id: found for id in enough if (found := _document(library, id, scope))}
        if folded in known or not documents:
            continue
        most = max(enough[id] for id in documents)
        golden = _unverified(
            with_query(
                golden,
                GoldenQuery(
                    id="",
                    query=spelled[folded],
                    relevant=_named(
                        names, [one for id, one in documents.items() if enough[id] == most]
                    ),
                    partial=_named(
                        names, [one for id, one in documents.items() if enough[id] < most]
                    ),
                    category=CATEGORY,
                ),
            )
        )
    return golden


def _document(library: Library, id: str, scope: Scope) -> Document | None:
    try:
        found = library.document(id, scope=replace(scope, archived=True))
    except NoSuchDocument:
        return None
    return found if found.id == id else None


def _named(names: Names, documents: Sequence[Document]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names.of(one) for one in documents))


def _unverified(golden: GoldenSet) -> GoldenSet:
    *others, last = golden.queries
    return replace(golden, queries=(*others, replace(last, verified=False)))
