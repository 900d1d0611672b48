"""Tags that were asked for and that no document has, with those that were perhaps meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from twolane.model.answer import MissingTag
from twolane.model.scope import Among, Scope, Trait
from twolane.ports.documents import DocumentStore
from twolane.text.tokens import fold

# So many tags are named in place of one that is not there.
_MOST_NEAR = 3

# How alike two tags must be, from 0 to 1, for one to be a slip of the other.
_ALIKE = 0.7


def missing_tags(documents: DocumentStore, asked: Scope, caller: Scope) -> tuple[MissingTag, ...]:
    """The tags that `asked` demands and that no document has where the caller looks.

    Where the caller looks is decided by owner, collections, paths and ids, so that nothing is
    told of documents that are not theirs.
    """
    demanded = tuple(dict.fromkeys(_demanded(asked)))
    if not demanded:
        return ()
    there = Scope(
        owner=caller.owner,
        capabilities=caller.capabilities,
        collections=caller.collections,
        paths=caller.paths,
        documents=caller.documents,
        archived=True,
    )
    found = documents.facets(there)
    if not found.kinds:
        # Where there are no documents at all, the tags are not to blame.
        return ()
    held = {fold(tag): tag for tag in found.tags}
    return tuple(
        MissingTag(tag, tuple(held[key] for key in _near(fold(tag), held)))
        for tag in demanded
        if not _is_held(fold(tag), held)
    )


def _demanded(scope: Scope) -> Iterator[str]:
    yield from scope.tags
    for one in scope.filters:
        if isinstance(one, Among) and one.trait == Trait.TAG:
            yield from one.values


def _is_held(key: str, held: Collection[str]) -> bool:
    # `a` also means `a/b`.
    return key in held or any(one.startswith(f"{key}/") for one in held)


def _near(key: str, held: Collection[str]) -> list[str]:
    """The most similar tags: with the same last part, then the same beginning, then slips."""
    from difflib import get_close_matches

    last = key.rpartition("/")[2]
    named = sorted(one for one in held if last in one.split("/"))
    begun = sorted(one for one in held if one.startswith(key) or key.startswith(one))
    alike = get_close_matches(key, sorted(held), _MOST_NEAR, _ALIKE)
    return list(dict.fromkeys([*named, *begun, *alike]))[:_MOST_NEAR]
