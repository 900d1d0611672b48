"""From a draft to a document: every field checked, in the one form that is stored."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any, NoReturn
from urllib.parse import urlsplit

from twolane.ingest.parsing.decoding import composed
from twolane.ingest.parsing.outline import Outline, outline
from twolane.ingest.summaries import carried_over, is_generated
from twolane.model.document import EMPTY, Document, Kind, Prepared, digest
from twolane.model.draft import Draft
from twolane.model.errors import BadDraft, BadInput
from twolane.model.values import dataclass

# Longer names are no names any more; they would make every list and every index suffer.
LONGEST_ID = 1_000
LONGEST_TITLE = 4_000
LONGEST_URL = 16_000
LONGEST_TAG = 200
LONGEST_TEXT = 200_000
LARGEST_PROPERTIES = 1_000_000
MOST = 1_000
MOST_USES = 1_000_000_000

# An address that runs as a program when somebody clicks on it.
_UNSAFE_SCHEMES = frozenset(("javascript", "vbscript", "data"))

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ANY_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DEEPEST = 32
_DERIVED_TITLE = 80


@dataclass(frozen=True, slots=True)
class Drafted:
    """A document that can be stored, what had to be mended for that, and its analysis if made."""

    document: Document
    remarks: tuple[str, ...] = ()
    prepared: Prepared | None = None


def drafted(draft: Draft, *, most_bytes: int = 20_000_000) -> Drafted:
    """The document that the draft describes; raises BadDraft, naming the field.

    Texts are put into NFC with LF line ends; control characters are dropped with a remark.
    """
    return _Reader(draft, most_bytes).document()


class _Reader:
    """Reads one draft, field by field."""

    def __init__(self, draft: Draft, most_bytes: int) -> None:
        self._draft = draft
        self._most_bytes = most_bytes
        self._remarks: dict[str, None] = {}

    def document(self) -> Drafted:
        draft = self._draft
        bare = Document(
            id=self._name("id", draft.id, LONGEST_ID),
            title="",
            body="",
            collection=self.collection(),
            kind=self._kind(draft.kind),
            owner=None if draft.owner is None else self._name("owner", draft.owner, LONGEST_ID),
            created=self._moment("created", draft.created),
            updated=self._moment("updated", draft.updated),
            used=self._moment("used", draft.used),
            uses=self._count("uses", draft.uses),
            searchable=bool(draft.searchable),
            archived=bool(draft.archived),
            encrypted=bool(draft.encrypted),
        )
        document = bare if draft.encrypted else self._with_texts(bare)
        return Drafted(document, tuple(self._remarks))

    def _with_texts(self, bare: Document) -> Document:
        draft = self._draft
        body = self._body(draft.body)
        found = outline(body, first_line=1) if body else _NOTHING
        url = self._url(draft.url)
        title = self._line("title", draft.title, LONGEST_TITLE)
        if not title:
            heading = next((one.text for one in found.headings if one.level == 1), "")
            title = heading or title_of(url, body) or bare.id
        description = self._text("description", draft.description)
        summary = self._text("summary", draft.summary)
        aliases = self._lines("aliases", draft.aliases)
        arguments = self._lines("arguments", draft.arguments)
        document = replace(
            bare,
            title=title,
            body=body,
            url=url,
            description=description,
            summary=summary,
            aliases=aliases,
            arguments=arguments,
            path=self._path(draft.path),
            tags=tags_of(draft.tags, id=draft.id),
            properties=self._properties(draft.properties),
            headings=found.headings,
            links=found.links,
        )
        return replace(document, content_hash=_hash_of(document))

    def _kind(self, value: Any) -> Kind:
        try:
            return Kind(value)
        except ValueError:
            self._refuse("kind", f"{value!r} is none of {', '.join(Kind)}")

    def _name(self, field: str, value: str, longest: int) -> str:
        """A text that names something: taken as it is or not at all."""
        self._refuse_other(field, value)
        if not value or value != value.strip():
            self._refuse(field, "must not be empty or begin or end with a space")
        if _ANY_CONTROL.search(value):
            self._refuse(field, "holds a control character; leave it out")
        if len(value) > longest:
            self._refuse(field, f"is longer than {longest:,} characters; shorten it")
        return unicodedata.normalize("NFC", value)

    def collection(self) -> str:
        name = self._name("collection", self._draft.collection, LONGEST_TAG)
        if "/" in name:
            self._refuse("collection", "must not hold a `/`")
        return name

    def _line(self, field: str, value: str, longest: int) -> str:
        line = " ".join(self._clean(field, value).split())
        if len(line) > longest:
            self._refuse(field, f"is longer than {longest:,} characters; shorten it")
        return line

    def _lines(self, field: str, values: Any) -> tuple[str, ...]:
        if isinstance(values, str):
            self._refuse(field, "must be a list of texts, not one text")
        given = [self._line(field, value, LONGEST_TITLE) for value in values]
        if len(given) > MOST:
            self._refuse(field, f"has more than {MOST:,} entries")
        return tuple(dict.fromkeys(one for one in given if one))

    def _text(self, field: str, value: str) -> str:
        text = self._clean(field, value).strip()
        if len(text) > LONGEST_TEXT:
            self._refuse(field, f"is longer than {LONGEST_TEXT:,} characters; put it into the body")
        return text

    def _body(self, value: str) -> str:
        body = self._clean("body", value)
        size = len(body) if body.isascii() else len(body.encode())
        if size > self._most_bytes:
            self._refuse("body", f"is larger than {self._most_bytes:,} bytes (max_file_bytes)")
        return body

    def _clean(self, field: str, value: str) -> str:
        self._refuse_other(field, value)
        text = value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value
        if _CONTROL.search(text):
            text = _CONTROL.sub("", text)
            self._remarks[f"{field}: control characters were left out"] = None
        return composed(text)

    def _url(self, value: str | None) -> str | None:
        if value is None or value == "":
            if self._draft.kind == Kind.BOOKMARK:
                self._refuse("url", "a bookmark needs one")
            return None
        self._refuse_other("url", value)
        url = value.strip()
        reason = why_no_url(url)
        if reason:
            self._refuse("url", reason)
        return url

    def _path(self, value: str | None) -> str | None:
        if value is None:
            return None
        path = self._name("path", value, LONGEST_TITLE)
        parts = path.split("/")
        if path.startswith("/") or "\\" in path or ".." in parts or "." in parts or "" in parts:
            self._refuse("path", f"{value!r} is not a path inside its collection")
        return path

    def _moment(self, field: str, value: Any) -> datetime | None:
        if value is None:
            return None
        if not isinstance(value, datetime):
            self._refuse(field, f"{value!r} is not a time")
        try:
            aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value
            # A store keeps seconds, so this is the time that comes back.
            return datetime.fromtimestamp(aware.timestamp(), UTC)
        except (OverflowError, ValueError, OSError):
            self._refuse(field, f"{value} is out of range")

    def _count(self, field: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_USES:
            self._refuse(field, f"must be a whole number from 0 to {MOST_USES:,}")
        return value

    def _properties(self, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self._refuse("properties", "must be a mapping from names to values")
        if not value:
            return EMPTY
        plain = self._plain(value, 0)
        text = json.dumps(plain, ensure_ascii=False)
        self._refuse_other("properties", text)
        if len(text) > LARGEST_PROPERTIES:
            self._refuse("properties", f"are larger than {LARGEST_PROPERTIES:,} characters")
        return MappingProxyType(json.loads(text))

    def _plain(self, value: Any, depth: int) -> Any:
        """The value in the types that JSON has."""
        if depth > _DEEPEST:
            self._refuse("properties", f"are nested more than {_DEEPEST} deep; flatten them")
        if isinstance(value, Mapping):
            return {str(key): self._plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(inner, depth + 1) for inner in value]
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if not isinstance(value, str):
            self._refuse("properties", f"{type(value).__name__} is not a value that JSON has")
        return self._clean("properties", value)

    def _refuse_other(self, field: str, value: Any) -> None:
        """Refuse what is no text, or text that no encoding can write."""
        if not isinstance(value, str):
            self._refuse(field, f"must be a text, not {type(value).__name__}")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                self._refuse(field, "is not valid Unicode: it holds half of a surrogate pair")

    def _refuse(self, field: str, reason: str) -> NoReturn:
        raise BadDraft(str(self._draft.id)[:LONGEST_ID], field, reason)


_NOTHING = Outline((), (), ())


def outlined(document: Document) -> Document:
    """A stored document with what its texts say now: headings, links and their hash."""
    found = outline(document.body, first_line=document.first_line) if document.body else _NOTHING
    read = replace(document, headings=found.headings, links=found.links)
    return read if document.encrypted else replace(read, content_hash=_hash_of(read))


def _hash_of(one: Document) -> str:
    """A name for all that a saved document says."""
    # What a model wrote of it is nothing that it says.
    summary = "" if is_generated(one) else one.summary
    texts = (one.title, one.url, one.description, summary, one.aliases, one.arguments, one.body)
    return digest(json.dumps(texts))


def tags_of(values: Iterable[Any], *, id: str = "") -> tuple[str, ...]:
    """Tags in the one form that is stored: any script, spaces and emoji; each one once."""
    if isinstance(values, str):
        raise BadDraft(id, "tags", "must be a list of texts, not one text")
    found: dict[str, str] = {}
    for value in values:
        if not isinstance(value, str):
            raise BadDraft(id, "tags", f"must be texts, not {type(value).__name__}")
        if _ANY_CONTROL.search(value.strip()):
            raise BadDraft(id, "tags", f"{value!r} holds a control character; leave it out")
        tag = " ".join(unicodedata.normalize("NFC", value).split()).lstrip("#").strip("/ ")
        if len(tag) > LONGEST_TAG:
            raise BadDraft(id, "tags", f"a tag is longer than {LONGEST_TAG} characters")
        try:
            tag.encode()
        except UnicodeEncodeError:
            raise BadDraft(id, "tags", f"{value!r} is not valid Unicode") from None
        if tag:
            found.setdefault(tag.casefold(), tag)
    if len(found) > MOST:
        raise BadDraft(id, "tags", f"there are more than {MOST:,}")
    return tuple(found.values())


def collection_named(value: Any) -> str:
    """The name of a collection in the one form that is stored; raises BadDraft."""
    return _Reader(Draft("", collection=value), 0).collection()


def why_no_url(url: str) -> str | None:
    """Why a text is no address that can be kept, or None if it is one."""
    if len(url) > LONGEST_URL:
        return f"is longer than {LONGEST_URL:,} characters"
    if _ANY_CONTROL.search(url) or any(one.isspace() for one in url):
        return f"{url!r} holds a space or a control character; write it as %20"
    if not _SCHEME.match(url):
        return f"{url!r} has no scheme; write https:// before it"
    try:
        split = urlsplit(url)
        _ = split.port
    except ValueError as error:
        return f"{url!r} is not a URL ({error})"
    if split.scheme in _UNSAFE_SCHEMES:
        return f"a {split.scheme}: address runs as a program and is not kept"
    if split.scheme in ("http", "https") and not split.hostname:
        return f"{url!r} names no host"
    return None


def title_of(url: str | None, body: str) -> str:
    """A title for a document that has none: its address, or the first line of its text."""
    if url is not None:
        split = urlsplit(url)
        shown = f"{split.netloc.removeprefix('www.')}{split.path}".strip("/")
        return (shown or url)[:LONGEST_TITLE]
    line = next((one.strip(" \t#>*-") for one in body.split("\n") if one.strip(" \t#>*-")), "")
    return line if len(line) <= _DERIVED_TITLE else f"{line[:_DERIVED_TITLE].rstrip()}…"


def merged(document: Document, before: Document | None, now: datetime | None) -> Document:
    """The document with what stays as it was where nothing else is said."""
    document = carried_over(document, before)
    if before is None and now is None:
        return document
    return replace(
        document,
        owner=document.owner if document.owner is not None or before is None else before.owner,
        created=document.created or (before.created if before else now),
        updated=document.updated or now or (before.updated if before else None),
        used=document.used or (before.used if before else None),
        uses=document.uses or (before.uses if before else 0),
        version=before.version + 1 if before else 1,
    )


def one_tag(text: str) -> str:
    """The tag that a text names; BadInput if it names none."""
    tags = tags_of([text])
    if not tags:
        raise BadInput(f"{text!r} is not a tag; a tag has at least one character beside # and /")
    return tags[0]
