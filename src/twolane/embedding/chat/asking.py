"""Asking a chat model with the prompt of a stage; what it answered is kept and not asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeVar

from twolane.embedding.stages import Stage
from twolane.model.document import digest
from twolane.ports.chat import Chat, Reply

T = TypeVar("T")

# The version of each prompt that is in use; another text is another version.
VERSIONS = {"expand": 1, "summarize": 1}


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


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is told to do."""

    stage: str
    version: int
    instructions: str

    def key(self, model: str, text: str) -> str:
        """A name for what this model answers to this text."""
        return digest("\0".join((self.stage, str(self.version), model, text)))


@cache
def prompt_of(stage: str) -> Prompt:
    """The prompt of a stage as it is in use."""
    version = VERSIONS[stage]
    folder = resources.files("twolane.embedding.chat").joinpath("prompts")
    text = folder.joinpath(f"{stage}-{version}.txt").read_text("utf-8")
    return Prompt(stage, version, text)
