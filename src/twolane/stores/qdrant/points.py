"""A document as points: one for its words, one for each passage of a generation."""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from qdrant_client import models

from twolane.model.scope import Part
from twolane.ports.documents import Stored
from twolane.ports.outbox import Streams
from twolane.ports.vectors import PassageVector
from twolane.stores.qdrant.layout import TERMS, vector_name
from twolane.text.tokens import fold

# The engine's order only picks the pool, with the weights that scoring uses (FIELDS order), and
# with the constants that are usual for BM25.
_WEIGHTS = (10, 8, 5, 4, 4, 3, 1)
_K1, _B = 1.2, 0.75


def words_id(document: str) -> str:
    """The id of the point with a document's words."""
    return str(uuid5(NAMESPACE_OID, document))


def passage_id(document: str, position: int) -> str:
    """The id of the point of one passage."""
    return str(uuid5(NAMESPACE_OID, f"{document}\n{position}"))


# Few words make up most of any text.
@lru_cache(maxsize=1 << 16)
def term_number(term: str) -> int:
    """The number of a term in sparse vectors; two in a million terms or so share theirs."""
    return zlib.crc32(term.encode())


def traits(stored: Stored, streams: Streams, version: int) -> dict[str, Any]:
    """What filters ask of a document, which all its points carry."""
    document = stored.document
    times = {"created": document.created, "updated": document.updated, "used": document.used}
    return {
        "document": document.id,
        "version": version,
        "collection": document.collection,
        "kind": str(document.kind),
        "archived": document.archived,
        "languages": list(streams.languages),
        "tags": sorted({above for tag in document.tags for above in _above(fold(tag))}),
        "folders": _above(document.path) if document.path is not None else [],
        "parts": sorted(_parts(stored, streams)),
        **({} if document.owner is None else {"owner": document.owner}),
        **{name: at.timestamp() for name, at in times.items() if at is not None},
    }


def words_point(
    carried: Mapping[str, Any], streams: Streams, average_length: float
) -> models.PointStruct:
    """The words of a document: how much each weighs in it, and the streams that are counted."""
    payload = {**carried, "streams": list(streams.fields)}
    payload["digest"] = _digest(payload)
    counts: dict[int, int] = {}
    length = 0
    for weight, stream in zip(_WEIGHTS, streams.fields, strict=True):
        terms = stream.split()
        length += len(terms)
        for term, count in Counter(terms).items():
            number = term_number(term)
            counts[number] = counts.get(number, 0) + weight * count
    norm = _K1 * (1 - _B + _B * length / (average_length or 1.0))
    weights = {number: count * (_K1 + 1) / (count + norm) for number, count in counts.items()}
    vector = models.SparseVector(indices=list(weights), values=list(weights.values()))
    return models.PointStruct(
        id=words_id(carried["document"]), vector={TERMS: vector}, payload=payload
    )


def tombstone(document: str, version: int) -> models.PointStruct:
    """What is left of a document that is gone: a version that nothing older comes back over."""
    payload = {"version": version, "gone": True}
    return models.PointStruct(id=words_id(document), vector={}, payload=payload)


def passage_points(
    carried: Mapping[str, Any], generation: int, passages: Iterable[PassageVector]
) -> list[models.PointStruct]:
    """The vectors of a document's passages, with the codes of their sentences."""
    points = []
    for passage in passages:
        payload = {**carried, "position": passage.position}
        payload["sentences"] = b64encode(passage.sentences).decode()
        payload["digest"] = _digest(payload, passage.vector.astype("<f4").tobytes())
        points.append(
            models.PointStruct(
                id=passage_id(carried["document"], passage.position),
                vector={vector_name(generation): passage.vector.tolist()},
                payload=payload,
            )
        )
    return points


def sentences_of(payload: Mapping[str, Any]) -> bytes:
    """The codes of a passage's sentences."""
    return b64decode(payload["sentences"])


def older_than(version: int, *, of: Sequence[str] = ()) -> models.Filter:
    """Points of an older version; of these documents, if any are named."""
    older = models.FieldCondition(key="version", range=models.Range(lt=version))
    if not of:
        return models.Filter(must=[older])
    named = models.FieldCondition(key="document", match=models.MatchAny(any=list(of)))
    return models.Filter(must=[named, older])


def _above(path: str) -> list[str]:
    """A path, or a tag, with all that it lies below: `a/b` is also `a`."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _parts(stored: Stored, streams: Streams) -> list[str]:
    document = stored.document
    there: dict[Part, object] = {
        Part.URL: document.url,
        Part.TAG: document.tags,
        Part.ALIAS: document.aliases,
        Part.HEADING: document.headings,
        Part.LINK: document.links,
        Part.DESCRIPTION: document.description,
        Part.SUMMARY: document.summary,
        Part.BODY: stored.chunks,
        Part.ARGUMENT: document.arguments,
        Part.PATH: document.path is not None,
        Part.LANGUAGE: streams.languages,
        Part.PROPERTY: document.properties,
        Part.CREATED: document.created is not None,
        Part.UPDATED: document.updated is not None,
        Part.USED: document.used is not None,
        Part.ARCHIVED: document.archived,
    }
    return [part.value for part, value in there.items() if value]


def _digest(payload: Mapping[str, Any], vector: bytes = b"") -> str:
    """A name for all that a point holds but its version, by which copies are compared."""
    told = {key: value for key, value in payload.items() if key != "version"}
    text = json.dumps(told, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode() + vector, digest_size=8).hexdigest()
