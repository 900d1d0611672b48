"""The JSON of similar documents; the only place that spells its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.similar import Pair, Place, Similar, SimilarAnswer

Json = dict[str, Any]


def similar_json(answer: SimilarAnswer) -> Json:
    """The documents that are most similar to one."""
    return {
        "id": answer.id,
        "title": answer.title,
        "generation": answer.generation,
        "degraded": [{"lane": one.lane.value, "reason": one.reason} for one in answer.degraded],
        "took_ms": round(answer.took_ms, 3),
        "results": [_similar(one) for one in answer.results],
    }


def _similar(similar: Similar) -> Json:
    return {
        "id": similar.id,
        "kind": similar.kind.value,
        "collection": similar.collection,
        "path": similar.path,
        "url": similar.url,
        "title": similar.title,
        "tags": list(similar.tags),
        "updated": similar.updated.isoformat() if similar.updated else None,
        "score": similar.score,
        "similarity": similar.similarity,
        "shared": list(similar.shared),
        "linked": similar.linked,
        "passages": _pair(similar.pair) if similar.pair else None,
    }


def _pair(pair: Pair) -> Json:
    return {
        "own": _place(pair.own),
        "other": _place(pair.other),
        "similarity": pair.similarity,
    }


def _place(place: Place) -> Json:
    return {"heading": list(place.heading), "lines": list(place.lines)}
