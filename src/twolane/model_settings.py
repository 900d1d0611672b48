"""The settings of embedders that are brought along, and of the gate before new vectors serve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twolane.setting_values import Secret, between, one_of, setting


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model of one's own gives meaning to text, and how it is asked."""

    model: str = setting(
        "",
        "The model of `onnx` and `openai`: the folder or hub id of a sentence-transformers ONNX "
        "export, or the name that the server knows it by (`text-embedding-3-small`).",
    )
    model_url: str = setting(
        "https://api.openai.com/v1", "Address of the server of `openai`, up to `/embeddings`."
    )
    model_key: Secret = setting(
        Secret(), "Key for the server of `openai`; never shown, logged or stored in a run."
    )
    model_dimensions: int = setting(
        0,
        "How long the vectors of `openai` are, also asked of the server; 0 leaves it to a model "
        "whose length is known.",
        between(0, 20_000),
    )
    model_tokens: int = setting(
        0,
        "The longest text that the model of `openai` reads, in estimated tokens; longer ones lose "
        "their end, and are counted. 0: 8,191.",
        between(0, 1_000_000),
    )
    model_encoding: str = setting(
        "base64",
        "How the server of `openai` sends vectors; `float` for servers that know nothing else.",
        one_of("base64", "float"),
    )
    model_input_type: bool = setting(
        False, "Whether the server of `openai` is told if a text is a query or a passage."
    )
    model_batch: int = setting(
        2048, "The most texts in one request to the server of `openai`.", between(1, 2048)
    )
    model_seconds: float = setting(
        30.0, "How long one request to the server of `openai` may take.", between(0.1, 3600)
    )
    model_tries: int = setting(
        5, "How often a request is made while the server is down or busy.", between(1, 100)
    )
    model_threads: int = setting(
        0, "Threads of `onnx`; 0: as many as the machine has cores.", between(0, 256)
    )
    query_prompt: str = setting(
        "", "What `onnx` and `openai` put before a query, instead of the model's own."
    )
    passage_prompt: str = setting(
        "", "What `onnx` and `openai` put before a passage, instead of the model's own."
    )
    gate: Path | None = setting(
        None,
        "A golden set that new vectors must answer as well as those that serve, before they take "
        "over, whichever command makes them. Unset: what is complete takes over.",
    )
    gate_tolerance: float = setting(
        0.01, "How much worse, in nDCG@10, the gate still lets through.", between(0, 1)
    )
