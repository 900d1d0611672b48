"""Summaries that a model wrote: what tells them from a person's, and when they no longer hold.

A generated summary is the document's `summary`, so it is found, embedded and shown like any other.
The property `generated_summary` says who wrote it, of which text and which summary that was:
a summary that somebody has changed since is a person's, and one of another text goes.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from twolane.model.document import Document, digest

PROPERTY = "generated_summary"


def is_generated(document: Document) -> bool:
    """Whether a model wrote the summary, as it is."""
    written = document.properties.get(PROPERTY)
    return (
        bool(document.summary)
        and isinstance(written, dict)
        and written.get("summary_hash") == digest(document.summary)
    )


def with_summary(document: Document, summary: str, model: str, prompt: int) -> Document:
    """The document with a summary that a model wrote of its body."""
    written = {
        "model": model,
        "prompt": prompt,
        "body_hash": digest(document.body),
        "summary_hash": digest(summary),
    }
    properties = MappingProxyType({**document.properties, PROPERTY: written})
    return replace(document, summary=summary, properties=properties)


def carried_over(document: Document, before: Document | None) -> Document:
    """What is to be saved, with the generated summary that still holds, and without any other."""
    if is_generated(document):
        fresh = document.properties[PROPERTY].get("body_hash") == digest(document.body)
        return document if fresh else replace(_unsigned(document), summary="")
    document = _unsigned(document)
    holds = before is not None and before.body == document.body and is_generated(before)
    if before is None or document.summary or not holds:
        return document
    written = {**document.properties, PROPERTY: before.properties[PROPERTY]}
    return replace(document, summary=before.summary, properties=MappingProxyType(written))


def _unsigned(document: Document) -> Document:
    if PROPERTY not in document.properties:
        return document
    kept = {name: value for name, value in document.properties.items() if name != PROPERTY}
    return replace(document, properties=MappingProxyType(kept))
