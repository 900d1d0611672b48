"""What a sentence-transformers export says about itself in its files."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from twolane.model.errors import EmbedderUnavailable
from twolane.model.values import dataclass

# Where exports keep their graph, the most exact first; the first that is there is taken.
_GRAPHS = (
    "onnx/model.onnx",
    "model.onnx",
    "onnx/model_fp16.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "model_quantized.onnx",
)

# The files of a repository that matter here; weights of other frameworks stay where they are.
_WANTED = ("*.json", "*/config.json", "onnx/model.onnx*", "model.onnx*", "sentencepiece*")

_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
}

# Texts beyond this gain nothing: passages are far shorter.
_LONGEST = 8192

_QUERY_PROMPTS = ("query", "search_query", "retrieval.query")
_PASSAGE_PROMPTS = ("passage", "document", "search_document", "retrieval.passage")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where a model's files are, how many tokens it reads, and what fills up shorter texts."""

    folder: Path
    graph: Path
    longest: int
    padding: int


@dataclass(frozen=True, slots=True)
class EmbedderFiles(ModelFiles):
    """The same of an embedder, and how it is to be used."""

    name: str
    revision: str
    dimensions: int
    pooling: str
    query_prompt: str
    passage_prompt: str


def located(model: str) -> Path:
    """The folder of a model that is named by path or by its id on a hub."""
    if not model:
        raise EmbedderUnavailable(
            "the embedder 'onnx' needs a model; set `embedding.model` to the folder of a "
            "sentence-transformers ONNX export, or to its id on a hub"
        )
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or model.startswith((".", "~")) or model.count("/") != 1:
        raise EmbedderUnavailable(
            f"there is no model folder {model}; correct the setting `embedding.model`"
        )
    return _fetched(model)


def read_model(folder: Path) -> ModelFiles:
    """How the model in the folder is to be used, whatever it is for."""
    graph = _graph(folder)
    config = _json(folder / "config.json")
    padding = int(config.get("pad_token_id") or 0)
    return ModelFiles(folder, graph, _longest(folder, config), padding)


def read_embedder(folder: Path, model: str) -> EmbedderFiles:
    """How the embedder in the folder is to be used; `model` is what the settings call it."""
    files = read_model(folder)
    pooling, dimensions = _pooling(folder, _json(folder / "config.json"))
    query, passage = _prompts(folder)
    return EmbedderFiles(
        folder,
        files.graph,
        files.longest,
        files.padding,
        name=folder.resolve().name if Path(model).expanduser().is_dir() else model,
        revision=_digest(files.graph, folder / "tokenizer.json"),
        dimensions=dimensions,
        pooling=pooling,
        query_prompt=query,
        passage_prompt=passage,
    )


def _graph(folder: Path) -> Path:
    """The graph of an export that is complete."""
    graph = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
    missing = [
        name
        for name, there in (
            ("onnx/model.onnx", graph is not None),
            ("tokenizer.json", (folder / "tokenizer.json").is_file()),
            ("config.json", (folder / "config.json").is_file()),
        )
        if not there
    ]
    if missing or graph is None:
        raise EmbedderUnavailable(
            f"{folder} is no sentence-transformers ONNX export: {', '.join(missing)} not found"
        )
    return graph


def _fetched(model: str) -> Path:
    try:
        hub: Any = import_module("huggingface_hub")
    except ImportError as error:
        raise EmbedderUnavailable(
            f"fetching {model!r} needs packages that are not installed; install them with: "
            "pip install 'twolane[onnx]', or set `embedding.model` to a folder"
        ) from error
    for offline in (True, False):
        try:
            return Path(
                hub.snapshot_download(model, allow_patterns=_WANTED, local_files_only=offline)
            )
        except Exception as error:
            # The hub's client raises many kinds; the first attempt only looks at what is here.
            if not offline:
                raise EmbedderUnavailable(
                    f"the model {model!r} is not on this machine and could not be fetched "
                    f"({type(error).__name__}); set `embedding.model` to a folder that holds it"
                ) from error
    raise AssertionError("the second attempt returns or raises")


def _pooling(folder: Path, config: dict[str, Any]) -> tuple[str, int]:
    """How token rows become one row, and how long it is."""
    modules = _json(folder / "modules.json", [])
    dense = [module["path"] for module in modules if str(module.get("type", "")).endswith(".Dense")]
    if dense:
        raise EmbedderUnavailable(
            f"the model in {folder} ends in a layer that its ONNX export does not hold "
            f"({dense[0]}); export it with sentence-transformers' ONNX backend"
        )
    path = next(
        (module["path"] for module in modules if str(module.get("type", "")).endswith(".Pooling")),
        "1_Pooling",
    )
    said = _json(folder / path / "config.json", {})
    mode = said.get("pooling_mode")
    chosen = next((name for key, name in _POOLINGS.items() if said.get(key)), mode or "mean")
    dimensions = said.get("word_embedding_dimension") or said.get("embedding_dimension")
    dimensions = dimensions or config.get("hidden_size") or config.get("dim")
    if chosen not in _POOLINGS.values() or not dimensions:
        raise EmbedderUnavailable(
            f"the model in {folder} is read in a way that is not supported "
            f"(pooling {chosen!r}, {dimensions or 'unknown'} dimensions)"
        )
    return str(chosen), int(dimensions)


def _prompts(folder: Path) -> tuple[str, str]:
    """The model's own prompts for queries and passages."""
    prompts = _json(folder / "config_sentence_transformers.json", {}).get("prompts") or {}
    query = next((prompts[name] for name in _QUERY_PROMPTS if prompts.get(name)), "")
    passage = next((prompts[name] for name in _PASSAGE_PROMPTS if prompts.get(name)), "")
    return query, passage


def _longest(folder: Path, config: dict[str, Any]) -> int:
    """How many tokens the model reads."""
    own = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    told = own or config.get("max_position_embeddings") or 512
    # Models of one family count two positions more than they can fill.
    if own is None and config.get("model_type") in {"xlm-roberta", "roberta", "camembert"}:
        told -= 2
    return min(int(told), _LONGEST)


def _json(path: Path, absent: Any = None) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if absent is None:
            raise EmbedderUnavailable(f"{path} is missing") from None
        return absent
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(f"{path} cannot be read: {error}") from error


def _digest(*files: Path) -> str:
    """A name for the weights: another file of the same name is another space.

    The ends of a large file tell exports apart; reading all of it would cost seconds.
    """
    sizes = hashlib.blake2b(digest_size=8)
    for path in files:
        size = path.stat().st_size
        with path.open("rb") as file:
            sizes.update(f"{size} ".encode() + file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            sizes.update(file.read())
    return sizes.hexdigest()
