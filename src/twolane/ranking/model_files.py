"""Where the weights of the ranking model are found: the user's own first, then the package's."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path

import msgspec

from twolane.model.errors import BadInput
from twolane.ranking.model import LanguageWeights, RankingModel, SpaceWeights
from twolane.settings import Settings, model_path

PACKAGED = "model.json"
FORMAT = "twolane-ranking/1"

_log = logging.getLogger("twolane")


class _File(msgspec.Struct):
    """What a file holds."""

    format: str
    threshold: float
    lexical: LanguageWeights
    spaces: tuple[SpaceWeights, ...]
    reranker: str = ""


def known_model(settings: Settings) -> RankingModel:
    """The weights that a search uses.

    A file of the user's that cannot be read is told and passed over: it must not stop a search.
    """
    packaged = packaged_model()
    file = model_path(settings)
    try:
        own = model_in(file)
    except BadInput as error:
        _log.warning("%s", error)
        return packaged
    return own.before(packaged) if own else packaged


def packaged_model() -> RankingModel:
    """The weights that come with the package."""
    text = Path(__file__).with_name(PACKAGED).read_bytes()
    return _decoded(text)


def model_in(file: Path) -> RankingModel | None:
    """The weights in a file; None if there is no such file."""
    try:
        return _decoded(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, BadInput) as error:
        raise BadInput(
            f"{file} holds no ranking model ({error}); "
            "remove it, or write it again with `twolane eval fit --adopt`"
        ) from error


def model_text(model: RankingModel) -> str:
    """The weights as a file keeps them."""
    said = asdict(model)
    if not model.reranker:
        del said["reranker"]
    encoded = msgspec.json.encode({"format": FORMAT, **said})
    return msgspec.json.format(encoded, indent=1).decode() + "\n"


def _decoded(text: bytes) -> RankingModel:
    try:
        found = msgspec.json.decode(text, type=_File)
    except msgspec.MsgspecError as error:
        raise BadInput(str(error)) from error
    if found.format != FORMAT:
        raise BadInput(f"its format is {found.format!r} and not {FORMAT!r}")
    if not found.spaces:
        raise BadInput("it has no weights for any space")
    pairs = [found.lexical, *(pair for one in found.spaces for pair in (one.hybrid, one.semantic))]
    weights = [weights for pair in pairs for weights in (pair.own, pair.foreign)]
    if any(value < 0 for one in weights for value in one.features.values()):
        raise BadInput("a weight is below 0")
    return RankingModel(found.lexical, found.spaces, found.threshold, found.reranker)
