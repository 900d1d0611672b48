"""Tokens as JSON: in their file, with the hash, and in lists, without it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twolane.interfaces.http.tokens import Token

Json = dict[str, Any]


def tokens_json(tokens: Iterable[Token]) -> Json:
    """The tokens as they are listed: all but their secrets."""
    return {"tokens": [_listed(one) for one in tokens]}


def new_token_json(token: Token, secret: str) -> Json:
    """A new token with what is shown only once."""
    return {**_listed(token), "token": secret}


def tokens_text(tokens: Iterable[Token]) -> str:
    """The file of tokens."""
    held = [{**_listed(one), "sha256": one.sha256} for one in tokens]
    return json.dumps({"format": FORMAT, "tokens": held}, ensure_ascii=False, indent=1) + "\n"


def token_fields(text: str) -> list[Mapping[str, Any]]:
    """What the file says of each token; ValueError or KeyError if it is no file of tokens."""
    held = json.loads(text)
    if held["format"] != FORMAT:
        raise ValueError(held["format"])
    names = ("id", "name", "owner", "capabilities", "created", "sha256")
    return [{name: one[name] for name in names} for one in held["tokens"]]


FORMAT = "twolane-tokens-1"


def _listed(token: Token) -> Json:
    return {
        "id": token.id,
        "name": token.name,
        "owner": token.owner,
        "capabilities": sorted(token.capabilities),
        "created": token.created,
    }
