"""The prompts of stages that ask a chat model: files with a version, which is part of every key."""

from __future__ import annotations

from functools import cache
from importlib import resources

from twolane.model.document import digest
from twolane.model.values import dataclass

# The version of each prompt that is in use; another text is another version.
VERSIONS = {"expand": 1, "summarize": 1}


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
