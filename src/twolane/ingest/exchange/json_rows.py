"""Documents and collections as JSON: one object a line, or one array of them.

The keys of a document are the names of a draft's fields, so this module spells none of them but
those whose values need care.
A row is a collection if its `type` says so; documents have no such key.
The folder that a collection is read from stays out of it: elsewhere there may be no such folder,
and documents that came from files are saved ones where they are imported.
What an export writes an import reads back without loss.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

from twolane.ingest.drafting import collection_named
from twolane.ingest.exchange.rows import BadRow, CollectionRow, Row, Rows, Text, id_in, normalised
from twolane.model.document import Collection, Kind, digest
from twolane.model.draft import LONGEST_DESCRIPTION, Draft
from twolane.model.errors import BadDraft, BadInput
from twolane.model.problem import ProblemCode
from twolane.model.scope import Capability, Scope, require
from twolane.ports.documents import Among, DocumentStore

_FIELDS = {one.name: one for one in fields(Draft)}
_TEXTS = ("title", "body", "description", "summary")
_MAYBE_TEXTS = ("url", "path", "owner")
_LISTS = ("tags", "aliases", "arguments")
_TIMES = ("created", "updated", "used")
_FLAGS = ("searchable", "archived", "encrypted")
_PIECE = 262_144

# Tabs and line ends inside a text are no reason to lose it.
_decoder = json.JSONDecoder(strict=False)
_encoder = json.JSONEncoder(ensure_ascii=False)


def read_json(text: Text, *, collection: str, kind: Kind, longest: int) -> Rows:
    """The documents and collections of lines, or of an array; `longest` bounds one of them."""
    first = text.read(_PIECE)
    values = (
        _array(text, first, longest)
        if first.lstrip("\ufeff \t\r\n").startswith("[")
        else _lines(text, first, longest)
    )
    for place, value in values:
        if isinstance(value, BadRow):
            yield value
        elif isinstance(value, dict) and value.get("type") == _TYPE:
            yield _read_collection(place, value)
        else:
            yield _row(place, value, collection, kind)


def exported_collections(documents: DocumentStore, scope: Scope) -> Iterator[str]:
    """A line for each collection that the scope names, or for all, by name."""
    require(scope, Capability.SEARCH)
    for collection in documents.collections(scope):
        if not scope.collections or collection.name in scope.collections:
            yield f"{_collection_line(collection)}\n"


def exported(
    documents: DocumentStore,
    scope: Scope,
    *,
    batch: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[str]:
    """A line for each document in scope that is not deleted, hidden ones too, by id."""
    require(scope, Capability.SEARCH)
    ids = [one.id for one in documents.list(scope, among=Among.KEPT)]
    for at in range(0, len(ids), batch):
        stored = documents.get(ids[at : at + batch])
        for id in ids[at : at + batch]:
            if id in stored:
                yield f"{document_line(Draft.of(stored[id].document))}\n"
        progress(min(at + batch, len(ids)), len(ids))


def document_line(draft: Draft) -> str:
    """The draft as one line of JSON, without what is as it usually is."""
    said: dict[str, Any] = {}
    for name, field in _FIELDS.items():
        value = getattr(draft, name)
        if name in ("id", "kind", "collection", "title") or (
            (value and value != field.default) or (name == "searchable" and not value)
        ):
            said[name] = _plain(value)
    # These end a line for some readers of lines.
    return re.sub("[\x85\u2028\u2029]", lambda it: f"\\u{ord(it[0]):04x}", _encoder.encode(said))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


# ------------------------------------------------------------------------- values, one by one


def _lines(text: Text, first: str, longest: int) -> Iterator[tuple[str, Any]]:
    """Each line's value, or why it has none."""
    number, buffer, at, skipping = 1, first, 0, False
    while buffer:
        end = buffer.find("\n", at)
        line = buffer[at:] if end < 0 else buffer[at:end]
        if end < 0 and len(line) <= longest and (more := text.read(max(_PIECE, len(line)))):
            # Reading as much again as there is keeps long lines from being looked at too often.
            buffer, at = line + more, 0
            continue
        place = f"line {number}"
        if len(line) > longest and not skipping:
            reason = f"is longer than {longest:,} characters"
            yield place, BadRow(place, reason, ProblemCode.TOO_LARGE)
        elif not skipping and line.strip("\ufeff \t\r"):
            yield place, _decoded(line.strip("\ufeff \t\r"), place)
        skipping = end < 0
        number += not skipping
        at = end + 1
        if skipping or at == len(buffer):
            buffer, at = text.read(_PIECE), 0


def _decoded(line: str, place: str) -> Any:
    try:
        return _decoder.decode(line)
    except (ValueError, RecursionError) as error:
        return BadRow(place, f"is no JSON: {_why(error)}")


def _array(text: Text, first: str, longest: int) -> Iterator[tuple[str, Any]]:
    """Each element of an array, or why it has none; a broken one does not take the rest along."""
    buffer, line = first, 1
    at = buffer.index("[") + 1
    ended = False
    while True:
        at = _SPACE.match(buffer, at).end()  # type: ignore[union-attr]
        # What was read is forgotten; what is counted are its lines.
        line += buffer.count("\n", 0, at)
        buffer, at = buffer[at:], 0
        place = f"line {line}"
        if not buffer:
            buffer = text.read(_PIECE)
            if not buffer:
                yield place, BadRow(place, "the array does not end; what came before it went in")
                return
            continue
        if buffer[0] == "]":
            return
        try:
            value, at = _decoder.raw_decode(buffer)
            # A number may go on in the next piece; a document cannot.
            yield place, value
            continue
        except RecursionError:
            yield place, BadRow(place, "is nested too deep")
        except ValueError as error:
            cut = _is_cut(error, buffer)
            if cut and not ended and len(buffer) <= longest:
                more = text.read(max(_PIECE, len(buffer)))
                ended = not more
                buffer += more
                continue
            too_large = cut and not ended
            reason = f"is longer than {longest:,} characters" if too_large else _why(error)
            code = ProblemCode.TOO_LARGE if too_large else ProblemCode.BAD_ROW
            yield place, BadRow(place, f"is no JSON: {reason}", code)
        # The next element begins where one ends and another begins.
        while not (match := _BETWEEN.search(buffer, 1)):
            line += buffer.count("\n", 0, max(0, len(buffer) - 64))
            buffer = buffer[max(0, len(buffer) - 64) :]
            more = text.read(_PIECE)
            if not more:
                return
            buffer += more
        at = match.end() - 1


_SPACE = re.compile(r"[\s,]*")
_BETWEEN = re.compile(r"\}\s*,\s*\{")


def _is_cut(error: ValueError, buffer: str) -> bool:
    """Whether the text is not wrong but not yet all there."""
    message, position = str(error), getattr(error, "pos", 0)
    return message.startswith("Unterminated string") or position >= len(buffer) - 12


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


# ------------------------------------------------------------------------- a value as a draft


class _Wrong(Exception):
    """Why a value is no document."""


def _row(place: str, value: Any, collection: str, kind: Kind) -> Row | BadRow:
    if not isinstance(value, dict):
        return BadRow(place, f"is a JSON {_kind_of(value)}, not an object")
    try:
        return Row(place, *_draft(value, collection, kind))
    except _Wrong as error:
        return BadRow(place, str(error))


def _draft(value: dict[str, Any], collection: str, kind: Kind) -> tuple[Draft, tuple[str, ...]]:
    given = {name: one for name, one in value.items() if name in _FIELDS and one is not None}
    unknown = sorted(name for name in value if name not in _FIELDS)
    for name in _TEXTS + _MAYBE_TEXTS + ("collection", "id"):
        if name in given and not isinstance(given[name], str):
            if name != "id" or isinstance(given[name], bool) or not isinstance(given[name], int):
                raise _Wrong(f"{name}: must be a text, not a {_kind_of(given[name])}")
            given[name] = str(given[name])
    for name in _LISTS:
        if name in given:
            if not isinstance(given[name], list):
                raise _Wrong(f"{name}: must be a list of texts, not a {_kind_of(given[name])}")
            given[name] = tuple(given[name])
    for name in _FLAGS:
        if name in given and not isinstance(given[name], bool):
            raise _Wrong(f"{name}: must be true or false, not a {_kind_of(given[name])}")
    for name in _TIMES:
        if name in given:
            given[name] = _moment(name, given[name])
    given.setdefault("collection", collection)
    given["kind"] = given.get("kind", kind)
    if "id" not in given:
        given["id"] = _id(given)
    remarks = (f"unknown keys were left out: {', '.join(unknown)[:200]}",) if unknown else ()
    return Draft(**given), remarks


def _id(given: dict[str, Any]) -> str:
    """An id for a document without one, the same at every import."""
    if given["kind"] == Kind.BOOKMARK and given.get("url"):
        return id_in(given["collection"], normalised(given["url"]))
    texts = [given.get(name, "") for name in ("title", "body", "url", "description")]
    if not any(texts):
        raise _Wrong("has neither an id nor a text")
    return id_in(given["collection"], digest(json.dumps(texts)))


def _moment(name: str, value: Any) -> datetime:
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            raise _Wrong(f"{name}: must be a time, not a {_kind_of(value)}")
    except (ValueError, OverflowError, OSError) as error:
        shown = str(value)[:60]
        raise _Wrong(f"{name}: {shown!r} is no time; write it as 2024-05-01T12:00:00Z") from error
    return found


def _kind_of(value: Any) -> str:
    names = {dict: "object", list: "list", str: "text", bool: "truth value", type(None): "null"}
    return names.get(type(value), "date" if isinstance(value, date) else "number")


# -------------------------------------------------------------------------- a value as a collection

_TYPE = "collection"
_KNOWN = ("type", "name", "kind", "include", "exclude", "description")


def _read_collection(place: str, value: Mapping[str, Any]) -> CollectionRow | BadRow:
    """The collection that a row describes, or why there is none."""
    unknown = sorted(name for name in value if name not in _KNOWN)
    remarks = (f"unknown keys were left out: {', '.join(unknown)[:200]}",) if unknown else ()
    try:
        read = Collection(
            collection_named(value.get("name")),
            None,
            _collection_kind(value.get("kind")),
            _patterns("include", value.get("include")),
            _patterns("exclude", value.get("exclude")),
            _description(value.get("description")),
        )
    except BadDraft as error:
        return BadRow(place, f"name: {error.reason}")
    except BadInput as error:
        return BadRow(place, str(error))
    return CollectionRow(place, read, remarks)


def _collection_line(collection: Collection) -> str:
    """The collection as one line of JSON, without what is empty."""
    said: dict[str, Any] = {
        "type": _TYPE,
        "name": collection.name,
        "kind": collection.kind,
        "description": collection.description,
        "include": list(collection.include),
        "exclude": list(collection.exclude),
    }
    # Some readers of lines take other signs for line ends, too; ASCII has none of them.
    return json.dumps({name: value for name, value in said.items() if value})


def _collection_kind(value: Any) -> Kind:
    if value is None:
        return Kind.NOTE
    if value not in tuple(Kind):
        raise BadInput(f"kind: {value!r} is none of {', '.join(Kind)}")
    return Kind(value)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise BadInput(f"{name}: must be a list of patterns")
    return tuple(_clean(name, one) for one in value)


def _description(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadInput("description: must be a text")
    line = _clean("description", " ".join(value.split()))
    if len(line) > LONGEST_DESCRIPTION:
        raise BadInput(f"description: is longer than {LONGEST_DESCRIPTION} characters")
    return line


def _clean(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{name}: is not valid Unicode") from None
    if "\0" in text:
        raise BadInput(f"{name}: holds a control character; leave it out")
    return text
