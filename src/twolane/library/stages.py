"""The optional stages of one library: made of its settings, or not there at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from twolane.library.adapters import open_chat, open_reranker, open_stage_store
from twolane.library.completeness import StagesStanding
from twolane.settings import Settings

if TYPE_CHECKING:
    # A library without stages imports none of this.
    from twolane.embedding.pipeline.summarizing import Summarizing
    from twolane.embedding.stages import Stage
    from twolane.model.candidate import Candidate
    from twolane.ports import Stores
    from twolane.ports.chat import Chat
    from twolane.ports.reranker import Reranker
    from twolane.ports.stages import StageStore
    from twolane.query.analyzer import AnalyzedQuery
    from twolane.ranking.expanding import Expanding
    from twolane.ranking.reranking import Reranking
    from twolane.settings.groups import Expand, Summaries

# So much of a passage the reranker read that was measured to hurt, in characters.
_SHORT_PASSAGE = 512


class Stages:
    """The stages that are switched on; without settings, none."""

    def __init__(self, stores: Stores | None = None, settings: Settings | None = None) -> None:
        """Without any stage nothing is imported or opened."""
        self._closers = ExitStack()
        self._store: StageStore | None = None
        self.reranking: Reranking | None = None
        self.expanding: Expanding | None = None
        self.summarizing: Summarizing | None = None
        if stores is None or settings is None:
            return
        if settings.rerank.reranker != "none":
            self.reranking = self._reranking(stores, settings)
        if settings.expand.enabled:
            self.expanding = self._expanding(settings)
        if settings.summaries.enabled:
            self.summarizing = self._summarizing(stores, settings)

    @property
    def standing(self) -> StagesStanding:
        """How every stage did that ever ran, and what is kept of their answers."""
        if self._store is None:
            return StagesStanding()
        return StagesStanding(tuple(self._store.records()), *self._store.kept())

    def close(self) -> None:
        """Let go of connections, threads and the file."""
        self._closers.close()

    def _stage(
        self, name: str, model: Chat | Reranker, seconds: float, settings: Settings, setting: str
    ) -> Stage:
        from twolane.embedding.stages import Stage, StageLimits

        if self._store is None:
            self._store = open_stage_store(settings)
            self._closers.callback(self._store.close)
        limits = StageLimits(seconds, setting, settings.stages.failures)
        stage = Stage(name, model.name, self._store, limits)
        self._closers.callback(stage.close)
        if close := getattr(model, "close", None):
            self._closers.callback(close)
        return stage

    def _reranking(self, stores: Stores, settings: Settings) -> Reranking:
        from twolane.ranking.reranking import Reranking
        from twolane.results.results import passages_to_read

        rerank, way = settings.rerank, settings.experiment.reranking
        reranker = open_reranker(settings)
        read = partial(
            passages_to_read,
            stores.documents,
            whole=way == "replace-whole",
            letters=_SHORT_PASSAGE if way == "replace" else None,
        )

        def passages(query: AnalyzedQuery, candidates: Sequence[Candidate]) -> dict[str, str]:
            texts = read(query, candidates)
            # A reranker takes its time.
            stores.searched.pause()
            return texts

        return Reranking(
            reranker,
            self._stage("rerank", reranker, rerank.seconds, settings, "rerank.seconds"),
            passages,
            rerank.documents,
            rerank.weight,
            replaces=way != "blend",
        )

    def _expanding(self, settings: Settings) -> Expanding:
        from twolane.ranking.expanding import Expanding

        chat, stage = self._chat("expand", settings.expand, settings, "expand")
        return Expanding(chat, stage, settings.expand.confident)

    def _summarizing(self, stores: Stores, settings: Settings) -> Summarizing:
        from twolane.embedding.pipeline.summarizing import Summarizing

        chat, stage = self._chat("summarize", settings.summaries, settings, "summaries")
        return Summarizing(stores.documents, settings, chat, stage)

    def _chat(
        self, name: str, wanted: Expand | Summaries, settings: Settings, group: str
    ) -> tuple[Chat, Stage]:
        chat = open_chat(wanted, group)
        return chat, self._stage(name, chat, wanted.seconds, settings, f"{group}.seconds")
