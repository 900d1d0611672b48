"""Parameters and bodies: read into their shapes, or refused with what is wrong and what is allowed.

Every parameter of the query string, and every part of an address, is a field of a shape.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from twolane.interfaces.http.problems import BAD_REQUEST, TOO_LARGE, HttpProblem
from twolane.interfaces.wire.bodies import Body
from twolane.interfaces.wire.shape import Json, components
from twolane.model.answer import Mode, Sort
from twolane.model.document import Kind
from twolane.query.filter_names import FILTERS

# A filter with more values than this was not chosen by a person, nor was such a query string.
MOST_VALUES = 64
_MOST_PARAMETERS = 200

Text = Annotated[str, Meta(max_length=2000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Part = Annotated[str, Meta(min_length=1, max_length=2000)]
Limit = Annotated[
    int, Meta(ge=1, le=1000, description="How many results; otherwise the setting `search.limit`.")
]
Lanes = Annotated[Mode, Meta(description="Which lanes are asked: words, meaning, or both.")]
Query = Annotated[
    Text,
    Meta(description="What to look for, in the query language.", examples=["pruning tomatoes"]),
]
Reference = Annotated[
    Text,
    Meta(
        description="A document by id, path, URL, unique title or alias.", examples=["notes/a.md"]
    ),
]


class Parameters(Struct):
    """What an address takes beside a body: here nothing."""


def _values(name: str) -> Any:
    """What a filter may be given as: several texts, each read by the query language."""
    one = Kind if name == "kind" else Text
    told = Meta(max_length=MOST_VALUES, description=FILTERS[name].meaning)
    return Annotated[tuple[one, ...], told]  # type: ignore[valid-type]


if TYPE_CHECKING:
    _Named = Parameters
else:
    # The filters that the command line has, too; there is one table of them.
    _Named = msgspec.defstruct(
        "_Named",
        [(name, _values(name), ()) for name in FILTERS if name != "archived"],
        bases=(Parameters,),
    )


class Filters(_Named):
    """The filters of the command line, by their names: which documents count."""

    archived: Annotated[bool, Meta(description="Whether archived documents count, too.")] = False
    only_archived: Annotated[bool, Meta(description="Whether only they count.")] = False

    def named(self) -> dict[str, object]:
        """What the library takes as filters."""
        found = {name: getattr(self, name) for name in FILTERS}
        found["archived"] = "only" if self.only_archived else "any" if self.archived else None
        return found


class SearchParameters(Filters):
    """What a search takes."""

    q: Query = ""
    n: Limit | None = None
    mode: Lanes = Mode.HYBRID
    sort: Annotated[
        Sort | None,
        Meta(
            description="In what order: by relevance with a query, by update without one, "
            "unless this says else."
        ),
    ] = None
    reverse: Annotated[bool, Meta(description="Whether to sort the other way round.")] = False
    cursor: Annotated[
        Text | None, Meta(description="The `next` of the page before, to go on after it.")
    ] = None
    min_relevance: Annotated[
        Share | None,
        Meta(
            description="Leave out results less likely to be relevant than this; otherwise the "
            "setting `search.min_relevance`.",
        ),
    ] = None
    facets: Annotated[bool, Meta(description="Whether to count facets.")] = True
    typing: Annotated[
        bool,
        Meta(description="Whether the last word may go on: it is the beginning of one, too."),
    ] = False


class SimilarParameters(Filters, kw_only=True):
    """What looking for similar documents takes."""

    doc: Reference
    n: Limit | None = None
    exclude_linked: Annotated[
        bool, Meta(description="Whether to leave out what it links to, or is linked by.")
    ] = False


class WhyParameters(Filters, kw_only=True):
    """What a diagnosis takes."""

    q: Query
    doc: Reference
    n: Limit | None = None
    mode: Lanes = Mode.HYBRID


class ExcerptParameters(Parameters, kw_only=True):
    """Which part of which document."""

    doc: Annotated[
        Text,
        Meta(
            description="A document by id, path, URL, unique title, file name or alias; "
            "`:FROM-TO`, `#HEADING` or `#^block` may follow.",
            examples=["notes/garden/Tomatoes.md:9-15"],
        ),
    ]
    lines: Annotated[Text, Meta(description="Lines of its file: `10-20`, `10-` or `10`.")] = ""
    section: Annotated[
        tuple[Text, ...],
        Meta(
            description="A heading, the id that `headings` of a document show, or `^block`; "
            "given several times, a path of headings.",
        ),
    ] = ()


class DocumentId(Parameters):
    """Which document."""

    id: Annotated[
        Part,
        Meta(
            description="The document's id, percent-encoded; "
            "for reading also its path, URL, unique title or alias.",
            examples=["notes/garden/Tomatoes.md"],
        ),
    ]


class Deletion(DocumentId):
    """Which document, and how."""

    purge: Annotated[bool, Meta(description="Whether it goes for good.")] = False


class TagId(Parameters):
    """Which tag."""

    tag: Annotated[Part, Meta(description="The tag.", examples=["garden"])]


class JudgmentId(Parameters):
    """Which judged query."""

    judgment: Annotated[Part, Meta(description="The id of a judged query.")]


class MeasureParameters(Parameters):
    """How to measure."""

    mode: Lanes = Mode.HYBRID


class StatusParameters(Parameters):
    """What to tell."""

    files: Annotated[bool, Meta(description="Whether to tell of each file.")] = False


class ProblemName(Parameters):
    """Which problem."""

    name: Annotated[
        Part, Meta(description="The last part of a problem's `type`.", examples=["not-found"])
    ]


P = TypeVar("P", bound=Parameters)
B = TypeVar("B", bound=Body)


def names(kind: type[Parameters]) -> list[str]:
    """The parameters by name, the filters last."""
    return sorted(kind.__struct_fields__, key=lambda name: name in Filters.__struct_fields__)


def read_parameters(kind: type[P], path: Mapping[str, str], query: bytes) -> P:
    """The parameters of a request; HttpProblem if one is wrong, missing, repeated or unknown."""
    texts: dict[str, list[str]] = {}
    for name, text in (*path.items(), *_pairs(query)):
        texts.setdefault(name, []).append(unicodedata.normalize("NFC", text))
    given: dict[str, Any] = {}
    for name, values in texts.items():
        if name not in kind.__struct_fields__:
            known = ", ".join(names(kind)) or "none"
            raise _bad(f"there is no parameter {name[:80]!r} here; there are: {known}")
        if len(values) > 1 and name not in _repeatable(kind):
            raise _bad(f"the parameter {name!r} is given {len(values)} times")
        given[name] = values if name in _repeatable(kind) else values[0]
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _bad(_explained(error, kind, "the parameter {!r}", "the address")) from error


def read_body(kind: type[B], content: bytes) -> B:
    """The body of a request; HttpProblem if it is no JSON, or not what it should be."""
    _require_few_parts(content)
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise _bad(_explained(error, kind, "{!r} in the body", "the body")) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad(f"the body is not JSON in UTF-8: {error}") from error


# Lists and objects in a body. Each costs far more to make than the two bytes that it takes, and
# nobody else is answered meanwhile; ten thousand documents have some tens of thousands of them.
_MOST_PARTS = 200_000


def _require_few_parts(content: bytes) -> None:
    """Raise HttpProblem for a body of more lists and objects than anybody could mean."""
    if _parts(content) <= _MOST_PARTS:
        return
    # Texts may hold as many brackets as they like.
    plain = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if sum(map(_parts, plain.split(b'"')[::2])) > _MOST_PARTS:
        raise HttpProblem(TOO_LARGE, f"a body may have {_MOST_PARTS:,} lists and objects")


def _parts(content: bytes) -> int:
    return content.count(b"[") + content.count(b"{")


def _pairs(query: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_PARAMETERS,
        )
    except ValueError as error:
        said = "is not UTF-8" if isinstance(error, UnicodeError) else "has too many parameters"
        raise _bad(f"the query string {said}") from error


@cache
def _repeatable(kind: type[Parameters]) -> frozenset[str]:
    """The parameters that are lists."""
    return frozenset(field.name for field in msgspec.structs.fields(kind) if field.default == ())


def _bad(detail: str) -> HttpProblem:
    return HttpProblem(BAD_REQUEST, detail)


# What msgspec says, and how that reads for somebody who knows JSON and not Python.
_WORDS = (
    (r"Expected ", "must be "),
    (r" \| null`", "`"),
    (r"`int`", "a whole number"),
    (r"`str`", "a text"),
    (r"`bool`", "true or false"),
    (r"`array`", "a list"),
    (r"`object`", "an object"),
    (r"`float`", "a number"),
    (r"a text of length <= (\d+)", r"at most \1 characters long"),
    (r"must be a text of length >= 1", "is empty"),
    (r"be a list of length <= (\d+)", r"have at most \1 values"),
    (r" >= (\d+)", r" of at least \1"),
    (r" <= (\d+)", r" of at most \1"),
    (r", got .*", ""),
    (r"Object missing required field `(\w+)`", r"lacks '\1'"),
    (r"Invalid RFC3339 encoded datetime", "must be `datetime`"),
    (r"`datetime`.*", "a time with its zone, such as 2024-05-01T12:00:00Z"),
)


def _explained(error: Exception, kind: type[Struct], place: str, whole: str) -> str:
    """Which part is wrong, and what is allowed there."""
    said, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    name = re.sub(r"\[.*", "", path.rpartition(".")[2])
    for pattern, words in _WORDS:
        said = re.sub(pattern, words, said)
    if found := re.match(r"Invalid enum value (.*)", said):
        said = f"is {found[1]}, which is not one of {', '.join(_choices(kind, name))}"
    elif found := re.match(r"Object contains unknown field `(.*)`", said):
        outer, *inner = _objects(kind)
        known = inner[-1] if path else outer
        said = f"may not have {found[1][:80]!r}, only: {', '.join(known['properties'])}"
    elif said.startswith("lacks ") and whole == "the address":
        return f"the parameter {said.removeprefix('lacks ')} is missing"
    return f"{place.format(path) if path else whole} {said}"


def _objects(kind: type[Struct]) -> Iterator[Json]:
    """The schemas of a shape and of those in it."""
    _, shapes = components([kind])
    return (one for one in shapes.values() if "properties" in one)


def _choices(kind: type[Struct], name: str) -> list[str]:
    """What a field may be."""
    _, shapes = components([kind])
    found = next(one["properties"][name] for one in _objects(kind) if name in one["properties"])
    while "enum" not in found:
        inner = found.get("items") or next(iter(found.get("anyOf", ())), None)
        found = inner or shapes[found["$ref"].rpartition("/")[2]]
    choices: list[str] = found["enum"]
    return choices
