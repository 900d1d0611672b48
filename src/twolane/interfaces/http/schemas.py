"""What requests and answers look like, as JSON Schema for the OpenAPI description."""

from __future__ import annotations

from twolane.interfaces.wire import Json

SEARCH: Json = {"type": "object"}
SIMILAR: Json = {"type": "object"}
WHY: Json = {"type": "object"}
DOCUMENT: Json = {"type": "object"}
COLLECTIONS: Json = {"type": "object"}
TAGS: Json = {"type": "object"}
STATUS: Json = {"type": "object"}
HEALTH: Json = {"type": "object"}
