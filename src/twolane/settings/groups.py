"""Every setting, by group: its name, type, default, meaning and what is allowed.

This is the one definition; the loader, `twolane settings` and the reference read it.
"""

from __future__ import annotations

from pathlib import Path

from twolane.model.deep_links import template_problem
from twolane.model.values import dataclass
from twolane.settings.values import Address, Secret, between, is_known_server, one_of, setting

EMBEDDERS = ("auto", "use", "e5", "ensemble", "onnx", "openai", "hashing", "none")
RERANKERS = ("none", "http", "onnx")

_WEIGHT = between(0, 100)


@dataclass(frozen=True, slots=True)
class Search:
    """What a search gives, and how long it may take."""

    limit: int = setting(20, "How many results a search gives.", between(1, 1000), shown=True)
    semantic: bool = setting(
        True, "Whether searches use meaning; if not, vectors are still kept.", shown=True
    )
    repair: bool = setting(
        True,
        "Whether words that no document holds are repaired: typos, keyboard layout, compounds.",
    )
    pool: int = setting(100, "How many documents each lane brings to fusion.", between(1, 1000))
    min_relevance: float = setting(
        0.0, "Results less likely to be relevant than this are not shown.", between(0, 1)
    )
    min_similarity: float = setting(
        0.0,
        "Passages less similar than this are no hits of the dense lane. 0: the threshold that was "
        "published for `embedding.model`, if there is one.",
        between(-1, 1),
    )
    query_seconds: float = setting(
        5.0,
        "How long a search, or another question, may look for its answer. A lane that is not done "
        "by then gives what it has, and the answer names it in `degraded`.",
        between(0.01, 3600),
    )
    embed_seconds: float = setting(
        10.0, "How long a search waits for the query's vector before it does without.", between(0)
    )


@dataclass(frozen=True, slots=True)
class Results:
    """How a result is opened."""

    editor: str = setting(
        "", "The command that opens what was found. Unset: `$VISUAL` or `$EDITOR`.", shown=True
    )
    link_template: str = setting(
        "",
        "A link that opens a note in another program, such as `obsidian://open?path={path}`; may "
        "hold `{path}`, `{collection}`, `{file}` (within the collection), `{name}` and `{line}`. "
        "Unset: Obsidian for notes in a vault of its own, else none.",
        template_problem,
        shown=True,
    )


@dataclass(frozen=True, slots=True)
class Index:
    """Which notes are indexed, and how they are read and written."""

    include: tuple[str, ...] = setting(
        ("*.md", "*.markdown"), "File name patterns of notes in a vault.", shown=True
    )
    exclude: tuple[str, ...] = setting(
        (), "Paths to leave out, as in `.gitignore`, beside the ignore files.", shown=True
    )
    outside_links: bool = setting(
        False, "Whether links in a vault are followed to files and folders outside of it."
    )
    languages: tuple[str, ...] = setting(
        ("en", "ru", "de", "fr", "es", "it", "pt", "nl", "sv", "uk", "zh", "ja", "ko"),
        "Languages that notes may be in; the detector chooses among them.",
        lambda value: None if value else "must name at least one language",
        shown=True,
    )
    max_file_bytes: int = setting(
        20_000_000, "Larger files are reported and not indexed.", between(1)
    )
    chunk_tokens: int = setting(
        450, "Size of a passage in tokens; fits the window of small models.", between(128, 8000)
    )
    chunk_overlap: int = setting(
        0, "Tokens of the previous passage repeated at the start of the next.", between(0, 400)
    )
    exact_bodies: bool = setting(
        True, "Whether parts of words are found in texts, not only in names; takes space."
    )
    cores: int = setting(
        0,
        "How many processes analyse documents while many are indexed or imported; 0 is all cores "
        "on the command line and 1 in the library, where a program with more needs a main guard.",
        between(0, 64),
    )
    batch: int = setting(200, "Documents per transaction while indexing.", between(1, 10_000))
    busy_seconds: float = setting(
        10.0, "How long to wait for another process that writes to the database.", between(0, 3600)
    )
    synchronous: str = setting(
        "normal",
        "What a power cut may take: with `normal` the last saves, whole, though never the "
        "database; with `full` nothing that was acknowledged, and each save waits for the disk.",
        one_of("normal", "full"),
    )
    watch_debounce: float = setting(
        1.0, "How long `watch` gathers changes before it looks, in seconds.", between(0.001, 3600)
    )
    watch_seconds: float = setting(
        2.0, "How often `watch` looks if the system gives no notice.", between(0.01, 86_400)
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which model gives meaning to text, how it is asked, and when new vectors serve."""

    embedder: str = setting(
        "auto",
        "Which model gives meaning to text: `use` (comes with the package), `e5` or `ensemble` "
        "(both models; best and slowest; need the extra `e5`), `onnx` (a model in a folder of "
        "yours), `openai` (a server), `hashing` (for tests), or `none` to make no vectors. "
        "`auto` is `use` at once and, with the extra, `ensemble` later.",
        one_of(*EMBEDDERS),
        shown=True,
    )
    model: str = setting(
        "",
        "The model of `onnx` (folder or hub id of a sentence-transformers ONNX export) or of "
        "`openai` (the name that the server knows it by).",
        shown=True,
    )
    revision: str = setting(
        "",
        "Any text; a new one makes all vectors of `openai` anew, as when the server answers with "
        "another model by the same name.",
    )
    url: str = setting(
        "https://api.openai.com/v1", "Address of `openai`, up to `/embeddings`.", shown=True
    )
    key: Secret = setting(
        Secret(), "Key for `openai`; never shown, logged or stored in a run.", shown=True
    )
    dimensions: int = setting(
        0, "Length of the vectors of `openai`; 0 if the model's is known.", between(0, 20_000)
    )
    max_tokens: int = setting(
        0, "The longest text that `openai` reads, in tokens; 0: 8,191.", between(0, 1_000_000)
    )
    encoding: str = setting(
        "base64",
        "How `openai` sends vectors; `float` for servers that know nothing else.",
        one_of("base64", "float"),
    )
    input_type: bool = setting(False, "Whether `openai` is told if a text is a query or a passage.")
    query_prompt: str = setting(
        "", "What `onnx` and `openai` put before a query, instead of the model's own."
    )
    passage_prompt: str = setting(
        "", "What `onnx` and `openai` put before a passage, instead of the model's own."
    )
    threads: int = setting(0, "Threads of `onnx`; 0: one for each core.", between(0, 256))
    request_texts: int = setting(
        2048, "The most texts in one request to `openai`.", between(1, 2048)
    )
    requests_per_minute: int = setting(
        0,
        "How many requests a minute a process makes to `openai` at the most while it embeds "
        "passages; 0 is no limit. Searches are counted, and do not wait.",
        between(0),
    )
    tokens_per_minute: int = setting(
        0, "How many tokens a minute these requests have at the most; 0 is no limit.", between(0)
    )
    request_seconds: float = setting(
        30.0, "How long one request to `openai` may take.", between(0.1, 3600)
    )
    request_tries: int = setting(
        5, "How often a request is made while `openai` is down or busy.", between(1, 100)
    )
    passage_tries: int = setting(
        8,
        "How often a passage is tried until it is given up; that is tried again every hour, when "
        "the embedder is well again, and by `embed --retry-failed`.",
        between(1, 100),
    )
    retry_seconds: float = setting(
        5.0, "How long to wait before the second try; then longer and longer.", between(0, 86_400)
    )
    save_seconds: float = setting(
        0.2, "How long a save waits for the vectors of what it saved.", between(0, 60)
    )
    keep_generations: int = setting(
        1, "How many sets of vectors that were replaced are kept for a return.", between(0, 100)
    )
    gate: Path | None = setting(
        None,
        "A golden set that new vectors must answer as well as those that serve, before they take "
        "over. Unset: what is complete takes over.",
    )
    gate_tolerance: float = setting(
        0.01, "How much worse, in nDCG@10, the gate still lets through.", between(0, 1)
    )


@dataclass(frozen=True, slots=True)
class Fetch:
    """Whether the pages of bookmarks are fetched, and within which limits."""

    pages: bool = setting(
        False,
        "Whether `save`, `import bookmarks` and `fetch` may fetch the text of a bookmark's page.",
        shown=True,
    )
    seconds: float = setting(
        10.0, "How long a page may take, with all its redirects.", between(0.1, 600)
    )
    max_bytes: int = setting(
        2_000_000, "Of larger pages the beginning is read.", between(1000, 100_000_000)
    )
    connections: int = setting(8, "How many pages are fetched at a time.", between(1, 64))
    private: bool = setting(
        False, "Whether pages in private networks, and on this machine, may be fetched, too."
    )


@dataclass(frozen=True, slots=True)
class Postgres:
    """How a PostgreSQL database is used, where `db` names one."""

    connections: int = setting(
        10, "How many connections a process holds at the most.", between(2, 1000)
    )
    replica: Address | None = setting(
        None,
        "Address of a read-only copy of the database, which searches ask. While it does not "
        "answer, the database itself does, and answers say so in `degraded`.",
        is_known_server,
    )


@dataclass(frozen=True, slots=True)
class Qdrant:
    """A Qdrant cluster that searches beside the database, where there is one."""

    urls: tuple[str, ...] = setting(
        (),
        "Addresses of the nodes (`http://host:6333`); gRPC is expected at the port behind each. "
        "Unset: the database itself is searched.",
    )
    key: Secret = setting(Secret(), "Key of the cluster; never shown, logged or stored in a run.")
    name: str = setting("twolane", "What the names of the library's collections begin with.")
    seconds: int = setting(
        2, "How long a search waits for one node before it asks the next.", between(1, 600)
    )
    lag_seconds: float = setting(
        30.0, "From how far behind the database on answers say so in `degraded`.", between(0)
    )
    shards: int = setting(
        1, "Into how many shards `twolane db reindex` splits each collection.", between(1, 1000)
    )
    replicas: int = setting(
        1, "On how many nodes it keeps each shard; with 2 a node may fail.", between(1, 100)
    )
    write_consistency: int = setting(
        1, "How many of these must confirm what is written; the others catch up.", between(1, 100)
    )
    read_consistency: str = setting(
        "",
        "How many must agree on what is read: `majority`, `quorum` or `all`. Unset: the first that "
        "answers is believed.",
        one_of("", "majority", "quorum", "all"),
    )
    quantisation: str = setting(
        "scalar",
        "How vectors are kept in memory: `scalar` (a byte a number), `binary` (a bit a number) or "
        "`none`; the best are compared again by the vectors themselves.",
        one_of("scalar", "binary", "none"),
    )
    oversampling: float = setting(
        2.0, "How many times as many as needed are compared again.", between(1, 100)
    )
    on_disk: bool = setting(False, "Whether the vectors themselves are left on disk.")
    exact: bool = setting(False, "Whether every vector is compared, without an index.")
    ef: int = setting(
        128, "How many passages the index looks at, at least; more find more.", between(1, 10_000)
    )
    batch: int = setting(100, "How many documents are written at a time.", between(1, 10_000))


@dataclass(frozen=True, slots=True)
class Server:
    """Where `twolane serve` listens, whom it lets in, and how much it takes on."""

    host: str = setting("127.0.0.1", "The address that the server listens on.", shown=True)
    port: int = setting(
        8765, "The port that it listens on; 0 takes a free one.", between(0, 65535), shown=True
    )
    hosts: tuple[str, ...] = setting(
        (), "Further names that the server is known by, such as that of a reverse proxy."
    )
    origins: tuple[str, ...] = setting(
        (), "Other sites whose pages may ask the server: `https://notes.example`."
    )
    require_token: str = setting(
        "auto",
        "When a token is asked for: `always`; `auto`: once a token was made, or if the server can "
        "be reached by another name or address than this machine's own; or `never`, which only a "
        "server takes that others cannot reach.",
        one_of("auto", "always", "never"),
    )
    tokens: Path | None = setting(
        None,
        "The file in which an earlier version kept tokens; the database takes them over, once. "
        "Unset: beside the database.",
    )
    judgments: Path | None = setting(
        None,
        "The golden set that judgments are added to; owners have one each, beside it. "
        "Unset: beside the database.",
    )
    processes: int = setting(
        0, "How many processes answer searches; 0 answers in the server itself.", between(0, 64)
    )
    threads: int = setting(4, "How many requests are worked on at a time.", between(1, 64))
    queue: int = setting(
        32, "How many requests may wait before others are turned away.", between(0, 10_000)
    )
    request_seconds: float = setting(
        30.0, "How long a request is worked on, or its body waited for.", between(0.1, 3600)
    )
    head_seconds: float = setting(
        10.0, "How long a client may take to send the head of a request.", between(0.1, 3600)
    )
    connections: int = setting(
        400,
        "How many connections may be open; then who has kept the server waiting longest makes room "
        "for the next.",
        between(2, 100_000),
    )
    max_body_bytes: int = setting(10_000_000, "Larger requests are refused.", between(1000))
    requests_per_minute: int = setting(
        1200, "How often one token or address may ask; 0 is no limit.", between(0)
    )
    log_queries: bool = setting(
        False, "Whether the log tells what was searched for, and which documents were read."
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """What decides the order of results; the defaults are measured, and few gain by others."""

    fusion: str = setting(
        "model",
        "How lanes become one order: `model` (the weighted sum of features) or `rrf` (reciprocal "
        "rank fusion).",
        one_of("model", "rrf"),
    )
    model_file: Path | None = setting(
        None,
        "Weights of your own, made by `twolane eval fit`. Unset: `model.json` in the data "
        "directory, else those of the package.",
    )
    rrf_k: float = setting(
        60.0, "Constant of rank fusion: the larger, the less the first ranks stand out.", between(0)
    )
    lexical_weight: float = setting(1.0, "Weight of the lexical lane in rank fusion.", _WEIGHT)
    dense_weight: float = setting(1.0, "Weight of the dense lane in rank fusion.", _WEIGHT)
    common_share: float = setting(
        0.2, "A word in more of the documents does not pick candidates by itself.", between(0, 1)
    )
    parallel_documents: bool = setting(
        True, "Whether documents that say the same in two languages speak for each other."
    )
    boilerplate: bool = setting(
        True, "Whether lines that many documents hold are left out of what is embedded."
    )
    fold_copies: bool = setting(
        True, "Whether copies of a document come after what says something else."
    )


@dataclass(frozen=True, slots=True)
class Rerank:
    """An optional stage: a model that reads the best passages together with the query."""

    reranker: str = setting(
        "none",
        "What reads the best passages together with the query: `http` (a server with `/rerank`), "
        "`onnx` (a cross-encoder in a folder of yours) or `none`.",
        one_of(*RERANKERS),
        shown=True,
    )
    model: str = setting(
        "", "The folder of `onnx`, or the name that the server of `http` knows its model by."
    )
    url: str = setting("", "Address of `http`, up to `/rerank`.")
    key: Secret = setting(Secret(), "Key for `http`; never shown, logged or stored in a run.")
    request: str = setting(
        "documents",
        "How `http` names the passages: `documents` (Jina, Cohere, vLLM, llama.cpp) or `texts` "
        "(Text Embeddings Inference).",
        one_of("documents", "texts"),
    )
    scores: str = setting(
        "chances",
        "What `http` answers with: `chances` from 0 to 1, or `logits`, which may be any number.",
        one_of("chances", "logits"),
    )
    documents: int = setting(
        20, "How many of the best documents are read; each takes time.", between(1, 200)
    )
    max_tokens: int = setting(
        512, "Passages are cut to about so many tokens before `http` gets them.", between(16)
    )
    seconds: float = setting(
        0.5, "How long a search waits for it; then the order stands as it was.", between(0.01, 60)
    )
    weight: float = setting(
        0.2,
        "Its weight in the ranking model, in log-odds, until `twolane eval fit` finds the one that "
        "this very reranker deserves.",
        _WEIGHT,
    )
    threads: int = setting(0, "Threads of `onnx`; 0: one for each core.", between(0, 256))


@dataclass(frozen=True, slots=True)
class Expand:
    """An optional stage: a chat model words a query in other ways, where the search is not sure."""

    enabled: bool = setting(False, "Whether a chat model words queries in other ways.", shown=True)
    url: str = setting("", "Address of the chat model, up to `/chat/completions`.")
    model: str = setting("", "The name that the server knows the chat model by.")
    key: Secret = setting(
        Secret(), "Key for the chat model; never shown, logged or stored in a run."
    )
    seconds: float = setting(
        3.0, "How long a search waits for it; then it answers without.", between(0.01, 60)
    )
    confident: float = setting(
        0.5, "From this relevance of the best result on, it is not asked.", between(0, 1)
    )


@dataclass(frozen=True, slots=True)
class Summaries:
    """An optional stage behind the scenes: a chat model summarises long documents."""

    enabled: bool = setting(
        False, "Whether a chat model summarises long documents that lack a summary."
    )
    url: str = setting("", "Address of the chat model, up to `/chat/completions`.")
    model: str = setting("", "The name that the server knows the chat model by.")
    key: Secret = setting(
        Secret(), "Key for the chat model; never shown, logged or stored in a run."
    )
    seconds: float = setting(60.0, "How long one summary may take.", between(0.01, 3600))
    min_tokens: int = setting(
        1000, "Documents of about so many tokens or more get a summary.", between(1)
    )
    max_tokens: int = setting(
        2000, "Of longer documents the chat model reads about so many tokens.", between(100)
    )


@dataclass(frozen=True, slots=True)
class Feedback:
    """Which results were opened for which queries: noted on this machine, if you wish."""

    enabled: bool = setting(
        False,
        "Whether it is noted which result was opened for which query, in a file beside the "
        "database. It never changes the ranking.",
    )
    days: float = setting(365.0, "How long such a note is kept.", between(0))


@dataclass(frozen=True, slots=True)
class Stages:
    """What holds for all optional stages: when they pause, and what is kept of their answers."""

    failures: int = setting(3, "After so many failures in a row a stage pauses.", between(1, 1000))
    pause_seconds: float = setting(
        60.0, "How long it pauses before it is tried again.", between(0, 86_400)
    )
    cache_megabytes: float = setting(
        20.0, "How much is kept of the answers of chat models; the oldest go first.", between(0)
    )
    cache_days: float = setting(30.0, "How long such an answer is kept.", between(0))


@dataclass(frozen=True, slots=True)
class Experiment:
    """Ways of doing it that lost; kept so that `twolane eval ablate` can show by how much."""

    chunk_characters: int = setting(
        0, "If not 0, the size of a passage in characters, not tokens.", between(0, 100_000)
    )
    breadcrumb: bool = setting(
        True, "Whether a passage is embedded under its headings or under the title alone."
    )
    stemming: str = setting(
        "per-language", "`per-language`, or the code of a language that stems every word."
    )
    dense_pool: int = setting(
        0, "If not 0, the dense lane brings at most this many documents.", between(0, 1000)
    )
    letters: bool = setting(True, "Whether the lanes for names and literal text run.")
    similarity: str = setting(
        "dot", "`dot`, or `cosine`: the same for unit vectors, and slower.", one_of("dot", "cosine")
    )
    relaxation: str = setting(
        "graded",
        "Which documents the lexical lane finds: `graded` (all words first, then most, then "
        "some), `all` (every word must occur) or `any` (one word is enough for a full vote).",
        one_of("graded", "all", "any"),
    )
    centring: bool = setting(
        True, "Whether vectors with the accent of a language are centred by it."
    )
    reranking: str = setting(
        "blend",
        "What a reranker's scores do: `blend` (one feature among others), `replace` (they alone "
        "order what was read) or `replace-whole` (the same, reading whole documents).",
        one_of("blend", "replace", "replace-whole"),
    )
