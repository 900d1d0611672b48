"""Scopes as filters that Qdrant applies before any limit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from qdrant_client import models

from twolane.model.scope import Among, During, Except, Filter, Having, Scope, Trait, Word
from twolane.ports.documents import DocumentStore
from twolane.text.names import beginning
from twolane.text.tokens import fold

# The fields of a point that tell each trait.
_TRAITS = {
    Trait.KIND: "kind",
    Trait.COLLECTION: "collection",
    Trait.TAG: "tags",
    Trait.PATH: "folders",
    Trait.LANGUAGE: "languages",
}


class Untold(Exception):
    """The scope asks for something that points do not tell."""


def in_scope(scope: Scope, *more: models.Condition) -> models.Filter | None:
    """The filter for points in scope; None if only the database can tell who is in it.

    That is so for the order of words and for letters, for patterns of paths, and for properties.
    """
    if scope.clause is not None:
        return None
    try:
        parts = _restrictions(scope)
    except Untold:
        return None
    return models.Filter(must=[*parts, *more])


def still_there(documents: DocumentStore, ids: Sequence[str], scope: Scope) -> Collection[str]:
    """Those of the documents that the scope's owner may see now.

    The cluster may be a moment behind, and what was deleted or hidden since must not be told.
    """
    return documents.get(ids, Scope(owner=scope.owner, archived=True), frozenset())


def holds(word: Word) -> models.Condition:
    """That a document holds one of the terms of a word."""
    text = models.MatchTextAny(text_any=" ".join(word.terms))
    return models.FieldCondition(key="streams", match=text)


def of_documents(ids: Sequence[str]) -> models.FieldCondition:
    """That a point is of one of these documents."""
    return models.FieldCondition(key="document", match=models.MatchAny(any=list(ids)))


def _restrictions(scope: Scope) -> list[models.Condition]:
    parts: list[models.Condition] = []
    if scope.owner is not None:
        owner = models.MatchValue(value=scope.owner)
        parts.append(models.FieldCondition(key="owner", match=owner))
    if not scope.archived:
        current = models.MatchValue(value=False)
        parts.append(models.FieldCondition(key="archived", match=current))
    if scope.collections:
        parts.append(_among(Trait.COLLECTION, scope.collections))
    if scope.kinds:
        parts.append(_among(Trait.KIND, scope.kinds))
    parts += [_among(Trait.TAG, (tag,)) for tag in scope.tags]
    parts += [_not(_among(Trait.TAG, (tag,))) for tag in scope.without_tags]
    if scope.paths:
        parts.append(_among(Trait.PATH, scope.paths))
    if scope.languages:
        parts.append(_among(Trait.LANGUAGE, scope.languages))
    if scope.updated_from is not None or scope.updated_before is not None:
        parts.append(_during("updated", scope.updated_from, scope.updated_before))
    if scope.documents:
        parts.append(of_documents(scope.documents))
    return [*parts, *map(_passing, scope.filters)]


def _passing(filter: Filter) -> models.Condition:
    match filter:
        case Among(trait, values):
            return _among(trait, values)
        case During(time, start, end):
            return _during(time.value, start, end)
        case Having(part):
            there = models.MatchValue(value=part.value)
            return models.FieldCondition(key="parts", match=there)
        case Except(inner):
            return _not(_passing(inner))
        case _:
            raise Untold


def _among(trait: Trait, values: Sequence[str]) -> models.Condition:
    wanted = [str(value) for value in values]
    if trait == Trait.TAG:
        wanted = [fold(value) for value in wanted]
    if trait == Trait.PATH:
        if any(sign in value for value in wanted for sign in "*?"):
            raise Untold
        wanted = [beginning(value) for value in wanted]
    return models.FieldCondition(key=_TRAITS[trait], match=models.MatchAny(any=wanted))


def _during(key: str, start: datetime | None, end: datetime | None) -> models.Condition:
    if start is None and end is None:
        return models.FieldCondition(key="parts", match=models.MatchValue(value=key))
    span = models.Range(
        gte=None if start is None else start.timestamp(),
        lt=None if end is None else end.timestamp(),
    )
    return models.FieldCondition(key=key, range=span)


def _not(condition: models.Condition) -> models.Filter:
    return models.Filter(must_not=[condition])
