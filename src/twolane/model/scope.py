"""What is asked: the words and demands of a query, and the scope it is asked in.

A filter says what a document must be, whatever words it holds; a clause says what it must hold.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from twolane.model.document import Kind
from twolane.model.errors import NotPermitted
from twolane.model.values import dataclass


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


class Capability(StrEnum):
    """What a scope may do."""

    SEARCH = "search.use"
    SEMANTIC = "search.semantic"
    EXPAND = "search.expand"
    WRITE = "documents.write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query at one position: any of `terms` matches it.

    `terms` are its stems in every plausible language.
    A prefix word matches every stem that begins with one of its terms.
    `weight` is below 1 for a word whose terms are only a guess.
    """

    text: str
    terms: tuple[str, ...]
    prefix: bool = False
    weight: float = 1.0

    @property
    def keys(self) -> tuple[str, ...]:
        """The terms as their counts are named: `term*` for the terms of a prefix word."""
        return tuple(f"{term}*" for term in self.terms) if self.prefix else self.terms


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand next to each other in one field; `literal` is set when it was quoted.

    A literal phrase must also occur letter by letter (folded), not only by stems.
    """

    words: tuple[Word, ...]
    literal: str | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """Phrases that occur in one field within `distance` words of each other."""

    phrases: tuple[Phrase, ...]
    distance: int = 10


@dataclass(frozen=True, slots=True)
class InField:
    """A clause that only counts in one field (a name from `FIELDS`)."""

    name: str
    clause: Clause


@dataclass(frozen=True, slots=True)
class All:
    """Every clause matches."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one clause matches."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The clause does not match."""

    clause: Clause


Clause = Phrase | Near | InField | All | Either | Without

EVERYTHING = frozenset(Capability)


@dataclass(frozen=True, slots=True)
class Scope:
    """Who is asking, what they may do, and which documents count.

    Empty tuples and None restrict nothing.
    `owner` restricts to that owner's documents.
    `filters` must all hold; they say what the fields before them cannot.
    `clause` holds the query's own hard demands (phrases, exclusions, fields): every lane obeys.
    """

    owner: str | None = None
    capabilities: frozenset[Capability] = EVERYTHING
    collections: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    updated_from: datetime | None = None
    updated_before: datetime | None = None
    archived: bool = False
    documents: tuple[str, ...] = ()
    clause: Clause | None = None
    filters: tuple[Filter, ...] = ()

    @property
    def all_of_owner(self) -> Scope:
        """All that its owner may see, archived or not."""
        return Scope(owner=self.owner, capabilities=self.capabilities, archived=True)

    @property
    def is_all_of_owner(self) -> bool:
        """Whether nothing restricts it but its owner."""
        return self == self.all_of_owner


# Who may see all documents: writers, workers, a local user.
EVERYBODY = Scope()

# All documents that can be found, for ids that were found in a scope before.
ANYWHERE = Scope(archived=True)


def require(scope: Scope, capability: Capability) -> None:
    """Raise NotPermitted unless the scope has the capability."""
    if capability not in scope.capabilities:
        raise NotPermitted(capability)
