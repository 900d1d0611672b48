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
    "relevance_file": "ranking.model_file",
    "counterparts": "ranking.parallel_documents",
    "forms": "ranking.boilerplate",
    "abstention": None,
    "brevity": None,
    "confidence": None,
    "coverage_power": None,
    "exact_weight": None,
    "identity_weight": None,
    "keyword_dense_weight": None,
    "kind_floor": None,
    "recency_weight": None,
    "sentence_weight": None,
    "tag_weight": None,
    "translation_weight": None,
    "usage_weight": None,
    "use_weight": None,
    "phrasing_weight": None,
}
