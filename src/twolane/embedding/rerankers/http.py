"""Any server that speaks the `/rerank` protocol of Jina, Cohere, vLLM, llama.cpp or TEI.

What it answers is foreign: whatever is not one finite score for each passage is a StageError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from twolane.embedding.embedders.cutting import Cutter
from twolane.embedding.embedders.endpoint import Endpoint
from twolane.model.errors import EmbedderError, StageError
from twolane.model.values import dataclass

# What an answer can have at most: what is said of each passage, and beside all of them.
# Some servers repeat the passages.
_SCORE_BYTES = 512
_ANSWER_BYTES = 64 * 1024
_BYTES_PER_LETTER = 6

# A chance nearer to 0 or 1 than this says no more.
_SUREST = 1e-5


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """How the server is asked, and what its scores are."""

    model: str = ""
    texts: bool = False
    logits: bool = False
    max_tokens: int = 512


class HttpReranker:
    """Asks a server for the scores of passages; safe to share."""

    def __init__(self, endpoint: Endpoint, request: RerankRequest) -> None:
        self._endpoint = endpoint
        self._request = request
        self._cutter = Cutter(request.max_tokens)

    @property
    def name(self) -> str:
        """The model as the server knows it, and what its scores are."""
        return f"http {self._request.model} {'logits' if self._request.logits else 'chances'}"

    def log_odds(self, query: str, passages: Sequence[str]) -> list[float]:
        """For each passage the log-odds that it is relevant, in order."""
        if not passages:
            return []
        sent = [self._cutter.cut(passage) or " " for passage in passages]
        body: dict[str, Any] = {"query": query}
        if self._request.model:
            body["model"] = self._request.model
        if self._request.texts:
            body |= {"texts": sent, "truncate": True, "raw_scores": self._request.logits}
        else:
            body |= {"documents": sent, "top_n": len(sent), "return_documents": False}
        most = _ANSWER_BYTES + sum(_SCORE_BYTES + _BYTES_PER_LETTER * len(one) for one in sent)
        try:
            answer = self._endpoint.post("rerank", body, patient=False, most=most)
        except EmbedderError as error:
            raise StageError(str(error)) from error
        scores = _scores(answer, len(sent))
        return scores if self._request.logits else [_log_odds(score) for score in scores]

    def close(self) -> None:
        """Let go of the connections."""
        self._endpoint.close()


def _scores(answer: Any, count: int) -> list[float]:
    """The scores of an answer, by their index; StageError for any other answer."""
    try:
        items = answer["results"] if isinstance(answer, dict) else answer
        found = {_whole(item["index"]): _number(item) for item in items}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise StageError(
            f"the server's answer holds no scores ({type(error).__name__}: {str(error)[:100]})"
        ) from error
    if len(items) != count or found.keys() != set(range(count)):
        raise StageError(f"asked for {count} scores, got {len(items)} for {len(found)} passages")
    if not all(map(math.isfinite, found.values())):
        raise StageError("the server's answer holds a score that is no number")
    return [found[place] for place in range(count)]


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"the index {value!r:.50} is no whole number")
    return value


def _number(item: Any) -> float:
    value = item["relevance_score"] if "relevance_score" in item else item["score"]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"the score {value!r:.50} is no number")
    return float(value)


def _log_odds(chance: float) -> float:
    if not 0 <= chance <= 1:
        raise StageError(
            f'the score {chance:g} is no chance from 0 to 1; set `rerank.scores` to "logits"'
        )
    within = min(max(chance, _SUREST), 1 - _SUREST)
    return math.log(within / (1 - within))
