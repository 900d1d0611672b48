"""What a query may say about documents besides their words: what they are and have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from twolane.model.document import Kind
from twolane.model.scope import (
    All,
    Among,
    Clause,
    During,
    Except,
    Filter,
    Having,
    Part,
    Scope,
    Time,
    Trait,
    Valued,
)
from twolane.model.values import dataclass
from twolane.query.dates import beginning, window
from twolane.query.values import valued
from twolane.text.languages import FUNCTION_WORDS, USUAL
from twolane.text.names import matches_any
from twolane.text.property_values import ELSEWHERE, property_key
from twolane.text.tokens import SNOWBALL

T = TypeVar("T")

# A query with more values than this for one filter was not typed by a person.
_MOST = 64

# Patterns are matched by backtracking, so a query must not bring one that never ends.
_LONGEST_PATH = 300
_MOST_WILDCARDS = 8

# No document has this id, so a scope with it alone matches nothing.
_NO_DOCUMENT = ("",)

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
    index_languages: Collection[str],
    now: datetime,
    properties: Collection[str] = (),
) -> Filters | None:
    """The filter `name:value`, or None if there is no such filter or the value makes no sense.

    `index_languages` and `properties` are the languages, and the keys of properties, of the index.
    """
    match name:
        case "tags":
            return _tagged(value)
        case "kind":
            kinds = _listed(value, frozenset(Kind))
            return Filters(kinds=tuple(Kind(kind) for kind in kinds)) if kinds else None
        case "lang":
            languages = _listed(
                value, {*index_languages, *SNOWBALL, *FUNCTION_WORDS, *USUAL.values()}
            )
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


def narrowed(scope: Scope, filters: Filters, clause: Clause | None = None) -> Scope:
    """The scope with filters and a clause added; never wider than either.

    The one exception is what was archived: a query may ask for it by itself.
    """
    kinds = _common(scope.kinds, filters.kinds)
    collections = _common(scope.collections, filters.collections)
    languages = _common(scope.languages, filters.languages)
    paths = common_paths(scope.paths, filters.paths)
    possible = None not in (kinds, collections, languages, paths)
    return replace(
        scope,
        kinds=kinds or scope.kinds,
        collections=collections or scope.collections,
        languages=languages or scope.languages,
        paths=paths or scope.paths,
        tags=_added(scope.tags, filters.tags),
        without_tags=_added(scope.without_tags, filters.without_tags),
        updated_from=max(
            _given(scope.updated_from, filters.updated_from), key=with_zone, default=None
        ),
        updated_before=min(
            _given(scope.updated_before, filters.updated_before), key=with_zone, default=None
        ),
        documents=scope.documents if possible else _NO_DOCUMENT,
        clause=_both(scope.clause, clause),
        filters=_added(scope.filters, filters.filters),
        archived=scope.archived or filters.archived,
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


# ----------------------------------------------------------------------------------- narrowing


def _common(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...] | None:
    """What both allow, where empty allows all; None if that is nothing."""
    if not one or not other:
        return one or other
    return tuple(value for value in one if value in other) or None


def _added(one: tuple[T, ...], other: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _given(*times: datetime | None) -> list[datetime]:
    return [time for time in times if time]


def with_zone(time: datetime) -> datetime:
    """The time with a zone; one without is read as UTC, so that any two can be compared."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _both(one: Clause | None, other: Clause | None) -> Clause | None:
    demands = tuple(dict.fromkeys(clause for clause in (one, other) if clause))
    return All(demands) if len(demands) > 1 else next(iter(demands), None)


# `work/*` and `work/**` both mean all that is in the folder.
_WILD_END = re.compile(r"(?:^|/)\*\*?$")


def common_paths(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """Patterns for the paths that fit one of each side; None if there are none."""
    if not one or not other:
        return one or other
    pairs = [_common_path(mine, theirs) for mine in one for theirs in other]
    return tuple(dict.fromkeys(path for path in pairs if path)) or None


def _common_path(one: str, other: str) -> str | None:
    """A pattern for paths that fit both, if one of the two is a folder or they are the same.

    Two patterns with wildcards in their midst may overlap in ways that no pattern can say;
    then it is better to find nothing than what one of them rules out.
    """
    one, other = (path.strip().removeprefix("./").strip("/") for path in (one, other))
    if one == other:
        return one
    for pattern, second in ((one, other), (other, one)):
        folder = _WILD_END.sub("", pattern)
        if not folder:
            return second
        if "*" in folder or "?" in folder:
            continue
        if matches_any(folder, (second,)):
            return pattern
        if second.startswith(f"{folder}/"):
            return second
        if second.startswith("**"):
            return f"{folder}/{second}"
    return None
