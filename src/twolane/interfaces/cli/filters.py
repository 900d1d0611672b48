"""The options that say which documents count, and the scope that they make."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from twolane.errors import BadInput
from twolane.interfaces.cli.options import typed
from twolane.model import Kind
from twolane.scopes import Scope

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.query.filters import Filters

OfKind = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="note, bookmark or prompt.")
]
WithTag = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="With this tag.")]
WithoutTag = Annotated[
    list[str] | None, typer.Option("--not-tag", metavar="TAG", help="Without this tag.")
]
UnderPath = Annotated[
    list[str] | None, typer.Option("--path", metavar="GLOB", help="Under this path: garden/*")
]
InCollection = Annotated[
    list[str] | None, typer.Option("--collection", metavar="NAME", help="In this collection.")
]
InLanguage = Annotated[
    list[str] | None, typer.Option("--lang", metavar="LANG", help="In this language: en, ru, ...")
]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="DATE", help="Changed since: 2024, 2024-05-01, 30d."),
]
Before = Annotated[
    str | None, typer.Option("--before", metavar="DATE", help="Changed before that date.")
]
Archived = Annotated[bool, typer.Option("--archived", help="Archived ones, too.")]


def scope_of(
    *,
    not_tag: Sequence[str] | None = None,
    archived: bool = False,
    **wanted: Sequence[str] | str | None,
) -> Scope:
    """The scope that the options spell, each read as the query language reads its filter.

    `wanted` are values by filter: kind, tags, path, collection, lang, after and before.
    """
    from twolane.query.filters import merged

    filters = merged(_given(wanted), _given({"tags": not_tag}))
    return Scope(
        collections=filters.collections,
        kinds=filters.kinds,
        tags=filters.tags,
        without_tags=filters.without_tags,
        paths=filters.paths,
        languages=filters.languages,
        updated_from=filters.updated_from,
        updated_before=filters.updated_before,
        archived=archived,
    )


def require_collections(library: Library, scope: Scope) -> None:
    """Refuse a collection that is not there; a typing error would otherwise find nothing."""
    if not scope.collections:
        return
    known = [one.name for one in library.collections()]
    for name in scope.collections:
        if name not in known:
            raise BadInput(f"there is no collection {name!r}; there are: {', '.join(known)}")


def _given(options: dict[str, Sequence[str] | str | None]) -> list[Filters]:
    from twolane.language.function_words import FUNCTION_WORDS
    from twolane.query.filters import read_filter

    now = datetime.now(UTC)
    found = []
    for name, values in options.items():
        for value in [values] if isinstance(values, str) else values or ():
            one = read_filter(name, typed(value), FUNCTION_WORDS, now)
            if one is None:
                raise BadInput(f"{value!r} is not {_WANTED[name]}")
            found.append(one)
    return found


_WANTED = {
    "kind": f"a kind; the kinds are {', '.join(Kind)}",
    "tags": "a tag; a tag has letters, digits, `_`, `-` and `/`",
    "path": "a path pattern; write for example 'garden/*'",
    "collection": "the name of a collection",
    "lang": "a language that is known here; write for example en or ru",
    "after": "a date; write 2024, 2024-05, 2024-05-01, or 30d for thirty days ago (d, w, m, y)",
    "before": "a date; write 2024, 2024-05, 2024-05-01, or 30d for thirty days ago (d, w, m, y)",
}
