"""The parameters that say which documents count, and the scope that they make."""

from __future__ import annotations

from dataclasses import replace

from twolane.filter_names import FILTERS as NAMED
from twolane.interfaces.http.endpoints import Call, Parameter, Type
from twolane.model import Kind
from twolane.scopes import Scope

FILTERS: tuple[Parameter, ...] = (
    Parameter("kind", "Documents of this kind.", many=True, choices=tuple(Kind), example=["note"]),
    *(
        Parameter(name, filter.meaning, many=True)
        for name, filter in NAMED.items()
        if name not in ("kind", "archived")
    ),
    Parameter("archived", "Whether archived documents count, too.", Type.TRUTH, default=False),
    Parameter("only_archived", "Whether only they count.", Type.TRUTH, default=False),
)


def filtered(call: Call) -> Scope:
    """The caller's scope, narrowed by the request's filters; BadInput if one makes no sense."""
    given: dict[str, object] = {name: call.given[name] for name in NAMED if name != "archived"}
    too, only = call.given["archived"], call.given["only_archived"]
    given["archived"] = "only" if only else "any" if too else None
    scope = call.library.scope(given)
    return replace(scope, owner=call.caller.owner, capabilities=call.caller.capabilities)
