"""The JSON that every interface speaks; the only place that spells its keys.

Times are ISO 8601, paths relative to the root of their collection.
A key whose stage is not built yet is null, so that it can be filled without a new contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.answers import Answer, Boost, Contribution, Degradation, Result, Signs
    from twolane.completeness import FileStatus, Standing, Status
    from twolane.indexing import Report
    from twolane.library.embedding import Embedded
    from twolane.model import Collection, Document, Problem

Json = dict[str, Any]

_NO_LINKS: Mapping[str, str] = MappingProxyType({})


class FileStage(StrEnum):
    """How far one file has come."""

    INDEXED = "indexed"
    EMBEDDED = "embedded"
    PENDING = "pending"
    SKIPPED = "skipped"
    FAILED = "failed"


def answer_json(answer: Answer, links: Mapping[str, str] = _NO_LINKS) -> Json:
    """A search's answer, with links that open the results, by their ids."""
    return {
        "query": answer.query,
        "intent": answer.intent,
        "plan": {lane.value: weight for lane, weight in answer.plan.items()},
        "lanes": {
            one.lane.value: {"hits": one.hits, "ms": round(one.ms, 3)} for one in answer.lanes
        },
        "degraded": _degraded(answer.degraded),
        "generation": answer.generation,
        "answerable": answer.answerable,
        "repairs": [
            {"typed": one.typed, "kind": one.kind, "written": one.written, "terms": [*one.terms]}
            for one in answer.repairs
        ],
        "misread": [{"typed": one.typed, "reason": one.reason} for one in answer.misread],
        "missing_tags": [{"tag": one.tag, "near": [*one.near]} for one in answer.missing_tags],
        "took_ms": round(answer.took_ms, 3),
        "next": answer.next,
        "collections": dict(answer.collections),
        "results": [_result(one, links.get(one.id)) for one in answer.results],
    }


def status_json(
    status: Status,
    files: Sequence[FileStatus] | None = None,
    collections: Sequence[Collection] = (),
) -> Json:
    """How complete the index is, with a row for each file if they are given."""
    said: Json = {
        "documents": status.stats.documents,
        "chunks": status.stats.chunks,
        "embedded": status.progress.ready,
        "pending": status.progress.pending,
        "failed": status.failed,
        "failed_chunks": status.progress.failed,
        "skipped": status.skipped,
        "generation": status.generation.number if status.generation else None,
        "generations": [generation_json(one) for one in status.generations],
        "languages": dict(status.stats.languages),
        "collections": [
            {"name": one.name, "root": one.root, "kind": one.kind.value} for one in collections
        ],
        "db": status.location,
        "bytes": status.stats.bytes,
        "degraded": _degraded(status.degraded),
    }
    if files is not None:
        has_vectors = status.generation is not None
        said["files"] = [_file(one, file_stage(one, has_vectors=has_vectors)) for one in files]
    return said


def file_stage(file: FileStatus, *, has_vectors: bool) -> FileStage:
    """How far a file has come; `has_vectors` tells whether there is a generation to be in."""
    stage = FileStage(file.record.state.value)
    if stage != FileStage.INDEXED:
        return stage
    if file.failure is not None:
        return FileStage.FAILED
    if file.waiting:
        return FileStage.PENDING
    return FileStage.EMBEDDED if has_vectors else FileStage.INDEXED


def document_json(
    document: Document,
    text: str,
    lines: tuple[int, int] | None,
    heading: str | None = None,
    link: str | None = None,
) -> Json:
    """A document with the part of its text that was asked for."""
    return {
        "id": document.id,
        "kind": document.kind.value,
        "collection": document.collection,
        "path": document.path,
        "url": document.url,
        "link": link,
        "title": document.title,
        "aliases": list(document.aliases),
        "tags": list(document.tags),
        "description": document.description or None,
        "summary": document.summary or None,
        "arguments": list(document.arguments),
        "properties": _plain(document.properties),
        "created": _time(document.created),
        "updated": _time(document.updated),
        "used": _time(document.used),
        "uses": document.uses,
        "archived": document.archived,
        "heading": heading,
        "lines": list(lines) if lines else None,
        "text": text,
    }


def outline_json(document: Document) -> Json:
    """The headings of a document, in order."""
    return {
        "id": document.id,
        "kind": document.kind.value,
        "collection": document.collection,
        "path": document.path,
        "url": document.url,
        "title": document.title,
        "headings": [
            {"level": one.level, "text": one.text, "line": one.line} for one in document.headings
        ],
    }


def report_json(
    reports: Sequence[Report], embedded: Embedded | None, degraded: Sequence[Degradation] = ()
) -> Json:
    """What indexing did, folder by folder, and what embedding did if it ran."""
    return {
        "collections": [
            {
                "collection": one.collection,
                "indexed": one.indexed,
                "unchanged": one.unchanged,
                "skipped": one.skipped,
                "failed": one.failed,
                "deleted": one.deleted,
                "withheld": one.withheld,
                "seconds": round(one.seconds, 3),
                "problems": [problem_json(problem) for problem in one.problems],
            }
            for one in reports
        ],
        "embedding": embedded_json(embedded) if embedded else None,
        "degraded": _degraded(degraded),
    }


def generations_json(standings: Sequence[Standing]) -> Json:
    """Every set of vectors, oldest first."""
    return {"generations": [generation_json(one) for one in standings]}


def embedded_json(embedded: Embedded) -> Json:
    """What embedding came to."""
    return {
        "generation": embedded.generation,
        "embedded": embedded.embedded,
        "failed": embedded.failed,
        "pending": embedded.pending,
        "stopped": embedded.stopped,
        "seconds": round(embedded.seconds, 3),
        "rate": embedded.rate,
        "took_over": embedded.took_over,
        "refused": embedded.refused,
    }


def problem_json(problem: Problem) -> Json:
    """Something that went wrong with one file."""
    return {"path": problem.path, "code": problem.code.value, "reason": problem.reason}


def setting_json(name: str, value: object, origin: str, meaning: str) -> Json:
    """One setting, its value and where that came from."""
    return {"name": name, "value": _plain(value), "origin": origin, "meaning": meaning}


def settings_json(file: str, settings: Sequence[Json]) -> Json:
    """All settings, and the file that they are looked for in."""
    return {"file": file, "settings": list(settings)}


def checks_json(checks: Sequence[tuple[str, bool, str]]) -> Json:
    """What a check-up looked at: each part, whether it is well, and what was seen."""
    return {
        "ok": all(well for _, well, _ in checks),
        "checks": [{"name": name, "ok": well, "seen": seen} for name, well, seen in checks],
    }


def _file(file: FileStatus, stage: FileStage) -> Json:
    record, failure = file.record, file.failure
    return {
        "collection": file.collection,
        "path": record.path,
        "state": stage.value,
        "pending": file.waiting,
        "code": record.code.value if record.code else None,
        "reason": failure.reason if failure else record.reason or None,
        "tries": failure.tries if failure else None,
        "next_try": _time(_moment(failure.next_try)) if failure else None,
    }


def _result(result: Result, link: str | None) -> Json:
    return {
        "id": result.id,
        "kind": result.kind.value,
        "collection": result.collection,
        "path": result.path,
        "url": result.url,
        "link": link,
        "title": result.title,
        "title_html": result.title_html,
        "tags": list(result.tags),
        "updated": _time(result.updated),
        "score": result.score,
        "relevance": result.relevance,
        "heading": list(result.heading),
        "lines": list(result.lines) if result.lines else None,
        "snippet": result.snippet,
        "contributions": [_contribution(one) for one in result.contributions],
        "boosts": [_boost(one) for one in result.boosts],
        "signs": signs_json(result.signs),
        "copies": list(result.copies),
        "copy_of": result.copy_of,
    }


def signs_json(signs: Signs | None) -> Json | None:
    """What the relevance of a result was read from."""
    if signs is None:
        return None
    return {
        "similarity": signs.similarity,
        "prominence": signs.prominence,
        "foreign": signs.foreign,
        "coverage": signs.coverage,
        "complete": bool(signs.complete),
        "wording": signs.wording,
        "naming": signs.naming,
        "height": signs.height,
    }


def _boost(boost: Boost) -> Json:
    return {
        "signal": boost.signal.value,
        "strength": boost.strength,
        "weight": boost.weight,
        "value": boost.value,
    }


def _contribution(contribution: Contribution) -> Json:
    return {
        "lane": contribution.lane.value,
        "rank": contribution.rank,
        "score": contribution.score,
        "weight": contribution.weight,
        "vote": contribution.vote,
        "value": contribution.value,
        "abstained": contribution.abstained,
        "matched": list(contribution.matched),
        "counterpart": (
            {
                "id": contribution.counterpart.id,
                "closeness": contribution.counterpart.closeness,
            }
            if contribution.counterpart
            else None
        ),
    }


def generation_json(standing: Standing) -> Json:
    """One set of vectors: its space, its state, and how far it is."""
    generation, progress = standing.generation, standing.progress
    space = generation.space
    return {
        "number": generation.number,
        "state": generation.state.value,
        "reason": generation.reason,
        "embedded": progress.ready,
        "pending": progress.pending,
        "failed": progress.failed,
        "abandoned": progress.abandoned,
        "rate": generation.rate,
        "seconds_left": standing.seconds_left,
        "embedder": space.embedder,
        "model": space.model,
        "revision": space.revision,
        "dimensions": space.dimensions,
        "fingerprint": space.fingerprint,
    }


def _degraded(degraded: Sequence[Degradation]) -> list[Json]:
    return [{"lane": one.lane.value, "reason": one.reason} for one in degraded]


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _plain(value: object) -> Any:
    """A value of front matter or settings in the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
