"""What a document may be asked to be, besides the words it holds, as frozen values.

A scope has fields for the plain cases; a filter here says what those fields cannot:
alternatives of tags, exclusions, times besides the last change, parts that are there, properties.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Trait(StrEnum):
    """What a document is one of, or has some of."""

    KIND = "kind"
    COLLECTION = "collection"
    TAG = "tag"
    PATH = "path"
    LANGUAGE = "lang"


class Time(StrEnum):
    """When something happened to a document."""

    CREATED = "created"
    UPDATED = "updated"
    USED = "used"


class Part(StrEnum):
    """What a document may have or lack."""

    URL = "url"
    TAG = "tag"
    ALIAS = "alias"
    HEADING = "heading"
    LINK = "link"
    DESCRIPTION = "description"
    SUMMARY = "summary"
    BODY = "body"
    ARGUMENT = "argument"
    PATH = "path"
    LANGUAGE = "lang"
    PROPERTY = "property"
    CREATED = "created"
    UPDATED = "updated"
    USED = "used"
    ARCHIVED = "archived"


class Measure(StrEnum):
    """As what a property's value is compared."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class Among:
    """The trait is one of the values; tags and paths also match what is below them."""

    trait: Trait
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class During:
    """It happened at `start` or later, and before `end`; what never happened is at no time."""

    time: Time
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Having:
    """The part is there and not empty."""

    part: Part


@dataclass(frozen=True, slots=True)
class Span:
    """Values from `low` to `high`, without the ends where `above` or `below` says so.

    Texts are folded, moments are seconds since 1970.
    """

    measure: Measure
    low: str | float | None = None
    high: str | float | None = None
    above: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class Valued:
    """The property has a value, in one of the spans if there are any; `name` is its key."""

    name: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Except:
    """The filter does not hold."""

    filter: Filter


Filter = Among | During | Having | Valued | Except
