"""Front matter: the YAML between two lines of dashes at the very start of a note.

And the properties in it that mean something to search.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from twolane.model.document import Kind
from twolane.model.values import dataclass

# A person writes a few hundred characters; what is far larger was not written to be read.
LARGEST = 64_000
_DEEPEST = 64
_MOST_ALIASES = 20
_MOST_VALUES = 10_000


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a note says about itself, and the text that comes after it.

    `values` are as YAML gives them, by lower-case key; `properties` are safe to write as JSON.
    `reason` says why there are none, if there should be some.
    `hidden` tells that front matter which could not be read asked to be left out of search.
    """

    body: str
    first_line: int = 1
    values: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    hidden: bool = False


def read_front_matter(text: str) -> FrontMatter:
    """Take the front matter off a note and read it; never raises."""
    opening = _OPENING.match(text)
    # The search starts at the first line's end, so that `---` twice is empty front matter.
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter(text)
    source = text[opening.end() : closing.start()]
    body = text[closing.end() :]
    first_line = text.count("\n", 0, closing.end()) + 1
    try:
        loaded = _load(source)
        properties = _Plainer().mapping(loaded)
    except _Unreadable as error:
        hidden = _HIDES.search(source) is not None
        return FrontMatter(body, first_line, reason=str(error), hidden=hidden)
    values = {str(key).strip().casefold(): value for key, value in loaded.items()}
    return FrontMatter(body, first_line, values, properties)


_OPENING = re.compile(r"---[ \t]*(?=\n)")
_CLOSING = re.compile(r"\n---[ \t]*(?:\n|\Z)")

# The wish to be left out is honoured even where the rest cannot be read.
_HIDES = re.compile(
    r"^[ \t]*[\"']?search[\"']?[ \t]*:[ \t]*[\"']?(?:false|no|off|0)\b",
    re.IGNORECASE | re.MULTILINE,
)

# The C loader follows nesting with the machine's stack and takes the process down with it.
_BRACKET = re.compile(r"[\[\]{}]")
_INDICATORS = re.compile(rf"(?:[-?:][ \t]+){{{_DEEPEST}}}")
_ANCHOR = re.compile(r"(?<![^\s\[{,:-])&[^\s\[\]{},]")


class _Unreadable(Exception):
    """The front matter cannot be read, and why."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, except that a value it cannot convert stays the text that was written."""


def _lenient(name: str) -> None:
    tag = f"tag:yaml.org,2002:{name}"
    convert = yaml.SafeLoader.yaml_constructors[tag]

    def construct(loader: Any, node: Any) -> Any:
        written = loader.construct_scalar(node)
        if name != "timestamp" and ":" in written:
            return written  # YAML 1.1 reads 12:30 as a number to the base of sixty.
        try:
            return convert(loader, node)
        except (ValueError, KeyError, AttributeError):
            return written

    _Loader.add_constructor(tag, construct)


for _name in ("int", "float", "timestamp", "bool"):
    _lenient(_name)


def _load(source: str) -> dict[Any, Any]:
    """The mapping that the YAML describes."""
    if len(source) > LARGEST:
        raise _Unreadable(f"the front matter is longer than {LARGEST:,} characters; shorten it")
    if _depth(source) > _DEEPEST or _INDICATORS.search(source):
        raise _Unreadable(f"the front matter is nested more than {_DEEPEST} deep; flatten it")
    try:
        if _ANCHOR.search(source):
            _count_aliases(source)
        # The loader is a safe one: it makes nothing but plain values.
        loaded = yaml.load(source, Loader=_Loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise _Unreadable(_explain(error, source)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise _Unreadable(f"line 2: the front matter is not valid YAML ({error})") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise _Unreadable(
            "line 2: the front matter is not a list of `name: value` lines; "
            "if it is text, put something else than `---` on the first line"
        )
    return loaded


def _depth(source: str) -> int:
    """How deep brackets nest, also where they are only text."""
    deepest = depth = 0
    for match in _BRACKET.finditer(source):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _count_aliases(source: str) -> None:
    """Refuse what a few lines of aliases can blow up to."""
    events = yaml.parse(source, Loader=_Loader)
    if sum(isinstance(event, yaml.AliasEvent) for event in events) > _MOST_ALIASES:
        raise _Unreadable(f"the front matter has more than {_MOST_ALIASES} aliases; write it out")


def _explain(error: yaml.YAMLError, source: str) -> str:
    """What is wrong and on which line of the file; the source begins with the first line's end."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    if mark is not None:
        line = mark.line + 1
    else:
        line = source.count("\n", 0, getattr(error, "position", 0) or 0) + 1
    return f"line {line}: the front matter is not valid YAML ({problem})"


class _Plainer:
    """Makes values safe to write as JSON, as long as there are not too many of them."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mapping(self, value: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
        """The mapping with text for keys."""
        return {str(self.value(key, depth)): self.value(one, depth) for key, one in value.items()}

    def value(self, value: Any, depth: int) -> Any:
        """The value as text, number, truth value, list or mapping."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _Unreadable(f"the front matter holds more than {_MOST_VALUES:,} values")
        if isinstance(value, str):
            return clean(value)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, Mapping):
            return self.mapping(value, depth + 1)
        if isinstance(value, set | frozenset):
            return sorted(str(self.value(one, depth + 1)) for one in value)
        if isinstance(value, list | tuple):
            return [self.value(one, depth + 1) for one in value]
        return clean(value.decode("latin-1") if isinstance(value, bytes) else str(value))


def clean(text: str) -> str:
    """Text that every store can hold: NFC, without the NUL that an escape can smuggle in."""
    return unicodedata.normalize("NFC", text.replace("\0", "\ufffd"))


@dataclass(frozen=True, slots=True)
class Recognised:
    """What the front matter says about the document."""

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    summary: str
    url: str | None
    kind: Kind | None
    arguments: tuple[str, ...]
    created: datetime | None
    updated: datetime | None
    searchable: bool
    archived: bool


def recognise(values: Mapping[str, Any]) -> Recognised:
    """Read the known keys; a value of another type than expected says nothing."""
    kind = _text(values.get("kind")).casefold()
    return Recognised(
        title=_text(values.get("title")),
        aliases=tuple(dict.fromkeys(_texts(values.get("aliases"), values.get("alias")))),
        tags=tuple(_tags(values.get("tags"), values.get("tag"), values.get("keywords"))),
        description=_text(values.get("description")),
        summary=_text(values.get("summary")),
        url=_text(values.get("url")) or None,
        kind=Kind(kind) if kind in set(Kind) else None,
        arguments=tuple(dict.fromkeys(_arguments(values.get("arguments")))),
        created=_moment(values.get("created")) or _moment(values.get("date")),
        updated=_moment(values.get("updated")) or _moment(values.get("modified")),
        searchable=_text(values.get("search"), flags=True).casefold() not in _NO,
        archived=_text(values.get("archived"), flags=True).casefold() in _YES,
    )


_NO = {"false", "no", "off", "0"}
_YES = {"true", "yes", "on", "1"}


def _text(value: Any, *, flags: bool = False) -> str:
    """One line of text; nothing for lists and mappings, and for truth values unless asked."""
    if isinstance(value, bool) and not flags:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return " ".join(clean(str(value)).split())
    return ""


def _texts(*values: Any) -> Iterable[str]:
    """Each value's texts, be it one or a list."""
    for value in values:
        for one in value if isinstance(value, list | tuple) else [value]:
            if text := _text(one):
                yield text


def _arguments(value: Any) -> Iterable[str]:
    """A prompt's arguments, each `name` or `name: what it is for`, however they are written."""
    if isinstance(value, Mapping):
        value = [{"name": name, "description": about} for name, about in value.items()]
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    for one in value if isinstance(value, list | tuple) else ():
        if isinstance(one, Mapping):
            name, about = _text(one.get("name")), _text(one.get("description"))
            yield from [f"{name}: {about}" if about else name] if name else []
        elif text := _text(one):
            yield text


def _tags(*values: Any) -> Iterable[str]:
    """Tags without their `#`; in one text they are set apart by commas or spaces."""
    for value in values:
        listed = isinstance(value, list | tuple)
        for text in _texts(value):
            for tag in [text] if listed else re.split(r"[,\s]+", text):
                if bare := tag.strip().lstrip("#").strip("/ "):
                    yield bare


def _moment(value: Any) -> datetime | None:
    """A date or an ISO text as a moment in UTC; one without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None  # The first and the last day that there are can fall outside in UTC.
