"""What requests and answers look like, as JSON Schema for the OpenAPI description.

The keys are those that the `wire` modules write; a test compares both.
"""

from __future__ import annotations

from typing import Any

from twolane.answers import Lane, Mode
from twolane.interfaces.wire import Json
from twolane.model import Kind

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
TRUTH: Json = {"type": "boolean"}
TEXTS: Json = {"type": "array", "items": TEXT}
LINES: Json = {
    "type": "array",
    "items": WHOLE,
    "minItems": 2,
    "maxItems": 2,
    "description": "First and last line, counted from 1.",
}
COUNTS: Json = {"type": "object", "additionalProperties": WHOLE}
ANYTHING: Json = {}
KIND: Json = {"type": "string", "enum": [str(one) for one in Kind]}
LANE: Json = {"type": "string", "enum": [str(one) for one in Lane]}


def said(schema: Json, description: str, **more: Any) -> Json:
    """The schema with what it means."""
    return {**schema, "description": description, **more}


def none_or(schema: Json) -> Json:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: Json) -> Json:
    """A list of such values."""
    return {"type": "array", "items": schema}


def keyed(**properties: Json) -> Json:
    """An object that always has all of these keys."""
    return {"type": "object", "properties": properties, "required": list(properties)}


HTML = said(TEXT, "Escaped HTML whose only tag is `<mark>`.")
TIME = said(TEXT, "A time in ISO 8601.")
HEADING = said(TEXTS, "The headings above the passage, outermost first.")

DEGRADED = said(
    listed(keyed(lane=LANE, reason=TEXT)),
    "Lanes that should have run and could not; usually empty.",
)

CONTRIBUTION = keyed(
    lane=LANE,
    rank=none_or(WHOLE),
    score=none_or(NUMBER),
    weight=NUMBER,
    vote=NUMBER,
    value=NUMBER,
    abstained=TRUTH,
    matched=TEXTS,
    counterpart=none_or(keyed(id=TEXT, closeness=NUMBER)),
)

SIGNS = keyed(
    similarity=none_or(NUMBER),
    prominence=none_or(NUMBER),
    foreign=none_or({"type": ["boolean", "number"]}),
    coverage=none_or(NUMBER),
    complete=TRUTH,
    wording=none_or(NUMBER),
    naming=none_or(NUMBER),
    height=none_or(NUMBER),
)

RESULT = keyed(
    id=said(TEXT, "The document's id; `/api/documents/{id}` reads it."),
    kind=KIND,
    collection=TEXT,
    path=none_or(TEXT),
    url=none_or(TEXT),
    link=said(none_or(TEXT), "Opens it in another program, by the setting `link_template`."),
    title=TEXT,
    title_html=HTML,
    tags=TEXTS,
    updated=none_or(TIME),
    score=said(NUMBER, "The fused score: it orders one answer and means nothing across answers."),
    relevance=none_or(NUMBER),
    heading=HEADING,
    lines=none_or(LINES),
    snippet=HTML,
    contributions=listed(CONTRIBUTION),
    boosts=listed(keyed(signal=TEXT, strength=NUMBER, weight=NUMBER, value=NUMBER)),
    signs=said(none_or(SIGNS), "What the relevance was read from."),
    copies=said(TEXTS, "Ids of its copies, which come after other documents."),
    copy_of=said(none_or(TEXT), "The document before it that it is a copy of."),
)

FACETS = keyed(kinds=COUNTS, collections=COUNTS, tags=COUNTS, languages=COUNTS)

SEARCH = keyed(
    query=TEXT,
    intent=none_or(TEXT),
    plan=said({"type": "object", "additionalProperties": NUMBER}, "The weight of each lane."),
    lanes={"type": "object", "additionalProperties": keyed(hits=WHOLE, ms=NUMBER)},
    degraded=DEGRADED,
    generation=none_or(WHOLE),
    answerable=none_or(TRUTH),
    repairs=listed(keyed(typed=TEXT, kind=TEXT, written=none_or(TEXT), terms=TEXTS)),
    misread=listed(keyed(typed=TEXT, reason=TEXT)),
    missing_tags=said(
        listed(keyed(tag=TEXT, near=TEXTS)), "Tags that no document has, where nothing was found."
    ),
    took_ms=NUMBER,
    next=none_or(TEXT),
    collections=said(
        {"type": "object", "additionalProperties": TEXT}, "What the collections of results are."
    ),
    results=listed(RESULT),
    facets=none_or(FACETS),
)

_PLACE = keyed(heading=HEADING, lines=LINES)

SIMILAR = keyed(
    id=TEXT,
    title=TEXT,
    generation=none_or(WHOLE),
    degraded=DEGRADED,
    took_ms=NUMBER,
    results=listed(
        keyed(
            id=TEXT,
            kind=KIND,
            collection=TEXT,
            path=none_or(TEXT),
            url=none_or(TEXT),
            title=TEXT,
            tags=TEXTS,
            updated=none_or(TIME),
            score=NUMBER,
            similarity=none_or(NUMBER),
            shared=said(TEXTS, "Words that both documents hold and few others do."),
            linked=TRUTH,
            passages=none_or(keyed(own=_PLACE, other=_PLACE, similarity=NUMBER)),
        )
    ),
)

WHY = keyed(
    query=TEXT,
    mode={"type": "string", "enum": [str(one) for one in Mode]},
    limit=WHOLE,
    id=none_or(TEXT),
    collection=none_or(TEXT),
    path=none_or(TEXT),
    url=none_or(TEXT),
    title=none_or(TEXT),
    standing=TEXT,
    verdict=said(TEXT, "The answer in a sentence."),
    rank=none_or(WHOLE),
    score=none_or(NUMBER),
    relevance=none_or(NUMBER),
    found=none_or(WHOLE),
    copy_of=none_or(TEXT),
    unjudged_ahead=none_or(WHOLE),
    obstacles=listed(keyed(kind=TEXT, origin=TEXT, what=none_or(TEXT), reason=TEXT)),
    opinions=listed(
        keyed(
            lane=LANE,
            hits=none_or(WHOLE),
            rank=none_or(WHOLE),
            score=none_or(NUMBER),
            weight=none_or(NUMBER),
            vote=none_or(NUMBER),
            value=none_or(NUMBER),
            abstained=TRUTH,
            reason=none_or(TEXT),
        )
    ),
    words=listed(keyed(word=TEXT, held=TRUTH, fields=TEXTS, taken_for=TEXTS, translations=TEXTS)),
    coverage=none_or(NUMBER),
    passage=none_or(keyed(heading=HEADING, lines=LINES, similarity=none_or(NUMBER))),
    suggestion=none_or(
        keyed(
            change=TEXT,
            what=none_or(TEXT),
            query=none_or(TEXT),
            value=none_or({"anyOf": [TEXT, NUMBER]}),
            rank=none_or(WHOLE),
        )
    ),
    degraded=DEGRADED,
    generation=none_or(WHOLE),
    took_ms=NUMBER,
)

DOCUMENT = keyed(
    id=TEXT,
    kind=KIND,
    collection=TEXT,
    path=none_or(TEXT),
    url=none_or(TEXT),
    link=said(none_or(TEXT), "Opens it in another program, by the setting `link_template`."),
    title=TEXT,
    aliases=TEXTS,
    tags=TEXTS,
    description=none_or(TEXT),
    summary=none_or(TEXT),
    arguments=TEXTS,
    properties={"type": "object"},
    created=none_or(TIME),
    updated=none_or(TIME),
    used=none_or(TIME),
    uses=WHOLE,
    archived=TRUTH,
    heading=none_or(TEXT),
    lines=none_or(LINES),
    text=said(TEXT, "The Markdown source without front matter."),
    version=WHOLE,
    headings=listed(keyed(level=WHOLE, text=TEXT, line=WHOLE)),
    chunks=said(
        listed(
            keyed(
                position=WHOLE,
                heading=HEADING,
                lines=LINES,
                start=WHOLE,
                end=WHOLE,
                language=none_or(TEXT),
            )
        ),
        "The passages; `start` and `end` are offsets into `text`.",
    ),
)

COLLECTIONS = keyed(
    collections=listed(
        keyed(
            name=TEXT,
            kind=KIND,
            root=said(none_or(TEXT), "Its folder on the server, for callers with `admin`."),
            description=none_or(TEXT),
            documents=WHOLE,
        )
    )
)

TAGS = keyed(tags=listed(keyed(name=TEXT, documents=WHOLE)))

STATUS = keyed(
    documents=WHOLE,
    chunks=WHOLE,
    embedded=WHOLE,
    pending=WHOLE,
    failed=WHOLE,
    failed_chunks=WHOLE,
    skipped=WHOLE,
    generation=none_or(WHOLE),
    generations=listed(
        keyed(
            number=WHOLE,
            state=TEXT,
            reason=none_or(TEXT),
            embedder=TEXT,
            model=TEXT,
            revision=TEXT,
            dimensions=WHOLE,
            fingerprint=TEXT,
            embedded=WHOLE,
            pending=WHOLE,
            failed=WHOLE,
            abandoned=WHOLE,
            rate=none_or(NUMBER),
            seconds_left=none_or(NUMBER),
        )
    ),
    languages=COUNTS,
    collections=listed(keyed(name=TEXT, root=none_or(TEXT), kind=KIND)),
    db=said(TEXT, "The database on the server, for callers with `admin`; otherwise empty."),
    bytes=WHOLE,
    degraded=DEGRADED,
)
# Files are told only when they are asked for.
STATUS["properties"]["files"] = listed(
    keyed(
        collection=TEXT,
        path=TEXT,
        state=TEXT,
        pending=WHOLE,
        code=none_or(TEXT),
        reason=none_or(TEXT),
        tries=none_or(WHOLE),
        next_try=none_or(TIME),
    )
)

HEALTH = keyed(status={"type": "string", "enum": ["ok"]}, version=TEXT)

PROBLEM = keyed(
    type=said(TEXT, "Which problem it is: an address that describes it."),
    title=TEXT,
    status=WHOLE,
    detail=said(TEXT, "What is wrong with this request."),
    request_id=TEXT,
)
PROBLEM["properties"]["candidates"] = said(TEXTS, "Ids that an ambiguous name stands for.")

SAVED = keyed(
    documents=listed(
        keyed(
            id=TEXT,
            version=WHOLE,
            changed=said(TRUTH, "Whether anything is different now."),
            created=said(TRUTH, "Whether it was not there before."),
        )
    )
)

JUDGMENT = keyed(
    id=TEXT,
    query=TEXT,
    relevant=TEXTS,
    partial=TEXTS,
    unanswerable=TRUTH,
    lang=none_or(TEXT),
    direction=none_or(TEXT),
    category=none_or(TEXT),
)

JUDGMENTS = keyed(name=TEXT, judgments=listed(JUDGMENT))

_GROUPS = listed(
    {
        "type": "object",
        "properties": {"label": TEXT, "count": WHOLE},
        "required": ["label", "count"],
        "additionalProperties": NUMBER,
    }
)

MEASURES = keyed(
    golden=TEXT,
    mode=TEXT,
    queries=WHOLE,
    overall=said(
        none_or({"type": "object"}),
        "`count`, and by measure the mean (`estimate`) with its interval (`low`, `high`, `level`).",
    ),
    by_direction=_GROUPS,
    by_category=_GROUPS,
    ms=none_or(keyed(p50=NUMBER, p95=NUMBER)),
    degraded=listed(keyed(reason=TEXT, queries=WHOLE)),
    each=listed(
        {
            "type": "object",
            "properties": {"id": TEXT, "query": TEXT},
            "required": ["id", "query"],
            "additionalProperties": NUMBER,
        }
    ),
)
