"""What shapes are made of, how the library's values are put into them, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct

Json = dict[str, Any]

S = TypeVar("S", bound="Shape")


class Shape(Struct):
    """An object of JSON; its fields are its keys."""


class Time(str):
    """A time in ISO 8601, as Python writes it."""

    __slots__ = ()


class Rounded(float):
    """A number with three decimals, for times that were measured."""

    __slots__ = ()


Html = Annotated[str, Meta(description="Escaped HTML whose only tag is `<mark>`.")]
Headings = Annotated[
    list[str], Meta(description="The headings above the passage, outermost first.")
]
Lines = Annotated[
    list[int], Meta(min_length=2, max_length=2, description="First and last line, counted from 1.")
]
Counts = dict[str, int]


def shape(kind: type[S], source: object, /, **more: object) -> S:
    """The attributes of `source` that the shape names; `more` stands instead of or beside them."""
    fields = {
        name: getattr(source, name)
        for name in kind.__struct_fields__
        if name not in more and hasattr(source, name)
    }
    fields.update((name, value) for name, value in more.items() if value is not UNSET)
    return msgspec.convert(fields, kind, from_attributes=True, dec_hook=_taken)


def encode(value: object) -> bytes:
    """A value as JSON in UTF-8, without spaces."""
    return _ENCODER.encode(value)


def builtins(value: object) -> Any:
    """A value in the types that the `json` module knows."""
    return msgspec.to_builtins(value, enc_hook=_given, str_keys=True)


def plain(value: object) -> Any:
    """A value of front matter or settings in the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)


def components(kinds: Iterable[Any]) -> tuple[tuple[Json, ...], dict[str, Json]]:
    """The JSON Schemas of some types for OpenAPI, and the named ones that they refer to."""
    return msgspec.json.schema_components(
        kinds, schema_hook=_described, ref_template="#/components/schemas/{name}"
    )


def _taken(kind: type, value: Any) -> Any:
    return Time(value.isoformat()) if kind is Time else Rounded(round(value, 3))


def _given(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return float(value) if isinstance(value, float) else str(value)


def _described(kind: type) -> Json:
    if kind is Time:
        return {"type": "string", "description": "A time in ISO 8601."}
    return {"type": "number"}


_ENCODER = msgspec.json.Encoder(enc_hook=_given)
