"""The parameters that say which documents count, and the scope that they make."""

from __future__ import annotations

from dataclasses import replace

from twolane.interfaces.http.endpoints import Call, Parameter, Type
from twolane.model import Kind
from twolane.scopes import Scope

FILTERS: tuple[Parameter, ...] = (
    Parameter("kind", "Documents of this kind.", many=True, choices=tuple(Kind), example=["note"]),
    Parameter("tag", "Documents with this tag; several must all be there.", many=True),
    Parameter("not_tag", "Documents without this tag.", many=True),
    Parameter("path", "Documents under this path pattern: `garden/*`.", many=True),
    Parameter("collection", "Documents of this collection.", many=True),
    Parameter("lang", "Documents with a passage in this language: `en`.", many=True),
    Parameter("after", "Documents changed on this date or later: `2024`, `2024-05-01`, `30d`."),
    Parameter("before", "Documents changed before this date."),
    Parameter("archived", "Whether archived documents count, too.", Type.TRUTH, default=False),
)


def filtered(call: Call) -> Scope:
    """The caller's scope, narrowed by the request's filters; BadInput if one makes no sense."""
    from twolane.interfaces.cli.filters import require_collections, scope_of

    given = call.given
    scope = scope_of(
        kind=given["kind"],
        tags=given["tag"],
        not_tag=given["not_tag"],
        path=given["path"],
        collection=given["collection"],
        lang=given["lang"],
        after=given["after"],
        before=given["before"],
        archived=given["archived"],
    )
    require_collections(call.library, scope)
    return replace(scope, owner=call.caller.owner, capabilities=call.caller.capabilities)
