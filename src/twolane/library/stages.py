"""The optional stages of one library: made of its settings, or not there at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from twolane.library.adapters import open_chat, open_reranker, open_stage_store
from twolane.library.completeness import StagesStanding
from twolane.settings import Settings

if TYPE_CHECKING:
    # A library without stages imports none of this.
    from twolane.ports import Stores
    from twolane.ports.stages import StageStore
    from twolane.ranking.expanding import Expanding
    from twolane.ranking.reranking import Reranking

# So much of a passage the reranker read that was measured to hurt, in characters.
_SHORT_PASSAGE = 512


@dataclass(slots=True)
class Stages:
    """The stages that the settings switch on, and what closes them."""

    store: StageStore | None = None
    reranking: Reranking | None = None
    expanding: Expanding | None = None
    _closers: tuple[Callable[[], None], ...] = ()

    @property
    def standing(self) -> StagesStanding:
        """How every stage did that ever ran, and what is kept of their answers."""
        if self.store is None:
            return StagesStanding()
        return StagesStanding(tuple(self.store.records()), *self.store.kept())

    def close(self) -> None:
        """Let go of connections, threads and the file."""
        for close in self._closers:
            close()


def open_stages(stores: Stores, settings: Settings) -> Stages:
    """The stages that the settings switch on; without any, nothing is imported or opened."""
    reranks = settings.rerank.reranker != "none"
    if not reranks and not settings.expand.enabled:
        return Stages()
    store = open_stage_store(settings)
    reranking = _reranking(stores, settings, store) if reranks else None
    expanding = _expanding(settings, store) if settings.expand.enabled else None
    parts: list[object] = []
    if reranking is not None:
        parts += [reranking.reranker, reranking.stage]
    if expanding is not None:
        parts += [expanding.chat, expanding.stage]
    closers = [close for one in (*parts, store) if (close := getattr(one, "close", None))]
    return Stages(store, reranking, expanding, tuple(closers))


def _expanding(settings: Settings, store: StageStore) -> Expanding:
    from twolane.embedding.stages import Stage, StageLimits
    from twolane.ranking.expanding import Expanding

    expand, chat = settings.expand, open_chat(settings)
    limits = StageLimits(expand.seconds, "expand.seconds", settings.stages.failures)
    return Expanding(chat, Stage("expand", chat.name, store, limits), expand.confident)


def _reranking(stores: Stores, settings: Settings, store: StageStore) -> Reranking:
    from twolane.embedding.stages import Stage, StageLimits
    from twolane.ranking.reranking import Reranking
    from twolane.results.results import passages_to_read

    rerank, way = settings.rerank, settings.experiment.reranking
    reranker = open_reranker(settings)
    limits = StageLimits(rerank.seconds, "rerank.seconds", settings.stages.failures)
    passages = partial(
        passages_to_read,
        stores.documents,
        whole=way == "replace-whole",
        letters=_SHORT_PASSAGE if way == "replace" else None,
    )
    return Reranking(
        reranker,
        Stage("rerank", reranker.name, store, limits),
        passages,
        rerank.documents,
        rerank.weight,
        replaces=way != "blend",
    )
