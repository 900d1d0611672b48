"""Every setting, in one place: its name, type, default and meaning.

A value comes from, in rising order: the default, the TOML file, the environment
(`TWOLANE_` and the name in capitals), the arguments of the call.
This module alone reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any

from twolane.deep_links import template_problem
from twolane.errors import BadSetting
from twolane.server_settings import ServerSettings
from twolane.setting_values import at_least as _at_least
from twolane.setting_values import between as _between
from twolane.setting_values import coerced, read_toml
from twolane.setting_values import one_of as _one_of
from twolane.setting_values import setting as _setting

PREFIX = "TWOLANE_"
EMBEDDERS = ("auto", "use", "e5", "ensemble", "onnx", "openai", "hashing", "none")


@dataclass(frozen=True, slots=True)
class Settings(ServerSettings):
    """What can be set; frozen once it is made."""

    db: Path | None = _setting(
        None, "The database file. Unset: `twolane.db` in the user's data directory."
    )
    cache: Path | None = _setting(
        None, "Folder for what can be made again (model tables). Unset: the user's cache directory."
    )
    embedder: str = _setting(
        "auto",
        "Which model gives meaning to text: `use` (comes with the package), `e5` or `ensemble` "
        "(both models; best and slowest; need the extra `e5`), `onnx` (a model in a folder of "
        "yours), `openai` (a server), `hashing` (for tests), or `none` to make no vectors. "
        "`auto` is `use` at once and, with the extra, `ensemble` later.",
        _one_of(*EMBEDDERS),
    )
    semantic: bool = _setting(
        True,
        "Whether searches use meaning; if not, words alone answer, and vectors are still kept.",
    )
    languages: tuple[str, ...] = _setting(
        ("en", "ru", "de", "fr", "es", "it", "pt", "nl", "sv", "uk", "zh", "ja", "ko"),
        "Languages that notes may be in; the detector chooses among them.",
        lambda value: None if value else "must name at least one language",
    )
    include: tuple[str, ...] = _setting(
        ("*.md", "*.markdown"), "File name patterns of notes in a vault."
    )
    exclude: tuple[str, ...] = _setting(
        (), "Paths to leave out, in the syntax of `.gitignore`, beside the ignore files."
    )
    max_file_bytes: int = _setting(
        20_000_000, "Larger files are reported and not indexed.", _at_least(1)
    )
    chunk_tokens: int = _setting(
        450,
        "Target size of a passage in estimated tokens; fits the 512-token window of small models.",
        _between(128, 8000),
    )
    chunk_overlap: int = _setting(
        0, "Tokens of the previous passage repeated at the start of the next.", _between(0, 400)
    )
    chunk_characters: int = _setting(
        0,
        "If not 0, passages are sized by this many characters instead of tokens, whatever the "
        "script; kept to show why tokens are better.",
        _between(0, 100_000),
    )
    breadcrumb: bool = _setting(
        True, "Whether a passage is embedded under its headings or under the title alone."
    )
    stemming: str = _setting(
        "per-language",
        "`per-language` stems each word by its script and language; a language's code stems "
        "every word by that language alone.",
    )
    limit: int = _setting(20, "How many results a search gives.", _between(1, 1000))
    pool: int = _setting(
        100,
        "How many documents each lane brings to fusion: wide pools, narrow output.",
        _between(1, 1000),
    )
    dense_pool: int = _setting(
        0,
        "If not 0, the dense lane brings at most this many documents, however many are wanted; "
        "kept to show why pools must be wide.",
        _between(0, 1000),
    )
    rrf_k: float = _setting(
        10.0,
        "The constant of reciprocal rank fusion: the larger, the less the first ranks stand out "
        "(the literature's 60 is made for long lists; ours are short and sure).",
        _at_least(0),
    )
    lexical_weight: float = _setting(1.0, "Weight of the lexical lane's vote.", _between(0, 100))
    dense_weight: float = _setting(1.0, "Weight of the dense lane's vote.", _between(0, 100))
    keyword_dense_weight: float = _setting(
        0.5,
        "Factor on the dense lane's weight for queries of one or two words, names, codes, "
        "addresses and the like, whose words say more than their meaning.",
        _between(0, 100),
    )
    phrasing_weight: float = _setting(
        0.5,
        "Weight of each other wording of a query that an agent sends along, beside the query's 1.",
        _between(0, 100),
    )
    min_similarity: float = _setting(
        0.0,
        "Passages less similar than this are no hits of the dense lane. 0 with a `model` that has "
        "a published threshold: that one (text-embedding-3-small .40, "
        "snowflake-arctic-embed-m-v2.0 .30; not measured here).",
        _between(-1, 1),
    )
    similarity: str = _setting(
        "dot",
        "`dot` product, or `cosine` worked out anew for each passage; vectors have unit length, "
        "so both are equal and `dot` is faster.",
        _one_of("dot", "cosine"),
    )
    relaxation: str = _setting(
        "graded",
        "Which documents the lexical lane finds: `graded` (all words first, then most, then "
        "some), `all` (every word must occur) or `any` (one word is enough for a full vote).",
        _one_of("graded", "all", "any"),
    )
    abstention: bool = _setting(
        True,
        "Whether the lexical lane abstains on documents in languages it cannot match.",
    )
    kind_floor: int = _setting(
        1,
        "How many of the first ten results each kind of document that holds every word gets.",
        _between(0, 3),
    )
    fold_copies: bool = _setting(
        True,
        "Whether copies of a document come after the documents that say something else.",
    )
    forms: bool = _setting(
        True,
        "Whether lines that many documents hold (templates, footers) are left out of what is "
        "embedded; they are found by words and shown all the same.",
    )
    repair: bool = _setting(
        True,
        "Whether words that no document holds are repaired: typos, keyboard layout, "
        "transliteration, compounds, parts of words.",
    )
    common_share: float = _setting(
        0.2,
        "A word in more than this share of the documents does not pick candidates by itself.",
        _between(0, 1),
    )
    coverage_power: float = _setting(
        2.0,
        "A document that holds a share of the query's information votes with that share to this "
        "power; 0 gives every match a full vote.",
        _between(0, 10),
    )
    relevance_file: Path | None = _setting(
        None,
        "File with the fits of relevance that `twolane eval calibrate` made for you. Unset: "
        "`relevance.json` in the user's data directory.",
    )
    exact_weight: float = _setting(
        1.0,
        "Weight of the exact lane's vote where letters say most: addresses, paths, symbols, "
        "quotations, parts of words, and where no other lane finds anything; 0 keeps the lane "
        "out of hybrid searches.",
        _between(0, 100),
    )
    translation_weight: float = _setting(
        1.5,
        "How much words that mean the same in another language (English and Russian) count, "
        "beside what the dense lane says of a document; 0 switches translation off.",
        _between(0, 100),
    )
    identity_weight: float = _setting(
        1.0,
        "Weight of the identity lane's vote for documents that are called what was typed; "
        "0 switches the lane off.",
        _between(0, 100),
    )
    exact_bodies: bool = _setting(
        True,
        "Whether the letters of texts are indexed, besides those of names; without it the file is "
        "smaller, and a part of a word in a text is found only where the vocabulary helps.",
    )
    embed_seconds: float = _setting(
        10.0,
        "How long a search waits for the query's vector before it answers without meaning.",
        _at_least(0),
    )
    save_embed_seconds: float = _setting(
        0.2,
        "How long a save waits for the vectors of what it saved; after that they follow later.",
        _between(0, 60),
    )
    embed_batch_tokens: int = _setting(
        8192,
        "Passages are embedded together up to about this many tokens.",
        _between(1, 1_000_000),
    )
    embed_tries: int = _setting(
        8,
        "How often a passage that cannot be embedded is tried before it is given up; "
        "`twolane embed --retry-failed` tries it again.",
        _between(1, 100),
    )
    retry_seconds: float = _setting(
        5.0,
        "How long to wait before the second try of a passage, or of an embedder that is gone; "
        "the wait doubles each time.",
        _between(0, 86_400),
    )
    retry_most_seconds: float = _setting(
        3600.0, "The longest wait before another try.", _between(0, 604_800)
    )
    keep_generations: int = _setting(
        1,
        "How many sets of vectors that were replaced are kept, so that one can go back to them.",
        _between(0, 100),
    )
    watch_debounce: float = _setting(
        1.0,
        "How long `watch` gathers changes of a burst before it looks, in seconds.",
        _between(0.001, 3600),
    )
    watch_seconds: float = _setting(
        2.0,
        "How often `watch` looks where the system gives no notice of changes, in seconds.",
        _between(0.01, 86_400),
    )
    editor: str = _setting(
        "",
        "The command of the editor that opens what was found. Unset: the environment variable "
        "`VISUAL` or `EDITOR`.",
    )
    link_template: str = _setting(
        "",
        "A link that opens a note in another program, such as `obsidian://open?path={path}` or "
        "`vscode://file/{path}:{line}`; may hold `{path}`, `{collection}`, `{file}` (within the "
        "collection), `{name}` and `{line}`.",
        template_problem,
    )
    batch: int = _setting(200, "Documents per transaction while indexing.", _between(1, 10_000))
    cores: int = _setting(
        0,
        "How many cores prepare documents while many are indexed or imported; 0 is all that pay, "
        "1 starts no process beside the one that writes.",
        _between(0, 64),
    )
    busy_seconds: float = _setting(
        10.0,
        "How long to wait for another process that is writing to the database.",
        _between(0, 3600),
    )

    @classmethod
    def load(
        cls,
        arguments: Mapping[str, Any] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> Loaded:
        """The settings from file, environment and arguments, with the origin of each value.

        An argument that is None was not given.
        """
        environ = os.environ if environment is None else environment
        named = file or (Path(environ["TWOLANE_CONFIG"]) if "TWOLANE_CONFIG" in environ else None)
        if named is not None and not named.is_file():
            raise BadSetting(f"there is no settings file {named}")
        source = named or config_file()
        values: dict[str, Any] = {}
        origins = dict.fromkeys(_NAMES, "default")
        layers = (
            *_usual_editor(environ),
            (str(source), read_toml(source)),
            ("environment", _from_environment(environ)),
            ("argument", {k: v for k, v in (arguments or {}).items() if v is not None}),
        )
        for origin, layer in layers:
            for name, value in layer.items():
                values[name] = coerced(_declared(name, origin), value, origin)
                origins[name] = origin
        return Loaded(cls(**values), origins, source)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each value came from, and the file that was or would be read."""

    settings: Settings
    origins: Mapping[str, str]
    file: Path


# What it inherits comes last, though a dataclass puts it first.
_FIELDS: dict[str, Field[Any]] = {
    one.name: one
    for one in sorted(
        fields(Settings), key=lambda one: one.name in ServerSettings.__dataclass_fields__
    )
}
_NAMES = tuple(_FIELDS)


def _declared(name: str, origin: str) -> Field[Any]:
    if name not in _FIELDS:
        known = ", ".join(_NAMES)
        raise BadSetting(f"unknown setting {name!r} ({origin}); the settings are: {known}")
    return _FIELDS[name]


def meanings() -> dict[str, str]:
    """What each setting means, by name."""
    return {name: one.metadata["meaning"] for name, one in _FIELDS.items()}


def database_path(settings: Settings) -> Path:
    """The database that these settings name."""
    if settings.db is not None:
        return settings.db
    from platformdirs import user_data_path

    return user_data_path("twolane", appauthor=False) / "twolane.db"


def relevance_path(settings: Settings) -> Path:
    """The file of the user's own fits of relevance; it may not exist."""
    if settings.relevance_file is not None:
        return settings.relevance_file
    from platformdirs import user_data_path

    return user_data_path("twolane", appauthor=False) / "relevance.json"


def cache_path(settings: Settings) -> Path:
    """The folder for what can be made again."""
    if settings.cache is not None:
        return settings.cache
    from platformdirs import user_cache_path

    return user_cache_path("twolane", appauthor=False)


def config_file() -> Path:
    """Where the settings file is looked for when none is named."""
    from platformdirs import user_config_path

    return user_config_path("twolane", appauthor=False) / "twolane.toml"


def _usual_editor(environ: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """The editor that the user has for everything, below whatever was set for us."""
    named = next((one for one in ("VISUAL", "EDITOR") if environ.get(one)), None)
    return [(named, {"editor": environ[named]})] if named else []


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != "TWOLANE_CONFIG"
    }
