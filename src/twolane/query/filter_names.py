"""The filters that can be given by name: as options, parameters of a request, arguments of a tool.

The names and words are here alone, apart from what reads them, because help must come at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from twolane.model.document import FIELDS, Kind
from twolane.model.scope import Part
from twolane.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """A filter that can be given by name.

    `reads` is its name in the query language; `allowed` completes "is not".
    """

    reads: str
    metavar: str
    meaning: str
    allowed: str
    excludes: bool = False


_EXAMPLES = (
    "2024, 2024-05, 2024-05-01, 2024-05-01T12:30, today, yesterday, "
    "or 30d for thirty days ago (h, d, w, m, y)"
)
_PARTS = ", ".join(part for part in Part if part != Part.ARCHIVED)
_DATE = f"a date; write {_EXAMPLES}"
_DATES = f"a date or a range; write {_EXAMPLES}, 2024-01..2024-06, or >2024"
_KIND = f"a kind; the kinds are {', '.join(Kind)}"
_TAG = "a tag; write the tag without `#`, and a|b for one of two"
_PATH = "a path pattern; write for example 'garden/*'"
_COLLECTION = "the name of a collection"
_LANG = "a language that is known here; write for example en or ru"
_HAS = f"something that a document may have: {_PARTS}, or the name of a property"
_WHERE = "a property and its value; write for example status:done, rating:>3 or due:2024-01"

# All filters, in the order in which they are shown; a repeated one is read several times.
FILTERS: Mapping[str, Given] = {
    "kind": Given("kind", "KIND", "note, bookmark or prompt.", _KIND),
    "not_kind": Given("kind", "KIND", "Not of this kind.", _KIND, excludes=True),
    "tag": Given("tags", "TAG", "With this tag, or one of a|b; all if repeated.", _TAG),
    "any_tag": Given("tags", "TAG", "With one of these tags, if repeated.", _TAG),
    "not_tag": Given("tags", "TAG", "Without this tag.", _TAG, excludes=True),
    "path": Given("path", "GLOB", "Under this path: garden/*", _PATH),
    "not_path": Given("path", "GLOB", "Not under this path.", _PATH, excludes=True),
    "collection": Given("collection", "NAME", "In this collection.", _COLLECTION),
    "not_collection": Given("collection", "NAME", "Not in this one.", _COLLECTION, excludes=True),
    "lang": Given("lang", "LANG", "In this language: en, ru, ...", _LANG),
    "not_lang": Given("lang", "LANG", "Not in this language.", _LANG, excludes=True),
    "has": Given("has", "PART", "With a url, tag, summary, ... or property.", _HAS),
    "not_has": Given("has", "PART", "Without it.", _HAS, excludes=True),
    "where": Given("where", "NAME:VALUE", "With this property: status:done, rating:>3.", _WHERE),
    "not_where": Given("where", "NAME:VALUE", "Without this property.", _WHERE, excludes=True),
    "after": Given(
        "after", "DATE", "Modified on or after this date: 2024, 2024-05-01, 30d.", _DATE
    ),
    "before": Given("before", "DATE", "Modified before this date.", _DATE),
    "updated": Given("updated", "DATES", "Date modified: 2024, 2024-01..2024-06, >30d.", _DATES),
    "created": Given("created", "DATES", "Date created, in the same form.", _DATES),
    "used": Given("used", "DATES", "Date of last use, in the same form.", _DATES),
    "archived": Given(
        "archived",
        "no|any|only",
        "Whether to include archived documents.",
        "one of no, any and only",
    ),
}

# What the query language has beside these.
_IS = "something that a document may be: archived, note, bookmark or prompt"

_ALLOWED = {"is": _IS, **{one.reads: one.allowed for one in FILTERS.values()}}


def reason_against(reads: str, value: str) -> str | None:
    """Why the value cannot be read by the filter of this name in the query language, if it is one.

    Names of fields are no filters alone: what follows them may be words.
    """
    allowed = _ALLOWED.get(reads)
    return None if allowed is None or reads in FIELDS else f"{value!r} is not {allowed}"
