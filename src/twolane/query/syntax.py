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
Groups nest no deeper than the scanner allows, and `query` bounds the length.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from twolane.query.scanner import Close, Leaf, Open, Operator, Piece, scan
from twolane.query.tree import Group, Named, Negated, Node, Text


@dataclass(frozen=True, slots=True)
class Syntax:
    """A query as parts that stand side by side; `boolean` if operators connect them."""

    parts: tuple[Node, ...]
    boolean: bool


def read_syntax(text: str, properties: Collection[str] = ()) -> Syntax:
    """The tree of what was typed, where `properties` are names that may stand before a colon."""
    grammar = _Grammar(_balanced(scan(text, properties)))
    root = grammar.expression()
    if root is None:
        return Syntax((), boolean=False)
    parts = root.parts if isinstance(root, Group) and not root.either else (root,)
    return Syntax(parts, grammar.boolean)


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
