"""Filters by name, as options, as parameters of a request or as arguments of a tool.

Each is read as the query language reads it: `tag:food` and a filter `tag` of `food` are one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime

from twolane.model.errors import BadInput
from twolane.model.scope import (
    All,
    Among,
    Clause,
    Either,
    Except,
    InField,
    Scope,
    Trait,
    Valued,
    Without,
)
from twolane.query import parse
from twolane.query.filter_names import FILTERS
from twolane.query.filters import Filters, merged, narrowed, read_filter
from twolane.text.languages import FUNCTION_WORDS


def scope_from(
    given: Mapping[str, object],
    scope: Scope | None = None,
    *,
    properties: Collection[str] | None = None,
    now: datetime | None = None,
) -> Scope:
    """The scope narrowed by filters: by name (one of `FILTERS`), each a value or a list of values.

    A value of None, an empty text and an empty list restrict nothing.
    `properties` are the keys of properties that there are; without them any name is taken for one.
    Raises BadInput, which names the filter and says what is allowed.
    """
    now = now or datetime.now(UTC)
    wanted: list[Filters] = []
    unwanted: list[Filters] = []
    either: list[str] = []
    for name, value in given.items():
        if name not in FILTERS:
            raise BadInput(f"there is no filter {name!r}; the filters are {', '.join(FILTERS)}")
        for text in _texts(name, value):
            one = _read(name, text, properties, now)
            if name == "any_tag":
                either += [*one.tags, *(tag for each in one.filters for tag in _tags(each))]
            else:
                (unwanted if FILTERS[name].excludes else wanted).append(one)
    if either:
        wanted.append(Filters(filters=(Among(Trait.TAG, tuple(dict.fromkeys(either))),)))
    return narrowed(scope or Scope(), merged(wanted, unwanted))


def require_held(scope: Scope, collections: Collection[str], properties: Collection[str]) -> None:
    """Refuse a collection or a property that is not there; it would silently find nothing."""
    named = [*scope.collections]
    for one in scope.filters:
        filter = one.filter if isinstance(one, Except) else one
        if isinstance(filter, Among) and filter.trait == Trait.COLLECTION:
            named += filter.values
        if isinstance(filter, Valued) and filter.name not in properties:
            known = _there_are("properties", properties)
            raise BadInput(f"no document has the property {filter.name!r}; {known}")
    for name in named:
        if name not in collections:
            raise BadInput(f"there is no collection {name!r}; {_there_are('ones', collections)}")


def require_filters(
    text: str, index_languages: Collection[str], properties: Collection[str]
) -> None:
    """Refuse a text that holds anything but filters of the query language.

    Names of fields (`title:bread`) and tags under OR are restrictions, too.
    """
    query = parse(text, index_languages, properties=properties)
    for one in query.misread:
        raise BadInput(f"filter: {one.typed}: {one.reason}")
    if query.words or (query.clause is not None and _has_words(query.clause)):
        raise BadInput(
            f"filter: {text!r} holds plain words; put them into the query, "
            "and here only filters such as tag:food, -kind:prompt or after:2024-01"
        )


def _has_words(clause: Clause) -> bool:
    """Whether words must, or must not, stand anywhere in a document."""
    match clause:
        case All(clauses) | Either(clauses):
            return any(map(_has_words, clauses))
        case Without(inner):
            return _has_words(inner)
        case _:
            return not isinstance(clause, InField)


def _there_are(what: str, names: Collection[str]) -> str:
    return f"there are: {', '.join(sorted(names))}" if names else f"there are no {what}"


def _texts(name: str, value: object) -> Iterator[str]:
    """The values as they would be typed."""
    if value is None or value == "":
        return
    if isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(name, one)
    else:
        raise BadInput(f"filter {name}: {value!r} is not {FILTERS[name].allowed}")


def _read(name: str, text: str, properties: Collection[str] | None, now: datetime) -> Filters:
    filter = FILTERS[name]
    known = _Anything() if properties is None else properties
    one = read_filter(filter.reads, text, FUNCTION_WORDS, now, known)
    if one is None:
        raise BadInput(f"filter {name}: {text!r} is not {filter.allowed}")
    return one


class _Anything(frozenset[str]):
    """Holds every text."""

    def __contains__(self, name: object) -> bool:
        return True


def _tags(filter: object) -> tuple[str, ...]:
    return filter.values if isinstance(filter, Among) else ()
