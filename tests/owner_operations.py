"""Random operations of many owners on one library, each of which may tell words of its owner alone.

Every text that an owner saves holds a word that names the owner; what an operation answers, also
with an error, is looked through for the words of others.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from twolane import Draft, Kind, Library, Mode, Scope
from twolane.library import LOCAL
from twolane.model.errors import TwolaneError

_CANARY = re.compile(r"zq(\d+)x")
_WORDS = ("tea", "kettle", "garden", "чай", "ночь", "plan", "samovar")


class Operations:
    """Draws operations; `leaks` says which told somebody a word of others."""

    def __init__(self, library: Library, owners: int, seed: int) -> None:
        self._library = library
        self._owners = owners
        self._dice = random.Random(seed)
        self.leaks: list[str] = []
        self.done: Counter[str] = Counter()
        # How often an operation told its owner's own words, which it may.
        self.own: Counter[str] = Counter()
        self._verbs: tuple[Callable[[int], Any], ...] = (
            self.save,
            self.save,
            self.take_over,
            self.search,
            self.search,
            self.search,
            self.list,
            self.facets,
            self.read,
            self.similar,
            self.why,
            self.delete,
            self.restore,
            self.archive,
            self.tag,
            self.rename_tag,
            self.names,
            self.status,
        )

    def run(self, count: int) -> None:
        """Do so many operations, each by a random owner."""
        for _ in range(count):
            owner = self._dice.randrange(self._owners)
            verb = self._dice.choice(self._verbs)
            self._asked = ""
            try:
                told = repr(verb(owner))
            except TwolaneError as error:
                told = f"{type(error).__name__}: {error}"
            self.done[verb.__name__] += 1
            # Whoever names a word of others knows it already.
            for found in _CANARY.findall(told):
                if int(found) == owner:
                    self.own[verb.__name__] += 1
                elif f"zq{found}x" not in self._asked:
                    self.leaks.append(f"{verb.__name__} of {owner} told {found}: {told[:300]}")

    def _scope(self, owner: int) -> Scope:
        return replace(LOCAL, owner=f"owner {owner}")

    def _text(self, owner: int) -> str:
        return " ".join([*self._dice.choices(_WORDS, k=4), f"zq{owner}x"])

    def _id(self, owner: int | None = None) -> str:
        who = self._dice.randrange(self._owners) if owner is None else owner
        return f"{who}-{self._dice.randrange(12)}"

    def _query(self, owner: int) -> str:
        other = self._dice.randrange(self._owners)
        self._asked = self._dice.choice(
            (
                *_WORDS,
                "tea plan",
                f"zq{other}x",
                f'"zq{other}x"',
                f"tag:zq{other}x",
                f"NOT zq{other}x",
                f"zq{other}*",
                "kind:note tea",
                f"mood:zq{other}x",
                "sammovar",
            )
        )
        return self._asked

    def save(self, owner: int) -> Any:
        """A document of their own, new or changed."""
        return self._library.save(self._draft(owner, self._id(owner)), scope=self._scope(owner))

    def take_over(self, owner: int) -> Any:
        """A document under an id that may be somebody else's."""
        return self._library.save(self._draft(owner, self._id()), scope=self._scope(owner))

    def _draft(self, owner: int, id: str) -> Draft:
        return Draft(
            id,
            self._dice.choice(list(Kind)),
            title=self._text(owner),
            body=f"{self._text(owner)}\n\n{self._text(owner)}",
            url=f"https://zq{owner}x.example/{id}",
            description=self._text(owner),
            tags=(f"zq{owner}x", "shared"),
            aliases=(f"alias zq{owner}x",),
            properties={"mood": f"zq{owner}x"},
            collection=f"zq{owner}x",
        )

    def search(self, owner: int) -> Any:
        """Any query, in any mode, also for words of others."""
        mode = self._dice.choice(list(Mode))
        return self._library.search(self._query(owner), scope=self._scope(owner), mode=mode)

    def list(self, owner: int) -> Any:
        """All that they have, and all that they deleted."""
        scope = self._scope(owner)
        return list(self._library.documents(scope=scope)), self._library.deleted(scope=scope)

    def facets(self, owner: int) -> Any:
        """Counts and names."""
        scope = self._scope(owner)
        return self._library.facets(scope=scope), self._library.collections(scope=scope)

    def read(self, owner: int) -> Any:
        """Any document by its id, its title or its address."""
        other = self._dice.randrange(self._owners)
        names = (self._id(), f"alias zq{other}x", f"https://zq{other}x.example/{other}-1")
        self._asked = self._dice.choice(names)
        return self._library.document(self._asked, scope=self._scope(owner))

    def similar(self, owner: int) -> Any:
        """What is like any document."""
        return self._library.similar(self._id(), scope=self._scope(owner))

    def why(self, owner: int) -> Any:
        """Why any document is found, or not."""
        return self._library.why(self._query(owner), self._id(), scope=self._scope(owner))

    def delete(self, owner: int) -> Any:
        """Any document."""
        return self._library.delete(self._id(), scope=self._scope(owner))

    def restore(self, owner: int) -> Any:
        """Any document."""
        return self._library.restore(self._id(), scope=self._scope(owner))

    def archive(self, owner: int) -> Any:
        """Any document."""
        return self._library.archive(self._id(), scope=self._scope(owner))

    def tag(self, owner: int) -> Any:
        """Any document."""
        return self._library.add_tags(self._id(), [f"zq{owner}x/more"], scope=self._scope(owner))

    def rename_tag(self, owner: int) -> Any:
        """A tag that everybody has."""
        return self._library.rename_tag("shared", "shared", scope=self._scope(owner))

    def names(self, owner: int) -> Any:
        """Names that are like one."""
        self._asked = self._dice.choice(("alias", "kettle"))
        return self._library.near_names(self._asked, scope=self._scope(owner))

    def status(self, owner: int) -> Any:
        """What there is in numbers, and what became of files."""
        scope = self._scope(owner)
        return self._library.status(scope=scope), self._library.files(scope=scope)
