"""Golden sets in JSON: our own format, and queries with `expected_urls`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from twolane.errors import BadGoldenSet
from twolane.evaluation.golden_values import Evidence, GoldenQuery, GoldenSet

FORMAT = "twolane-golden/1"

_SET_FIELDS = ("format", "name", "description", "vault", "queries")
_QUERY_FIELDS = (
    "id",
    "query",
    "relevant",
    "partial",
    "graded",
    "unanswerable",
    "absent",
    "lang",
    "direction",
    "category",
    "verified",
    "evidence",
    "rare",
)


def read_json(text: str, source: str, name: str) -> GoldenSet:
    """The golden set in `text`; `source` names the file in errors, `name` a set without a name."""
    data = _object(text, source)
    problems: list[str] = []
    fields = _Fields(data, "the set", problems)
    found = data.get("queries")
    if not isinstance(found, list):
        problems.append(
            f'the set: field "queries" must be a list of queries, but is {_kind(found)}; add it'
        )
        found = []
    foreign = "format" not in data and any(
        isinstance(query, dict) and "expected_urls" in query for query in found
    )
    if not foreign:
        _check_format(data, problems)
        fields.refuse_others(_SET_FIELDS)
    queries = []
    for number, query in enumerate(found, start=1):
        if not isinstance(query, dict):
            problems.append(
                f"query number {number}: must be an object, but is {_kind(query)}; correct it"
            )
        elif foreign:
            queries.append(_foreign_query(query, number, problems))
        else:
            queries.append(_query(query, number, problems))
    given = fields.text("name")
    golden = GoldenSet(
        name=name if given is None else given,
        description=fields.text("description") or "",
        vault=fields.text("vault"),
        queries=tuple(queries),
    )
    if problems:
        raise BadGoldenSet(source, problems)
    return golden


def as_json(golden: GoldenSet) -> dict[str, Any]:
    """The set as our own format spells it."""
    return {
        "format": FORMAT,
        "name": golden.name,
        "description": golden.description,
        **({"vault": golden.vault} if golden.vault is not None else {}),
        "queries": [_query_as_json(query) for query in golden.queries],
    }


def _object(text: str, source: str) -> dict[str, Any]:
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}); correct it"
        raise BadGoldenSet(source, [problem]) from error
    except (ValueError, RecursionError) as error:
        raise BadGoldenSet(source, [f"not usable JSON ({error}); correct it"]) from error
    if not isinstance(data, dict):
        problem = f'the file must hold one object; write {{"format": "{FORMAT}", "queries": […]}}'
        raise BadGoldenSet(source, [problem])
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Plain JSON reading would keep the last of two equal keys and drop judgments in silence.
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return found


def _check_format(data: Mapping[str, Any], problems: list[str]) -> None:
    given = data.get("format")
    if given == FORMAT:
        return
    family = FORMAT.partition("/")[0]
    if isinstance(given, str) and given.startswith(f"{family}/"):
        problems.append(
            f"format {given!r} is not known to this Twolane, which reads {FORMAT!r}; "
            "use the version that wrote the file, or a newer one"
        )
    else:
        problems.append(
            f'the set: field "format" must be {FORMAT!r}, but is {_shown(given)}; '
            "set it, or give the queries expected_urls"
        )


def _query(data: Mapping[str, Any], number: int, problems: list[str]) -> GoldenQuery:
    fields = _Fields(data, _where(data, number), problems)
    fields.refuse_others(_QUERY_FIELDS)
    return GoldenQuery(
        id=fields.needed("id"),
        query=fields.needed("query"),
        relevant=fields.texts("relevant"),
        partial=fields.texts("partial"),
        lang=fields.text("lang"),
        direction=fields.text("direction"),
        category=fields.text("category"),
        verified=fields.flag("verified"),
        unanswerable=fields.flag("unanswerable"),
        evidence=fields.evidence("evidence"),
        graded=fields.grades("graded"),
        absent=fields.texts("absent"),
        rare=fields.texts("rare"),
    )


def _foreign_query(data: Mapping[str, Any], number: int, problems: list[str]) -> GoldenQuery:
    # Fields that only the other system understands are left alone.
    fields = _Fields(data, _where(data, number), problems)
    if "expected_urls" not in data:
        fields.refuse("expected_urls", "a list of texts", None)
    return GoldenQuery(
        id=fields.text("id") or f"q{number}",
        query=fields.needed("query"),
        relevant=fields.texts("expected_urls"),
        lang=fields.text("lang"),
        direction=fields.text("direction"),
        category=fields.text("category"),
        verified=fields.flag("verified"),
        unanswerable=fields.flag("unanswerable"),
    )


def _where(data: Mapping[str, Any], number: int) -> str:
    id = data.get("id")
    return f"query {id!r}" if isinstance(id, str) and id else f"query number {number}"


class _Fields:
    """Reads the fields of one object, and notes what is wrong instead of raising at the first."""

    def __init__(self, data: Mapping[str, Any], where: str, problems: list[str]) -> None:
        self._data = data
        self._where = where
        self._problems = problems

    def needed(self, name: str) -> str:
        """A text that must be there; whether it says anything is for validation."""
        value = self._data.get(name)
        if not _is_text(value):
            self.refuse(name, "a text", value)
            return ""
        return str(value)

    def text(self, name: str) -> str | None:
        """A text or nothing."""
        value = self._data.get(name)
        if value is not None and not _is_text(value):
            self.refuse(name, "a text", value)
            return None
        return value

    def flag(self, name: str) -> bool:
        """True or false; nothing is false."""
        value = self._data.get(name)
        if not isinstance(value, bool | None):
            self.refuse(name, "true or false", value)
        return value is True

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; nothing is empty."""
        value = self._data.get(name)
        if value is None:
            return ()
        if not (isinstance(value, list) and all(_is_text(one) for one in value)):
            self.refuse(name, "a list of texts", value)
            return ()
        return tuple(value)

    def grades(self, name: str) -> tuple[tuple[str, int], ...]:
        """An object from document to whole number; nothing is empty."""
        value = self._data.get(name)
        if value is None:
            return ()
        if not (isinstance(value, dict) and all(type(one) is int for one in value.values())):
            self.refuse(name, "an object of whole numbers by document", value)
            return ()
        return tuple(value.items())

    def evidence(self, name: str) -> tuple[Evidence, ...]:
        """A list of quotations; nothing is empty."""
        value = self._data.get(name)
        if value is None:
            return ()
        if not (isinstance(value, list) and all(_is_quotation(one) for one in value)):
            self.refuse(name, 'a list of {"path": text, "quote": text}', value)
            return ()
        return tuple(Evidence(one["path"], one["quote"]) for one in value)

    def refuse(self, name: str, expected: str, value: object) -> None:
        """Note that a field is not what it must be."""
        self._problems.append(
            f'{self._where}: field "{name}" must be {expected}, but is {_shown(value)}; correct it'
        )

    def refuse_others(self, known: Collection[str]) -> None:
        """Note every field that the format does not have: most are misspelt."""
        for name in self._data:
            if name not in known:
                advice = _nearest(name, known)
                self._problems.append(f'{self._where}: unknown field "{name}"; {advice}')


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f'did you mean "{close[0]}"?' if close else "remove it"


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair, which is no character.
        return False
    return True


def _is_quotation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"path", "quote"}
        and all(_is_text(one) for one in value.values())
    )


def _shown(value: object) -> str:
    if isinstance(value, list | dict | None):
        return _kind(value)
    text = ascii(value) if isinstance(value, str) and not _is_text(value) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "missing" if value is None else names.get(type(value), "a number")


def _query_as_json(query: GoldenQuery) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": query.id,
        "query": query.query,
        "relevant": list(query.relevant),
        "partial": list(query.partial),
        "graded": dict(query.graded) or None,
        "unanswerable": query.unanswerable or None,
        "absent": list(query.absent) or None,
        "lang": query.lang,
        "direction": query.direction,
        "category": query.category,
        "verified": query.verified,
        "evidence": [{"path": one.path, "quote": one.quote} for one in query.evidence],
        "rare": list(query.rare) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
