"""How the statements that both SQL stores share reach an engine.

A statement names its values as SQLite does (`?` or `:name`), and lists of them as PostgreSQL does
(`= ANY(?)`, `<> ALL(?)`); each store spells that as its engine wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from twolane.model.scope import Scope

Values = Sequence[Any] | Mapping[str, Any]

_T = TypeVar("_T")


class Session(Protocol):
    """One transaction: what it reads stays the same until its end."""

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """All rows of a statement; what they hold is known to the statement, not to the checker."""

    def known(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The same, which may be asked once for the whole transaction."""

    def run(self, statement: str, values: Values = ()) -> int:
        """Run a statement that gives no rows; how many it changed."""

    def run_all(self, statement: str, values: Sequence[Values]) -> None:
        """Run a statement for each of the values, in one go."""

    def revision(self) -> int:
        """The number of the state that is read; a change of documents makes it another one."""

    def unhurried(self) -> AbstractContextManager[None]:
        """Let what is asked inside end in any case: every later question needs it as well."""


class Database(Protocol):
    """Where sessions come from."""

    def reading(self, scope: Scope | None = None) -> AbstractContextManager[Session]:
        """A session that sees one state, for the scope's owner or for everybody."""

    def writing(self, work: Callable[[Session], _T], *, sharing: bool = False) -> _T:
        """What the work gives, done in one transaction as a whole or not at all.

        It may be done again where another transaction came in between.
        With `sharing` every statement sees what others have committed: for work that is handed out.
        """
