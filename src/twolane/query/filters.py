"""What a query may say about documents besides their words: what they are and have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from twolane.model.document import Kind
from twolane.model.filters import Among, During, Except, Filter, Having, Part, Time, Trait, Valued
from twolane.query.dates import beginning, window
from twolane.query.values import valued
from twolane.text.function_words import FUNCTION_WORDS
from twolane.text.property_values import ELSEWHERE, property_key
from twolane.text.scripts import USUAL
from twolane.text.tokens import SNOWBALL

T = TypeVar("T")

# A query with more values than this for one filter was not typed by a person.
_MOST = 64

# Patterns are matched by backtracking, so a query must not bring one that never ends.
_LONGEST_PATH = 300
_MOST_WILDCARDS = 8

# A name that no collection has: a filter on it lets nothing through.
_NOWHERE = ("",)


@dataclass(frozen=True, slots=True)
class Filters:
    """The restrictions that a query puts on its scope; names and meanings are those of `Scope`.

    `archived` asks for archived documents, too; a filter may then ask for them alone.
    """

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    updated_from: datetime | None = None
    updated_before: datetime | None = None
    filters: tuple[Filter, ...] = ()
    archived: bool = False


def read_filter(
    name: str,
    value: str,
    held: Collection[str],
    now: datetime,
    properties: Collection[str] = (),
) -> Filters | None:
    """The filter `name:value`, or None if there is no such filter or the value makes no sense.

    `held` are languages and `properties` the keys of properties that the index holds.
    """
    match name:
        case "tags":
            return _tagged(value)
        case "kind":
            kinds = _listed(value, frozenset(Kind))
            return Filters(kinds=tuple(Kind(kind) for kind in kinds)) if kinds else None
        case "lang":
            languages = _listed(value, {*held, *SNOWBALL, *FUNCTION_WORDS, *USUAL.values()})
            return Filters(languages=languages) if languages else None
        case "path":
            return Filters(paths=(value,)) if _is_path(value) else None
        case "collection":
            return Filters(collections=(value,)) if value.strip() else None
        case "after" | "before" | "updated" | "created" | "used":
            return _dated(name, value.strip(), now)
        case "has":
            parts = _had(value, properties)
            return Filters(filters=parts) if parts else None
        case "is":
            return _being(value.strip().lower())
        case "archived":
            return _ARCHIVED.get(value.strip().lower())
        case "where":
            return _where(value, now)
        case _:
            return None


def merged(wanted: Sequence[Filters], unwanted: Sequence[Filters]) -> Filters:
    """All of a query's filters as one.

    A document has one kind, place and collection, so several of these are alternatives;
    all other filters are demands that must all be met.
    """
    kinds = _distinct(kind for each in wanted for kind in each.kinds)
    collections = _distinct(name for each in wanted for name in each.collections)
    excluded = {kind for each in unwanted for kind in each.kinds}
    if excluded:
        kinds = tuple(kind for kind in kinds or tuple(Kind) if kind not in excluded)
        collections = collections if kinds else _NOWHERE
    filters = [one for each in wanted for one in each.filters]
    filters += [one for each in unwanted for one in _excluded(each)]
    return Filters(
        kinds=kinds,
        tags=_distinct((tag for each in wanted for tag in each.tags), str.casefold),
        without_tags=_distinct((tag for each in unwanted for tag in each.tags), str.casefold),
        paths=_distinct(path for each in wanted for path in each.paths),
        collections=collections,
        languages=_distinct(language for each in wanted for language in each.languages),
        updated_from=max((at for each in wanted if (at := each.updated_from)), default=None),
        updated_before=min((at for each in wanted if (at := each.updated_before)), default=None),
        filters=_distinct(filters),
        archived=any(each.archived for each in wanted),
    )


def is_tag(value: str) -> bool:
    """Whether this can be a tag after `#`: letters, digits, signs like emoji, and `_ - /`."""
    return any(_counts(char) for char in value) and all(
        _counts(char) or char in "_-/ " or unicodedata.category(char).startswith("M")
        for char in value
    )


def _counts(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) == "So" or char == "\u200d"


def _excluded(unwanted: Filters) -> Iterator[Filter]:
    """What a scope has no field for: all but the kinds and tags that must not be there."""
    if unwanted.collections:
        yield Except(Among(Trait.COLLECTION, unwanted.collections))
    if unwanted.paths:
        yield Except(Among(Trait.PATH, unwanted.paths))
    if unwanted.languages:
        yield Except(Among(Trait.LANGUAGE, unwanted.languages))
    if unwanted.updated_from or unwanted.updated_before:
        yield Except(During(Time.UPDATED, unwanted.updated_from, unwanted.updated_before))
    for one in unwanted.filters:
        yield one.filter if isinstance(one, Except) else Except(one)


# ------------------------------------------------------------------------------- single filters


def _tagged(value: str) -> Filters | None:
    """One tag, or one of several; a tag may hold anything but the signs that set tags apart."""
    parts = re.split(r"[|,]", value.strip(" ,;:.!?"))
    tags = tuple(part.strip().removeprefix("#") for part in parts)
    if not all(tag.strip("_-/ ") and tag.isprintable() and '"' not in tag for tag in tags):
        return None
    return Filters(tags=tags) if len(tags) == 1 else Filters(filters=(Among(Trait.TAG, tags),))


def _where(value: str, now: datetime) -> Filters | None:
    """A property and its value, or what the filter of this name says."""
    name, _, wanted = value.partition(":")
    other = ELSEWHERE.get(property_key(name))
    if other is None:
        one = valued(name, wanted, now)
        return Filters(filters=(one,)) if one else None
    if wanted.strip() == "*":
        return read_filter("has", other, (), now)
    return read_filter(other, wanted.removeprefix("="), (), now)


def _dated(name: str, value: str, now: datetime) -> Filters | None:
    if name in ("after", "before"):
        at = beginning(value, now)
        if at is None:
            return None
        return Filters(updated_from=at) if name == "after" else Filters(updated_before=at)
    found = window(value, now)
    if found is None:
        return None
    if name == "updated":
        return Filters(updated_from=found[0], updated_before=found[1])
    return Filters(filters=(During(Time(name), *found),))


# Other words for the parts that a document may have.
_PARTS = {
    **{part.value: part for part in Part if part != Part.ARCHIVED},
    "link": Part.LINK,
    "address": Part.URL,
    "text": Part.BODY,
    "language": Part.LANGUAGE,
    "date": Part.UPDATED,
}


def _had(value: str, properties: Collection[str]) -> tuple[Filter, ...]:
    """The parts or properties that must all be there, if each is one."""
    found: list[Filter] = []
    for word in (part.strip().lower() for part in value.split(",")):
        part = next((_PARTS[form] for form in _singulars(word) if form in _PARTS), None)
        if part is not None:
            found.append(Having(part))
        elif property_key(word) in properties:
            found.append(Valued(property_key(word)))
        else:
            return ()
    return tuple(found)


def _singulars(word: str) -> Iterator[str]:
    yield word
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s"):
        yield word[:-1]


_ONLY = Filters(filters=(Having(Part.ARCHIVED),), archived=True)
_NOT = Filters(filters=(Except(Having(Part.ARCHIVED)),))
_ARCHIVED = {
    **dict.fromkeys(("any", "too", "all"), Filters(archived=True)),
    **dict.fromkeys(("only", "true", "yes"), _ONLY),
    **dict.fromkeys(("no", "false", "not"), _NOT),
}


def _being(value: str) -> Filters | None:
    if value == "archived":
        return _ONLY
    return Filters(kinds=(Kind(value),)) if value in frozenset(Kind) else None


def _listed(value: str, known: Collection[str]) -> tuple[str, ...]:
    """The values of `a|b` or `a,b` if all are known, else none."""
    values = [part.strip().lower() for part in re.split(r"[|,]", value)]
    return tuple(values) if all(part in known for part in values) else ()


def _is_path(value: str) -> bool:
    wildcards = len(re.findall(r"\*+|\?", value))
    return bool(value.strip()) and len(value) <= _LONGEST_PATH and wildcards <= _MOST_WILDCARDS


def _distinct(values: Iterable[T], key: Callable[[T], object] | None = None) -> tuple[T, ...]:
    kept: dict[object, T] = {}
    for value in values:
        if len(kept) == _MOST:
            break
        kept.setdefault(key(value) if key else value, value)
    return tuple(kept.values())
