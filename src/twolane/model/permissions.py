"""The gate: what a scope may not do is refused before a store is touched."""

from __future__ import annotations

from twolane.model.errors import NotPermitted
from twolane.model.scope import Capability, Scope


def require(scope: Scope, capability: Capability) -> None:
    """Raise NotPermitted unless the scope has the capability."""
    if capability not in scope.capabilities:
        raise NotPermitted(capability)
