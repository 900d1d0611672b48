"""The settings of `twolane serve`; `settings.Settings` has them with all the others.

Classes with slots can only be joined in a row, so these go on where those of models end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twolane.dense_settings import DenseSettings
from twolane.setting_values import at_least, between, one_of, setting


@dataclass(frozen=True, slots=True)
class ServerSettings(DenseSettings):
    """Where the server listens, whom it lets in, and how much it takes on."""

    host: str = setting("127.0.0.1", "The address that the server listens on.")
    port: int = setting(
        8765, "The port that the server listens on; 0 takes a free one.", between(0, 65535)
    )
    hosts: tuple[str, ...] = setting(
        (), "Further names that the server is known by, such as that of a reverse proxy."
    )
    origins: tuple[str, ...] = setting(
        (), "Other sites whose pages may ask the server: `https://notes.example`."
    )
    require_token: str = setting(
        "auto",
        "When the server asks for a token: `always`, or `auto`: if there is any token, or if the "
        "server can be reached by another name or address than this machine's own.",
        one_of("auto", "always"),
    )
    tokens: Path | None = setting(
        None, "The file of the server's tokens. Unset: beside the database."
    )
    processes: int = setting(
        0,
        "How many processes of their own answer the server's searches, each with its own memory; "
        "0 answers them in the server itself.",
        between(0, 64),
    )
    threads: int = setting(
        4, "How many requests the server itself works on at a time.", between(1, 64)
    )
    queue: int = setting(
        32, "How many requests may wait before the server turns others away.", between(0, 10_000)
    )
    request_seconds: float = setting(
        30.0, "How long the server works on a request, or waits for its body.", between(0.1, 3600)
    )
    max_body_bytes: int = setting(
        10_000_000, "Larger requests are refused by the server.", at_least(1000)
    )
    requests_per_minute: int = setting(
        1200,
        "How often one token, or one address without a token, may ask the server; 0 is no limit.",
        at_least(0),
    )
    log_queries: bool = setting(
        False,
        "Whether the server's log tells what was searched for, and which documents were read.",
    )
    judgments: Path | None = setting(
        None, "The golden set that the server adds judgments to. Unset: beside the database."
    )
