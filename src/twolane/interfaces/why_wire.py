"""The JSON of a diagnosis; the only place that spells its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.diagnose import Diagnosis
    from twolane.diagnose.values import Obstacle, Opinion, Passage, Suggestion, WordFound

Json = dict[str, Any]


def diagnosis_json(diagnosis: Diagnosis) -> Json:
    """Why a document is, or is not, among the results of a query."""
    passage, suggestion = diagnosis.passage, diagnosis.suggestion
    return {
        "query": diagnosis.query,
        "mode": diagnosis.mode.value,
        "limit": diagnosis.limit,
        "id": diagnosis.id,
        "collection": diagnosis.collection,
        "path": diagnosis.path,
        "url": diagnosis.url,
        "title": diagnosis.title,
        "standing": diagnosis.standing.value,
        "verdict": diagnosis.verdict,
        "rank": diagnosis.rank,
        "score": diagnosis.score,
        "relevance": diagnosis.relevance,
        "found": diagnosis.found,
        "copy_of": diagnosis.copy_of,
        "unjudged_ahead": diagnosis.unjudged_ahead,
        "obstacles": [_obstacle(one) for one in diagnosis.obstacles],
        "opinions": [_opinion(one) for one in diagnosis.opinions],
        "words": [_word(one) for one in diagnosis.words],
        "coverage": diagnosis.coverage,
        "passage": _passage(passage) if passage else None,
        "suggestion": _suggestion(suggestion) if suggestion else None,
        "degraded": [{"lane": one.lane.value, "reason": one.reason} for one in diagnosis.degraded],
        "generation": diagnosis.generation,
        "took_ms": round(diagnosis.took_ms, 3),
    }


def _obstacle(obstacle: Obstacle) -> Json:
    return {
        "kind": obstacle.kind.value,
        "origin": obstacle.origin.value,
        "what": obstacle.what,
        "reason": obstacle.reason,
    }


def _opinion(opinion: Opinion) -> Json:
    return {
        "lane": opinion.lane.value,
        "hits": opinion.hits,
        "rank": opinion.rank,
        "score": opinion.score,
        "weight": opinion.weight,
        "vote": opinion.vote,
        "value": opinion.value,
        "abstained": opinion.abstained,
        "reason": opinion.reason or None,
    }


def _word(word: WordFound) -> Json:
    return {
        "word": word.word,
        "held": word.held,
        "fields": list(word.fields),
        "taken_for": list(word.taken_for),
        "translations": list(word.translations),
    }


def _passage(passage: Passage) -> Json:
    return {
        "heading": list(passage.heading),
        "lines": list(passage.lines),
        "similarity": passage.similarity,
    }


def _suggestion(suggestion: Suggestion) -> Json:
    return {
        "change": suggestion.change.value,
        "what": suggestion.what,
        "query": suggestion.query,
        "value": suggestion.value,
        "rank": suggestion.rank,
    }
