"""Asking a chat model with the prompt of a stage; what it answered is kept and not asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from twolane.embedding.chat.prompts import prompt_of
from twolane.embedding.stages import Stage
from twolane.ports.chat import Chat, Reply

T = TypeVar("T")


def ask_chat(
    chat: Chat, stage: Stage, text: str, read: Callable[[str], T], *, most_tokens: int
) -> T:
    """What `read` makes of the model's answer; StageError if there is none in time.

    What `read` refuses, with StageError, is a failure of the model and is not kept.
    """
    prompt = prompt_of(stage.name)
    key = prompt.key(chat.name, text)
    known = stage.store.answer(stage.name, key)
    if known is not None:
        return read(known)

    def ask() -> tuple[Reply, T]:
        reply = chat.complete(prompt.instructions, text, most_tokens=most_tokens)
        return reply, read(reply.text)

    reply, answer = stage.ask(ask, lambda asked: asked[0].tokens)
    stage.store.keep(key, reply.text)
    return answer
