"""Documents by their letters, found by looking through all of them."""

from __future__ import annotations

from collections.abc import Sequence

from twolane.answers import Match, Names
from twolane.names import lines
from twolane.scopes import Scope
from twolane.stores.memory.scoping import in_scope
from twolane.stores.memory.state import State
from twolane.substrings import NAMES, SHORTEST, fields_of, match_in, spelled


class MemorySubstrings:
    """The part of the Retrieval port that looks at letters."""

    _state: State

    def exact(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter: names before texts, then ids."""
        needle = spelled(text)
        with self._state.lock:
            seen = [each for each in self._state.visible() if in_scope(each, scope)]
        found = []
        for each in seen:
            fields = fields_of(each.document)
            if len(needle) < SHORTEST:
                fields = (field for field in fields if field[0] != "path")
            match = match_in(each.document.id, each.languages, needle, fields)
            if match is not None:
                found.append(match)
        found.sort(key=lambda match: match.field not in NAMES)
        return found[:limit]

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names hold all pieces of one group, by id."""
        groups = [group for group in pieces if group and all(len(piece) > 2 for piece in group)]
        with self._state.lock:
            seen = [each for each in self._state.visible() if in_scope(each, scope)]
        found = []
        for each in seen:
            document = each.document
            names = Names(
                document.id,
                each.languages,
                document.title,
                document.aliases,
                document.path,
                document.url,
            )
            spelling = lines(names)
            if any(all(piece in spelling for piece in group) for group in groups):
                found.append(names)
        return found[:limit]
