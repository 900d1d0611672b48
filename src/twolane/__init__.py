"""Hybrid search over the things people write down and save.

`Library` is the way in; the values it takes and gives are in `twolane.model`,
what it raises in `twolane.model.errors`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.explain.diagnosis import Diagnosis
    from twolane.explain.similar import SimilarAnswer
    from twolane.library import Library
    from twolane.model.answer import Answer, Mode, Result
    from twolane.model.document import Document, Kind, digest
    from twolane.model.draft import Draft, Saved
    from twolane.model.errors import (
        BadGoldenSet,
        BadInput,
        EmbedderUnavailable,
        NoSuchDocument,
        TwolaneError,
    )
    from twolane.model.scope import Capability, Scope
    from twolane.model.space import Generation, Progress, Space
    from twolane.settings import Settings
    from twolane.text.tokens import analyze

__all__ = [
    "Answer",
    "BadGoldenSet",
    "BadInput",
    "Candidate",
    "Capability",
    "Diagnosis",
    "Document",
    "Draft",
    "EmbedderUnavailable",
    "Generation",
    "Kind",
    "Library",
    "Mode",
    "NoSuchDocument",
    "Progress",
    "Result",
    "Saved",
    "Scope",
    "Settings",
    "SimilarAnswer",
    "Space",
    "TwolaneError",
    "__version__",
    "analyze",
    "digest",
]

__version__ = "0.1.0"

_HOMES = {
    "Answer": "twolane.model.answer",
    "BadGoldenSet": "twolane.model.errors",
    "BadInput": "twolane.model.errors",
    "Candidate": "twolane.model.candidate",
    "Capability": "twolane.model.scope",
    "Diagnosis": "twolane.explain.diagnosis",
    "Document": "twolane.model.document",
    "Draft": "twolane.model.draft",
    "EmbedderUnavailable": "twolane.model.errors",
    "Generation": "twolane.model.space",
    "Kind": "twolane.model.document",
    "Library": "twolane.library",
    "Mode": "twolane.model.answer",
    "NoSuchDocument": "twolane.model.errors",
    "Progress": "twolane.model.space",
    "Result": "twolane.model.answer",
    "Saved": "twolane.model.draft",
    "Scope": "twolane.model.scope",
    "Settings": "twolane.settings",
    "SimilarAnswer": "twolane.explain.similar",
    "Space": "twolane.model.space",
    "TwolaneError": "twolane.model.errors",
    "analyze": "twolane.text.tokens",
    "digest": "twolane.model.document",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `twolane --version` stays quick."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'twolane' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
