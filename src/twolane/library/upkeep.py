"""Keeping a library in order: checks, mending, copies."""

from __future__ import annotations

import os
from pathlib import Path

from twolane.errors import BadInput
from twolane.library.adapters import verify_backup
from twolane.library.held import LOCAL, Held
from twolane.model import Problem
from twolane.permissions import require
from twolane.scopes import Capability, Scope


class Upkeep(Held):
    """What is done to the library as a whole."""

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database; empty when it is sound."""
        return self._store.check()

    def repair(self, *, scope: Scope = LOCAL) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        require(scope, Capability.ADMIN)
        done = self._store.repair()
        if done:
            # Letters are looked up quickly again when this returns, not only after more writing.
            self._store.settle()
        return done

    def backup(self, target: str | os.PathLike[str], *, scope: Scope = LOCAL) -> Path:
        """Write a copy of the library as it is now, while it is in use, and verify it."""
        require(scope, Capability.ADMIN)
        path = Path(target).expanduser()
        if not path.parent.is_dir():
            raise BadInput(f"there is no folder {path.parent}; make it first")
        self._store.backup(str(path))
        try:
            verify_backup(path)
        except BaseException:
            # A copy that cannot be trusted must not look like one that can.
            path.unlink(missing_ok=True)
            raise
        return path
