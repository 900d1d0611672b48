"""Which documents count: scopes made of filters by name."""

from __future__ import annotations

from collections.abc import Mapping

from twolane.library.held import LOCAL, Held
from twolane.model.scope import Scope


class Scoping(Held):
    """From names and values to scopes."""

    def scope(self, filters: Mapping[str, object], *, within: Scope = LOCAL) -> Scope:
        """The scope narrowed by filters by name, such as `{"kind": "note", "after": "30d"}`.

        Names and values are those of the command line's options (`twolane.query.given.FILTERS`).
        A collection or a property that is not there is an error, and so is any other bad value.
        """
        from twolane.query.given import require_held, scope_from

        properties = self._stores.documents.stats(within.all_of_owner).properties
        scope = scope_from(filters, within, properties=properties)
        names = [one.name for one in self._stores.documents.collections(within)]
        require_held(scope, names, properties)
        return scope

    def check_filters(self, text: str, *, scope: Scope = LOCAL) -> None:
        """Refuse a text that holds anything but filters as they are typed into a query."""
        from twolane.query.given import require_filters

        stats = self._stores.documents.stats(scope.all_of_owner)
        require_filters(text, frozenset(stats.languages), stats.properties)
