"""Keeping a library in order: checks, mending, copies."""

from __future__ import annotations

import os
from pathlib import Path

from twolane.library.held import LOCAL, Held
from twolane.model.errors import BadInput
from twolane.model.permissions import require
from twolane.model.problem import Problem
from twolane.model.scope import Capability, Scope


class Upkeep(Held):
    """What is done to the library as a whole."""

    @property
    def location(self) -> str:
        """Where the library is kept, as it may be shown to anybody."""
        return self._stores.maintenance.location

    def check(self) -> list[Problem]:
        """Everything that is wrong with the database; empty when it is sound."""
        return self._stores.maintenance.check()

    def repair(self, *, scope: Scope = LOCAL) -> list[Problem]:
        """Mend what can be mended, all of it or nothing; what was done."""
        require(scope, Capability.ADMIN)
        done = self._stores.maintenance.repair()
        if done:
            from twolane.ingest.renewing import renew

            renew(self._stores.documents, self.settings)
            # Letters are looked up quickly again when this returns, not only after more writing.
            self._stores.maintenance.settle()
        return done

    def backup(self, target: str | os.PathLike[str], *, scope: Scope = LOCAL) -> Path:
        """Write a copy of the library as it is now, while it is in use, and verify it.

        If that fails, or the process is killed, there is no file of this name.
        """
        require(scope, Capability.ADMIN)
        path = Path(target).expanduser()
        if not path.parent.is_dir():
            raise BadInput(f"there is no folder {path.parent}; make it first")
        self._stores.maintenance.backup(str(path))
        return path
