"""Any server that speaks the `/v1/chat/completions` protocol."""

from __future__ import annotations

from typing import Any

from twolane.embedding.embedders.endpoint import Endpoint
from twolane.model.errors import EmbedderError, StageError
from twolane.ports.chat import Reply

# What an answer can have at most: so many bytes for a token, and what is said beside the text.
_TOKEN_BYTES = 64
_ANSWER_BYTES = 64 * 1024


class OpenAiChat:
    """Asks a server; safe to share."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    @property
    def name(self) -> str:
        """The model as the server knows it."""
        return self._model or "chat"

    def complete(self, instructions: str, text: str, *, most_tokens: int) -> Reply:
        """What the model writes, as surely as it can."""
        body: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": text},
            ],
            "temperature": 0,
            "max_tokens": most_tokens,
            "stream": False,
        }
        if self._model:
            body["model"] = self._model
        most = _ANSWER_BYTES + _TOKEN_BYTES * most_tokens
        try:
            answer = self._endpoint.post("chat/completions", body, patient=False, most=most)
        except EmbedderError as error:
            raise StageError(str(error)) from error
        try:
            written = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise StageError(
                f"the server's answer holds no text ({type(error).__name__})"
            ) from error
        if not isinstance(written, str):
            raise StageError("the server's answer holds no text")
        return Reply(written, _tokens(answer))

    def close(self) -> None:
        """Let go of the connections."""
        self._endpoint.close()


def _tokens(answer: dict[str, Any]) -> int:
    """What the server counts; what it does not count, or counts oddly, is nothing."""
    usage = answer.get("usage")
    told = usage.get("total_tokens") if isinstance(usage, dict) else None
    return told if isinstance(told, int) and 0 <= told < 10_000_000 else 0
