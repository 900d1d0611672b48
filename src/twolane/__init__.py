"""Hybrid search over the things people write down and save.

`Library` is the way in; the values it takes and gives are in `twolane.model`,
what it raises in `twolane.errors`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.answers import Answer, Mode, Result
    from twolane.diagnose.values import Diagnosis
    from twolane.drafts import Draft, Saved
    from twolane.errors import TwolaneError
    from twolane.library import Library
    from twolane.model import Document, Kind, digest
    from twolane.scopes import Capability, Scope
    from twolane.settings import Settings
    from twolane.similar.values import SimilarAnswer

__all__ = [
    "Answer",
    "Capability",
    "Diagnosis",
    "Document",
    "Draft",
    "Kind",
    "Library",
    "Mode",
    "Result",
    "Saved",
    "Scope",
    "Settings",
    "SimilarAnswer",
    "TwolaneError",
    "__version__",
    "digest",
]

__version__ = "0.1.0"

_HOMES = {
    "Answer": "twolane.answers",
    "Capability": "twolane.scopes",
    "Diagnosis": "twolane.diagnose.values",
    "Document": "twolane.model",
    "Draft": "twolane.drafts",
    "Kind": "twolane.model",
    "Library": "twolane.library",
    "Mode": "twolane.answers",
    "Result": "twolane.answers",
    "Saved": "twolane.drafts",
    "Scope": "twolane.scopes",
    "Settings": "twolane.settings",
    "SimilarAnswer": "twolane.similar.values",
    "TwolaneError": "twolane.errors",
    "digest": "twolane.model",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `twolane --version` stays quick."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'twolane' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
