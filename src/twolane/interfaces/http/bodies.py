"""Bodies of requests: checked by the very schema that the OpenAPI description shows.

Only what our schemas use of JSON Schema is understood here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from twolane.interfaces.http.problems import BAD_REQUEST, Refused
from twolane.interfaces.wire import Json


def check(value: Any, schema: Json, at: str = "the body") -> None:
    """Raise Refused, naming the part, if the value is not what the schema says."""
    if "anyOf" in schema:
        options = [one for one in schema["anyOf"] if one.get("type") != "null"]
        if value is not None:
            check(value, options[0], at)
        return
    kind = schema.get("type")
    if kind is not None and not _IS[kind](value):
        raise Refused(BAD_REQUEST, f"{at} is not {_CALLED[kind]}")
    if kind == "object":
        _check_object(value, schema, at)
    elif kind == "array":
        _check_array(value, schema, at)
    elif kind == "string":
        _check_text(value, schema, at)


def _check_object(value: Mapping[str, Any], schema: Json, at: str) -> None:
    known: Mapping[str, Json] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise Refused(BAD_REQUEST, f"{at} lacks {name!r}")
    for name, inner in value.items():
        if name in known:
            check(inner, known[name], f"{name!r} in {at}")
        elif schema.get("additionalProperties") is False:
            there = ", ".join(known)
            raise Refused(BAD_REQUEST, f"{at} may not have {name[:80]!r}, only: {there}")
    if len(value) < schema.get("minProperties", 0):
        raise Refused(BAD_REQUEST, f"{at} is empty")


def _check_array(value: list[Any], schema: Json, at: str) -> None:
    most = schema.get("maxItems")
    if most is not None and len(value) > most:
        raise Refused(BAD_REQUEST, f"{at} has more than {most} items")
    for number, one in enumerate(value):
        check(one, schema["items"], f"item {number} of {at}")


def _check_text(value: str, schema: Json, at: str) -> None:
    if len(value) < schema.get("minLength", 0):
        raise Refused(BAD_REQUEST, f"{at} is empty")
    most = schema.get("maxLength")
    if most is not None and len(value) > most:
        raise Refused(BAD_REQUEST, f"{at} is longer than {most} characters")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(BAD_REQUEST, f"{at} is not one of {', '.join(schema['enum'])}")
    if schema.get("format") == "date-time":
        try:
            zone = datetime.fromisoformat(value).tzinfo
        except ValueError:
            zone = None
        if zone is None:
            raise Refused(BAD_REQUEST, f"{at} is not a time with its zone: 2024-05-01T12:00:00Z")


_IS: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
_CALLED = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
}
