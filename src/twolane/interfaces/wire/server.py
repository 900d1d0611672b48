"""What only the server says: problems, and that it is well."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from twolane.interfaces.wire.shape import Shape


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
