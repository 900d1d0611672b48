"""What the server says of itself: health, problems and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from twolane.interfaces.wire.shape import Shape, shape
from twolane.model.scope import Capability

if TYPE_CHECKING:
    from twolane.model.tokens import Token


class Problem(Shape):
    """What went wrong, as RFC 9457 has it."""

    type: Annotated[str, Meta(description="Which problem it is: an address that describes it.")]
    title: str
    status: int
    detail: Annotated[str, Meta(description="What is wrong with this request.")]
    request_id: str
    candidates: Annotated[
        list[str] | UnsetType, Meta(description="Ids that an ambiguous name stands for.")
    ] = UNSET


class Health(Shape):
    """That the server runs."""

    version: str
    status: Literal["ok"] = "ok"


class ListedToken(Shape):
    """A token: everything but its secret; times are told to the second."""

    id: str
    name: str
    owner: str | None
    capabilities: list[Capability]
    created: str
    expires: str | None
    used: str | None


class NewToken(ListedToken):
    """A new token with what is shown only once."""

    token: str


class TokenList(Shape):
    """The tokens, oldest first."""

    tokens: list[ListedToken]


def token_list(tokens: Iterable[Token]) -> TokenList:
    """The tokens as they are listed."""
    return TokenList(tokens=[shape(ListedToken, token, **_told(token)) for token in tokens])


def new_token(token: Token, secret: str) -> NewToken:
    """A new token with its text."""
    return shape(NewToken, token, **_told(token), token=secret)


def _told(token: Token) -> dict[str, object]:
    times = {name: getattr(token, name) for name in ("created", "expires", "used")}
    said = {name: at and at.isoformat(timespec="seconds") for name, at in times.items()}
    return {**said, "capabilities": sorted(token.capabilities)}
