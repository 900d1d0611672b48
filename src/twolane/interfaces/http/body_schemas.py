"""What the bodies of requests look like, as JSON Schema; requests are checked by these."""

from __future__ import annotations

from twolane.interfaces.http.schemas import KIND, TEXT, TRUTH, none_or, said
from twolane.interfaces.wire import Json

_ID: Json = {"type": "string", "minLength": 1, "maxLength": 1000}
_SHORT: Json = {"type": "string", "maxLength": 2000}
_SHORTS: Json = {"type": "array", "items": _SHORT, "maxItems": 1000}
_IDS: Json = {"type": "array", "items": _ID, "maxItems": 10_000}
_TIME = none_or(
    {"type": "string", "format": "date-time", "description": "A time with its zone, ISO 8601."}
)


def _closed(properties: dict[str, Json], required: tuple[str, ...] = ()) -> Json:
    """An object with no other keys than these."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_FIELDS: dict[str, Json] = {
    "kind": KIND,
    "title": _SHORT,
    "text": said(TEXT, "The Markdown source; of a bookmark, the text of its page."),
    "url": none_or(_SHORT),
    "description": TEXT,
    "summary": TEXT,
    "arguments": said(_SHORTS, "What a prompt asks for when it is used."),
    "aliases": _SHORTS,
    "tags": _SHORTS,
    "properties": said({"type": "object"}, "What front matter would say."),
    "collection": said(_SHORT, "Where it belongs; `saved` unless something else is said."),
    "path": none_or(_SHORT),
    "created": _TIME,
    "updated": _TIME,
    "used": _TIME,
    "uses": {"type": "integer", "minimum": 0, "maximum": 1_000_000_000},
    "searchable": said(TRUTH, "Whether it can be found at all."),
    "archived": TRUTH,
    "encrypted": said(TRUTH, "Whether its texts are not to be kept."),
}

DRAFT = _closed(
    {"id": said(_ID, "Your own name for it; one is made up if there is none."), **_FIELDS}
)
DRAFT["example"] = {
    "id": "tomatoes",
    "title": "Pruning tomatoes",
    "text": "Pinch out the side shoots every week.",
    "tags": ["garden"],
}

REPLACEMENT = _closed(_FIELDS)
REPLACEMENT["example"] = {"title": "Pruning tomatoes", "text": "Once a week.", "tags": ["garden"]}

CHANGE = _closed(
    {
        **_FIELDS,
        "add_tags": said(_SHORTS, "Tags to give it beside those that it has."),
        "remove_tags": said(_SHORTS, "Tags to take from it."),
        "deleted": said(TRUTH, "false restores it, true deletes it."),
    }
)
CHANGE["minProperties"] = 1
CHANGE["example"] = {"add_tags": ["summer"], "archived": False}

BULK = _closed(
    {
        "save": {"type": "array", "items": {**DRAFT, "required": ["id"]}, "maxItems": 10_000},
        "delete": _IDS,
        "restore": _IDS,
        "archive": _IDS,
        "unarchive": _IDS,
        "touch": said(_IDS, "Documents that were used just now; files' documents, too."),
    }
)
BULK["minProperties"] = 1
BULK["example"] = {"save": [{"id": "tea", "title": "Green tea"}], "delete": ["tomatoes"]}

TAG = _closed({"name": said(_ID, "The new name.")}, ("name",))
TAG["example"] = {"name": "gardening"}

JUDGMENT = _closed(
    {
        "query": {"type": "string", "minLength": 1, "maxLength": 2000},
        "relevant": said(
            _SHORTS, "Documents that answer it, each by id, path, URL, title or alias."
        ),
        "partial": said(_SHORTS, "Documents that answer a part of it."),
        "unanswerable": said(TRUTH, "Whether no document answers it."),
        "lang": none_or(_SHORT),
        "direction": none_or(_SHORT),
        "category": none_or(_SHORT),
    },
    ("query",),
)
JUDGMENT["example"] = {"query": "when to prune", "relevant": ["garden/Tomatoes.md"]}
