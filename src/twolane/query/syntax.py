"""The grammar of queries: what was typed as a tree of words, groups and named parts.

    word  foo-bar  pref*               words
    "a phrase"  'a phrase'  «a phrase» quotations, at the start of a token and closed
    a AND b  a OR b  NOT a  (a b)      operators in upper case; NOT binds before AND before OR
    -word  -"a phrase"  -(a b)  -tag:x exclusions
    NEAR(a "b c", 5)                   nearness
    title:word  body:(a b)  kind:note  named parts: fields and filters
    status:done                        a filter by a property that some document has
    #tag                               the same as tag:tag

Nothing typed is an error: what does not fit the grammar is read as words.
Groups nest no deeper than `DEEPEST`, and `query` bounds the length.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from twolane.model.document import FIELDS
from twolane.model.values import dataclass
from twolane.query.filters import is_tag
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


_NUMBER = re.compile(r"\d[\d.,]*+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Text:
    """Words as typed: one token, or what stands between quotes.

    `prefix` is set when its last word was typed with a `*`, which is not part of the text.
    """

    text: str
    quoted: bool = False
    prefix: bool = False

    @property
    def demands(self) -> bool:
        """Whether there is anything to look for: a word, or a quoted sign."""
        return bool(self.text.strip()) if self.quoted else has_words(self.text)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Texts that stand close to each other."""

    items: tuple[Text, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class Named:
    """A part after a name and a colon; `raw` is the whole as typed."""

    name: str
    value: Node
    raw: str


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that must all match, or of which one is enough."""

    parts: tuple[Node, ...]
    either: bool = False


@dataclass(frozen=True, slots=True)
class Negated:
    """A part that must not match."""

    part: Node


Node = Text | Nearby | Named | Group | Negated


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return _WORDLIKE.search(text) is not None


_WORDLIKE = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Syntax:
    """A query as parts that stand side by side; `boolean` if operators connect them."""

    parts: tuple[Node, ...]
    boolean: bool


def read_syntax(text: str, properties: Collection[str] = ()) -> Syntax:
    """The tree of what was typed; a key of `properties` before a colon is a name, too."""
    grammar = _Grammar(_balanced(_Scanner(_without_marks(text), properties).scan()))
    root = grammar.expression()
    if root is None:
        return Syntax((), boolean=False)
    parts = root.parts if isinstance(root, Group) and not root.either else (root,)
    return Syntax(parts, grammar.boolean)


# ---------------------------------------------------------------------------------- quotation marks

# So many words outside the quotes make a sentence of it.
_SENTENCE = 3

_QUOTED = re.compile(r"(?<![^\s(])(?:\"([^\"]+)\"|«([^«»]+)»|“([^“”]+)”|„([^„“”]+)[“”])")
_QUESTION_ENDS = ("?", "？")


def _without_marks(text: str) -> str:
    """The text without the quotation marks of a question; any other text as it is.

    Who types `"green tea" kettle` wants these very words.
    Who asks where the crew of «Аполлон-1» trained only writes as one writes, and the answer may
    well have another ending, another kind of quotes or another language.
    """
    if (
        not text.rstrip().endswith(_QUESTION_ENDS)
        or len(tokens(_QUOTED.sub(" ", text))) < _SENTENCE
    ):
        return text
    return _QUOTED.sub(lambda found: next(part for part in found.groups() if part), text)


# ------------------------------------------------------------------------------------------- pieces


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
        """Whether a `-` stands here that excludes what follows; `--flag` and `->` are words.

        There is nothing to exclude from where a query begins, so a number there is a negative one.
        """
        before, after = self.text[max(0, self.at - 1) : self.at], self.at + 1
        if self.text[self.at] != "-" or not (before in ("", "(") or before.isspace()):
            return False
        if _NUMBER.match(self.text, after) and not self.text[: self.at].strip():
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


# ------------------------------------------------------------------------------- the tree of pieces


def _balanced(pieces: list[Piece]) -> list[Piece]:
    """The pieces without parentheses that are never closed; what stood before one is a word."""
    opened: list[int] = []
    for at, piece in enumerate(pieces):
        if isinstance(piece, Open):
            opened.append(at)
        elif isinstance(piece, Close):
            opened.pop()
    stray = set(opened)
    kept: list[Piece] = []
    for at, piece in enumerate(pieces):
        if at not in stray:
            kept.append(piece)
        elif isinstance(piece, Open) and piece.raw:
            kept.append(Leaf(Text(piece.raw)))
    return kept


class _Grammar:
    """Builds the tree from balanced pieces."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = iter(pieces)
        self.boolean = False
        # Operators within an exclusion or a field connect nothing outside of it.
        self.enclosed = 0

    def expression(self) -> Node | None:
        """The parts up to the end of the group, or None if there are none."""
        level = _Level()
        for piece in self.pieces:
            if isinstance(piece, Close):
                break
            if isinstance(piece, Operator):
                level.operator(piece.word)
                continue
            node = piece.node if isinstance(piece, Leaf) else self._group(piece)
            if node is not None:
                level.part(node)
        self.boolean |= level.boolean and not self.enclosed
        return level.whole()

    def _group(self, opening: Open) -> Node | None:
        sealed = opening.excluded or opening.name is not None
        self.enclosed += sealed
        node = self.expression()
        self.enclosed -= sealed
        if node is not None and opening.name:
            node = Named(opening.name, node, opening.raw)
        return _negated(node) if node is not None and opening.excluded else node


class _Level:
    """The parts of one group as they come; operators with nothing to connect are dropped."""

    def __init__(self) -> None:
        self.alternatives: list[list[Node]] = [[]]
        self.operands = 0
        self.joint = ""
        self.negations = 0
        self.boolean = False

    def operator(self, word: str) -> None:
        """Remember the operator until its operand comes; of two in a row the first counts."""
        if word == "NOT":
            self.negations += 1
        elif self.operands and not self.joint:
            self.joint = word

    def part(self, node: Node) -> None:
        """Add a part with the operators before it."""
        if isinstance(node, Text) and not node.demands:
            # A sign between words, such as `&`: part of what is meant, but no operand.
            self.alternatives[-1].append(node)
            return
        if self.joint == "OR":
            self.alternatives.append([])
        self.boolean |= bool(self.joint or self.negations)
        self.alternatives[-1].append(_negated(node) if self.negations % 2 else node)
        self.operands += 1
        self.joint, self.negations = "", 0

    def whole(self) -> Node | None:
        """All parts as one."""
        if not self.operands:
            return None
        groups = tuple(_all(parts) for parts in self.alternatives)
        return groups[0] if len(groups) == 1 else Group(groups, either=True)


def _negated(node: Node) -> Node:
    return node.part if isinstance(node, Negated) else Negated(node)


def _all(parts: list[Node]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Group) and not part.either else (part,)
    return flat[0] if len(flat) == 1 else Group(tuple(flat))
