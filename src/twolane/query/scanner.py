"""Cuts what was typed into pieces: words, quotations, named parts, operators and parentheses."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from twolane.model.document import FIELDS
from twolane.query.filters import is_tag
from twolane.query.tree import Named, Nearby, Negated, Node, Text, has_words
from twolane.text.property_values import property_key
from twolane.text.tokens import tokens

# Nobody types deeper parentheses; further ones are ordinary characters.
DEEPEST = 24

# The words before a colon that mean something, and what they mean.
NAMES: dict[str, str] = {
    **{field: field for field in FIELDS},
    "alias": "aliases",
    "tag": "tags",
    "heading": "headings",
    "kind": "kind",
    "path": "path",
    "collection": "collection",
    "in": "collection",
    "lang": "lang",
    "after": "after",
    "before": "before",
    "updated": "updated",
    "created": "created",
    "used": "used",
    "has": "has",
    "is": "is",
    "archived": "archived",
}


def scan(text: str, properties: Collection[str] = ()) -> list[Piece]:
    """The pieces of the text in order; each closing parenthesis has an opening one.

    A name before a colon is also one if `properties` holds its key.
    """
    return _Scanner(text, properties).scan()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part without parts of its own, or a named one."""

    node: Node


@dataclass(frozen=True, slots=True)
class Open:
    """An opening parenthesis, with the `-` and the field name before it."""

    excluded: bool = False
    name: str | None = None
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Close:
    """A closing parenthesis."""


@dataclass(frozen=True, slots=True)
class Operator:
    """`AND`, `OR` or `NOT`."""

    word: str


Piece = Leaf | Open | Close | Operator

_SPACE = re.compile(r"\s+")
_OPERATOR = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)")
_NAME = re.compile(r"([A-Za-z]{2,12}):(?=[^\s)])")
# `std::move`, `https://x` and `C:\x` are no properties, whatever they are called.
_PROPERTY = re.compile(r"([^\W\d_][\w.-]{1,63}):(?=[^\s():/\\])")
_NEAR = re.compile(r"NEAR\(([^()]*)\)")
_DISTANCE = re.compile(r"\s*([0-9]{1,4})\s*")
_RUN = re.compile(r"[^\s()]+")
_NEAR_BY_DEFAULT = 10

# A quote that may also be an apostrophe closes only where no word goes on.
_CLOSERS: dict[str, re.Pattern[str]] = {
    '"': re.compile('"'),
    "'": re.compile(r"'(?!\w)"),
    "‘": re.compile(r"’(?!\w)"),
    "«": re.compile("»"),
    "“": re.compile("”"),
    "„": re.compile("[“”]"),
}


class _Scanner:
    """Cuts a text into pieces, from left to right."""

    def __init__(self, text: str, properties: Collection[str] = ()) -> None:
        self.text = text
        self.properties = properties
        self.at = 0
        self.depth = 0
        self.pieces: list[Piece] = []

    def scan(self) -> list[Piece]:
        """All pieces of the text."""
        fresh = True
        while self.at < len(self.text):
            space = _SPACE.match(self.text, self.at)
            if space:
                self.at, fresh = space.end(), True
            else:
                fresh = self._piece(fresh)
        return self.pieces

    def _piece(self, fresh: bool) -> bool:
        """Read one piece; whether a new token may start right after it."""
        operator = _OPERATOR.match(self.text, self.at) if fresh else None
        if self.text[self.at] == ")" and self.depth:
            self.at += 1
            self.depth -= 1
            self.pieces.append(Close())
            return True
        if operator:
            self.at = operator.end()
            self.pieces.append(Operator(operator.group()))
            return True
        if not fresh:
            self._add(_text(self._token()), excluded=False)
            return False
        excluded = self._excludes()
        self.at += excluded
        if self._opens(self.at):
            self.at += 1
            self.depth += 1
            self.pieces.append(Open(excluded))
            return True
        return self._token_or_name(excluded)

    def _token_or_name(self, excluded: bool) -> bool:
        found = _NAME.match(self.text, self.at)
        name = NAMES.get(found[1].lower()) if found else None
        if found and name in FIELDS and self._opens(found.end()):
            self.at = found.end() + 1
            self.depth += 1
            self.pieces.append(Open(excluded, name, found.group()))
            return True
        if found and name:
            self._add(self._named(name, found.end()), excluded)
        elif held := self._property():
            self._add(self._compared(held), excluded)
        elif self.text[self.at] == "#":
            self._add(_tag(self._token()), excluded)
        else:
            self._add(self._operand(), excluded)
        return False

    def _named(self, name: str, value_at: int) -> Node:
        start, self.at = self.at, value_at
        value: Node
        if name in FIELDS:
            value = self._operand()
            # A tag may be a sign that is no word, such as an emoji.
            usable = not isinstance(value, Text) or value.demands or name == "tags"
        else:
            quotation = self._quotation()
            value = Text(self._token().rstrip(",;")) if quotation is None else Text(quotation)
            usable = True
        raw = self.text[start : self.at]
        return Named(name, value, raw) if usable else Text(raw)

    def _property(self) -> re.Match[str] | None:
        found = _PROPERTY.match(self.text, self.at) if self.properties else None
        return found if found and property_key(found[1]) in self.properties else None

    def _compared(self, found: re.Match[str]) -> Node:
        """A property and its value, which is taken letter by letter where it is quoted."""
        start, self.at = self.at, found.end()
        quotation = self._quotation()
        value = self._token().rstrip(",;") if quotation is None else f"={quotation}"
        return Named("where", Text(f"{found[1]}:{value}"), self.text[start : self.at])

    def _add(self, node: Node, excluded: bool) -> None:
        if not excluded:
            self.pieces.append(Leaf(node))
        elif not isinstance(node, Text) or node.demands:
            self.pieces.append(Leaf(Negated(node)))

    def _excludes(self) -> bool:
        """Whether a `-` stands here that excludes what follows; `--flag` and `->` are words."""
        before, after = self.text[max(0, self.at - 1) : self.at], self.at + 1
        if self.text[self.at] != "-" or not (before in ("", "(") or before.isspace()):
            return False
        sign = self.text[after : after + 1]
        return (
            sign.isalnum()
            or sign in tuple("_#.@/")
            or self._opens(after)
            or self._closer(after) is not None
        )

    def _opens(self, at: int) -> bool:
        return self.text[at : at + 1] == "(" and self.depth < DEEPEST

    def _operand(self) -> Node:
        quotation = self._quotation()
        if quotation is not None:
            return Text(quotation, quoted=True)
        return self._nearby() or _text(self._token())

    def _quotation(self) -> str | None:
        """What stands between the quotes that open here, if they do."""
        closer = self._closer(self.at)
        if closer is None:
            return None
        inside = self.text[self.at + 1 : closer]
        self.at = closer + 1
        return inside

    def _closer(self, at: int) -> int | None:
        """Where the quote that opens here is closed."""
        opener = self.text[at : at + 1]
        found = _CLOSERS[opener].search(self.text, at + 1) if opener in _CLOSERS else None
        return found.start() if found else None

    def _nearby(self) -> Nearby | None:
        found = _NEAR.match(self.text, self.at)
        nearby = _read_near(found[1]) if found else None
        if found and nearby:
            self.at = found.end()
        return nearby

    def _token(self) -> str:
        """The characters up to a space, or to a parenthesis that closes a group.

        Parentheses that open within a token belong to it, as in `f(x)`.
        """
        start, inner = self.at, 0
        while self.at < len(self.text):
            run = _RUN.match(self.text, self.at)
            char = self.text[self.at]
            if run:
                self.at = run.end()
                continue
            if char == "(":
                inner += 1
            elif char == ")" and inner:
                inner -= 1
            elif char != ")" or self.depth:
                break
            self.at += 1
        return self.text[start : self.at]


def _text(token: str) -> Text:
    body = token.rstrip(",;.!?")
    # Stars elsewhere are emphasis or arithmetic.
    if body.endswith("*") and body.count("*") == 1:
        found = tokens(body)
        if found and found[-1].end == len(body) - 1 and len(found[-1].text) > 1:
            return Text(body[:-1], prefix=True)
    return Text(token)


def _tag(token: str) -> Node:
    value = token[1:].rstrip(",;:.!?")
    if value[:1].isalpha() and is_tag(value):
        return Named("tags", Text(value), token)
    return Text(token)


def _read_near(inside: str) -> Nearby | None:
    body, comma, tail = inside.rpartition(",")
    distance = _DISTANCE.fullmatch(tail) if comma else None
    if comma and not distance:
        return None
    pieces = _Scanner(body if comma else inside).scan()
    items = [piece.node for piece in pieces if isinstance(piece, Leaf)]
    texts = [item for item in items if isinstance(item, Text)]
    phrases = tuple(text for text in texts if has_words(text.text))
    if len(texts) < len(pieces) or len(phrases) < 2:
        return None
    return Nearby(phrases, int(distance[1]) if distance else _NEAR_BY_DEFAULT)
