"""The tools: their names, what they ask for, and what they do.

An agent reads every schema before its first question, so that each word here is paid for in
every conversation; descriptions say what an agent cannot guess, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from twolane.interfaces.mcp import texts
from twolane.interfaces.mcp.quoting import line
from twolane.model.answer import Mode
from twolane.model.errors import BadInput
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.ranking.phrasings import Phrasings

if TYPE_CHECKING:
    from twolane.library import Library

Arguments = Mapping[str, Any]

_MOST_RESULTS = 50
_DEFAULT_TOKENS = 2000
_LEAST_TOKENS = 50
_MOST_TOKENS = 50_000

_DOC = {"type": "string", "description": "id, path, URL, unique title or alias"}
_TOKENS = {
    "type": "integer",
    "description": "longest answer",
    "default": _DEFAULT_TOKENS,
    "minimum": _LEAST_TOKENS,
    "maximum": _MOST_TOKENS,
}
_LIMIT = {"type": "integer", "default": 5, "minimum": 1, "maximum": _MOST_RESULTS}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what it is for, what it takes, and what it answers."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[Library, Scope, Arguments], str]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def checked(tool: Tool, arguments: Arguments) -> dict[str, Any]:
    """The arguments with defaults filled in; raises BadInput for any that do not fit."""
    unknown = sorted(arguments.keys() - tool.properties.keys())
    if unknown:
        other, known = line(repr(unknown[0])), ", ".join(tool.properties)
        raise BadInput(f"{tool.name} has no argument {other}; it has {known}")
    given = {}
    for name, schema in tool.properties.items():
        if arguments.get(name) is not None:
            given[name] = _fitting(name, arguments[name], schema)
        elif name in tool.required:
            raise BadInput(f"{tool.name} needs the argument {name!r}")
        elif "default" in schema:
            given[name] = schema["default"]
    return given


def room(arguments: Arguments) -> int:
    """How long an answer may be, also to a call that makes no other sense."""
    asked = arguments.get("max_tokens")
    if type(asked) is int and _LEAST_TOKENS <= asked <= _MOST_TOKENS:
        return asked
    return _DEFAULT_TOKENS


def _fitting(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    if "array" in schema["type"] and isinstance(value, list):
        if not all(isinstance(one, str) for one in value):
            raise BadInput(f"{name!r} must be a text or a list of texts")
        return value
    if "string" in schema["type"]:
        if not isinstance(value, str):
            raise BadInput(f"{name!r} must be a text")
        allowed = schema.get("enum")
        if allowed and value not in allowed:
            raise BadInput(f"{name!r} must be one of {', '.join(allowed)}")
        return value
    is_whole = schema["type"] == "integer"
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
        raise BadInput(f"{name!r} must be a {'whole number' if is_whole else 'number'}")
    least, most = schema["minimum"], schema["maximum"]
    if not least <= value <= most:
        raise BadInput(f"{name!r} must be between {least} and {most}")
    return value


def _search(library: Library, scope: Scope, given: Arguments) -> str:
    phrasings = Phrasings(
        given.get("short_query", ""),
        given.get("rephrased_query", ""),
        given.get("expected_answer", ""),
    )
    filters = given.get("filter", "")
    library.check_filters(filters, scope=scope)
    text = " ".join(part for part in (given["query"], filters) if part)
    answer = library.search(
        text,
        scope=scope,
        mode=Mode(given["mode"]),
        limit=given["limit"],
        phrasings=phrasings or None,
        min_relevance=given.get("min_relevance"),
    )
    return texts.found(library, scope, answer, given["max_tokens"])


def _similar(library: Library, scope: Scope, given: Arguments) -> str:
    answer = library.similar(given["doc"], scope=scope, limit=given["limit"])
    return texts.alike(answer, given["max_tokens"])


def _get(library: Library, scope: Scope, given: Arguments) -> str:
    # Who names a document means it, archived or not.
    part = library.excerpt(
        given["doc"],
        section=given.get("toc_path", ""),
        lines=given.get("lines", ""),
        scope=texts.named(scope),
    )
    return texts.read(part, given["max_tokens"])


def _outline(library: Library, scope: Scope, given: Arguments) -> str:
    document = library.document(given["doc"], scope=texts.named(scope))
    return texts.headings(document, given["max_tokens"])


def _why(library: Library, scope: Scope, given: Arguments) -> str:
    diagnosis = library.why(given["query"], given["doc"], scope=scope, limit=given["limit"])
    return texts.reasons(diagnosis, given["max_tokens"])


def _status(library: Library, scope: Scope, given: Arguments) -> str:
    return texts.standing(library, scope, given["max_tokens"])


TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        "Find passages by words and meaning, in any language. Cites path, heading and lines: "
        "read on with get. Filters go into query or filter: "
        "kind:note tag:food -tag:draft path:work/* lang:ru after:2024-01 collection:name.",
        {
            "query": {"type": "string", "description": 'question, words, "phrase" or name'},
            "limit": _LIMIT,
            "mode": {
                "type": "string",
                "enum": [mode.value for mode in Mode],
                "default": Mode.HYBRID.value,
            },
            "filter": {"type": "string"},
            "min_relevance": {"type": "number", "minimum": 0, "maximum": 1},
            "short_query": {"type": "string", "description": "2-3 words that must be there"},
            "rephrased_query": {"type": "string", "description": "the question in other words"},
            "expected_answer": {
                "type": "string",
                "description": "a sentence as it may stand",
            },
            "max_tokens": _TOKENS,
        },
        ("query",),
        _search,
    ),
    Tool(
        "similar",
        "Documents that are like one, with the passages and words that they share.",
        {"doc": _DOC, "limit": _LIMIT, "max_tokens": _TOKENS},
        ("doc",),
        _similar,
    ),
    Tool(
        "get",
        "Read a document, a section of it, or lines of its file.",
        {
            "doc": _DOC,
            "toc_path": {
                "type": ["string", "array"],
                "items": {"type": "string"},
                "description": "heading, path of headings, id from outline, or ^block",
            },
            "lines": {"type": "string", "description": "such as 10-20"},
            "max_tokens": _TOKENS,
        },
        ("doc",),
        _get,
    ),
    Tool(
        "outline",
        "The headings of a document with their lines.",
        {"doc": _DOC, "max_tokens": _TOKENS},
        ("doc",),
        _outline,
    ),
    Tool(
        "why",
        "Why a document is or is not among the results of a query, and what would change it.",
        {
            "query": {"type": "string"},
            "doc": _DOC,
            "limit": {**_LIMIT, "default": 10},
            "max_tokens": _TOKENS,
        },
        ("query", "doc"),
        _why,
    ),
    Tool(
        "status",
        "What is indexed: collections, counts, languages, what is still being embedded.",
        {"max_tokens": _TOKENS},
        (),
        _status,
    ),
)
