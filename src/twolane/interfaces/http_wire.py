"""The JSON that only the HTTP server speaks; what it shares with the command line is in `wire`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from twolane.interfaces.wire import Json, answer_json, document_json, outline_json

if TYPE_CHECKING:
    from twolane.answers import Answer
    from twolane.interfaces.http.problems import Refused
    from twolane.model import Chunk, Collection, Document
    from twolane.ports import Facets


def problem_json(refused: Refused, request_id: str) -> Json:
    """What went wrong, as RFC 9457 has it."""
    return {
        "type": refused.problem.type,
        "title": refused.problem.title,
        "status": refused.problem.status,
        "detail": refused.detail,
        "request_id": request_id,
        **refused.more,
    }


def search_json(answer: Answer, facets: Facets | None, links: Mapping[str, str]) -> Json:
    """A search's answer, with how the documents that were found are spread, if that was asked."""
    return {**answer_json(answer, links), "facets": facets_json(facets) if facets else None}


def facets_json(facets: Facets) -> Json:
    """How many documents have each kind, collection, tag and language."""
    return {
        "kinds": dict(facets.kinds),
        "collections": dict(facets.collections),
        "tags": _most_first(facets.tags),
        "languages": dict(facets.languages),
    }


def whole_document_json(document: Document, chunks: Sequence[Chunk], link: str | None) -> Json:
    """A document with its whole text, its headings and its passages."""
    lines = document.body.removesuffix("\n").count("\n")
    last = document.first_line + lines
    return {
        **document_json(
            document,
            document.body,
            (document.first_line, last) if document.body.strip() else None,
            link=link,
        ),
        "version": document.version,
        "headings": outline_json(document)["headings"],
        "chunks": [
            {
                "position": one.position,
                "heading": list(one.headings),
                "lines": [one.first_line, one.last_line],
                "start": one.start,
                "end": one.end,
                "language": one.language,
            }
            for one in chunks
        ],
    }


def collections_json(
    collections: Sequence[Collection], counts: Mapping[str, int], *, roots: bool
) -> Json:
    """The collections, with how many documents of each the caller can see."""
    return {
        "collections": [
            {
                "name": one.name,
                "kind": one.kind.value,
                "root": one.root if roots else None,
                "description": one.description or None,
                "documents": counts.get(one.name, 0),
            }
            for one in collections
        ]
    }


def tags_json(counts: Mapping[str, int]) -> Json:
    """The tags, the most frequent first."""
    listed = _most_first(counts).items()
    return {"tags": [{"name": name, "documents": count} for name, count in listed]}


def health_json(version: str) -> Json:
    """That the server runs."""
    return {"status": "ok", "version": version}


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
