"""Names of settings before they had groups; they work, with a warning, for one release.

A setting that is not listed here was called what it is called now, without its group.
"""

from __future__ import annotations

# None: nobody had a reason to change it, so that it is a constant now.
RENAMED: dict[str, str | None] = {
    "model_url": "embedding.url",
    "model_key": "embedding.key",
    "model_dimensions": "embedding.dimensions",
    "model_tokens": "embedding.max_tokens",
    "model_encoding": "embedding.encoding",
    "model_input_type": "embedding.input_type",
    "model_batch": "embedding.request_texts",
    "model_seconds": "embedding.request_seconds",
    "model_tries": "embedding.request_tries",
    "model_threads": "embedding.threads",
    "embed_tries": "embedding.passage_tries",
    "save_embed_seconds": "embedding.save_seconds",
    "threads": "server.threads",
    "request_seconds": "server.request_seconds",
    "embed_batch_tokens": None,
    "retry_most_seconds": None,
    "half_life_days": None,
    "half_uses": None,
}
