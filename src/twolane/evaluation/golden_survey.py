"""One look at every document of a library: which words and names it holds, and who links to it.

Kept are names, links and the vocabulary; bodies go as they come, so a large vault fits.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from twolane import Document, Library, Scope
from twolane.evaluation.naming import Names
from twolane.language import fold, is_function_word, stream, tokens

# A word in more notes than this says little about any one of them.
RARE = 3


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What is kept of one document."""

    id: str
    name: str
    collection: str
    title: str
    aliases: tuple[str, ...]
    headings: tuple[str, ...]


class Survey:
    """The words and names of all documents in scope; documents are numbered by id."""

    def __init__(self, library: Library, scope: Scope) -> None:
        self.languages = frozenset(library.status(scope=scope).stats.languages)
        self.documents: list[Surveyed] = []
        self.anchors: list[tuple[int, int, str]] = []
        self._holders: dict[str, list[int]] = {}
        self._frequency: Counter[str] = Counter()
        self._spellings: dict[str, Counter[str]] = {}
        self._named: dict[str, set[int]] = {}
        self._spelt: dict[str, set[int]] = {}
        links: list[tuple[int, str, str, bool]] = []
        names = Names(library)
        for number, document in enumerate(library.documents(scope=scope)):
            self._add(number, document, names.of(document))
            links += [(number, one.target, one.anchor, one.wiki) for one in document.links]
        self._follow(links)

    def frequency(self, word: str) -> int:
        """How many documents hold the word in any form."""
        return self._frequency[word_key(word)]

    def only_holder(self, words: Iterable[str]) -> int | None:
        """The document that alone holds all of the words, if their rarity shows that there is one.

        None also where every word is too common to tell.
        """
        known = [
            set(self._holders[key])
            for key in map(word_key, words)
            if 0 < self._frequency[key] <= RARE
        ]
        together = set.intersection(*known) if known else set()
        return together.pop() if len(together) == 1 else None

    def other_forms(self, word: str) -> list[str]:
        """The vault's other spellings with the same stem, the most frequent first."""
        held = self._spellings.get(word_key(word), Counter())
        own = fold(word)
        ranked = sorted(held.items(), key=lambda item: (-item[1], item[0]))
        return [form for form, _ in ranked if form != own]

    def content_words(self, text: str) -> list[str]:
        """The words of a text that do more than hold a sentence together."""
        return [
            token.text for token in tokens(text) if not is_function_word(token.text, self.languages)
        ]

    def named_otherwise(self, text: str, target: int) -> bool:
        """Whether the text names another document than the target.

        It does if another title or alias holds all of its words, or another heading or link
        to another document is made of just these words.
        """
        keys = [word_key(word) for word in self.content_words(text)]
        holders = (
            set.intersection(*(self._named.get(key, set()) for key in keys)) if keys else set()
        )
        return bool((holders | self._spelt.get(_spelling(text), set())) - {target})

    def _add(self, number: int, document: Document, name: str) -> None:
        kept = Surveyed(
            id=document.id,
            name=name,
            collection=document.collection,
            title=document.title,
            aliases=document.aliases,
            headings=tuple(heading.text for heading in document.headings),
        )
        self.documents.append(kept)
        words = Counter(token.text for token in tokens(f"{document.title}\n{document.body}"))
        keys = set()
        for word, count in words.items():
            key, folded = _forms(word)
            keys.add(key)
            spellings = self._spellings.setdefault(key, Counter())
            spellings[folded] += count
        for key in keys:
            self._frequency[key] += 1
            holders = self._holders.setdefault(key, [])
            if len(holders) < RARE:
                holders.append(number)
        for text in (kept.title, *kept.aliases):
            for token in tokens(text):
                self._named.setdefault(word_key(token.text), set()).add(number)
        for text in (kept.title, *kept.aliases, *kept.headings):
            self._spelt.setdefault(_spelling(text), set()).add(number)

    def _follow(self, links: Sequence[tuple[int, str, str, bool]]) -> None:
        """Keep the words of links that lead to another document and are no name of it."""
        places = _Places(self.documents)
        for source, target, anchor, wiki in links:
            found = places.find(source, target, wiki=wiki)
            if found is None or found == source:
                continue
            named = self.documents[found]
            file = posixpath.basename(named.name).rpartition(".")[0]
            if fold(anchor) in {fold(text) for text in (named.title, *named.aliases, file, target)}:
                continue
            self.anchors.append((source, found, anchor))
            self._spelt.setdefault(_spelling(anchor), set()).add(found)


def word_key(word: str) -> str:
    """The name under which all forms of a word meet, whatever the language around it."""
    return _forms(word)[0]


@lru_cache(maxsize=1 << 17)
def _forms(word: str) -> tuple[str, str]:
    """The key and the folded spelling of a word; a vault uses the same words again and again."""
    return stream(word).strip(), fold(word)


class _Places:
    """Which document a link leads to, inside the collection of the one that holds it."""

    def __init__(self, documents: Sequence[Surveyed]) -> None:
        self._documents = documents
        self._by_path: dict[tuple[str, str], int] = {}
        self._by_name: dict[tuple[str, str], set[int]] = {}
        for number, one in enumerate(documents):
            path = one.id.removeprefix(f"{one.collection}/")
            for spelt in (path, path.rpartition(".")[0]):
                self._by_path[one.collection, spelt] = number
            file = posixpath.basename(path).rpartition(".")[0]
            for name in (file, one.title, *one.aliases):
                self._by_name.setdefault((one.collection, fold(name)), set()).add(number)

    def find(self, source: int, target: str, *, wiki: bool) -> int | None:
        """The one document that the target names, seen from the source."""
        if "://" in target or target.startswith("mailto:"):
            return None
        collection = self._documents[source].collection
        for path in self._paths(source, target, wiki=wiki):
            if (collection, path) in self._by_path:
                return self._by_path[collection, path]
        if not wiki:
            return None
        named = self._by_name.get((collection, fold(target.partition("#")[0].strip())), set())
        return next(iter(named)) if len(named) == 1 else None

    def _paths(self, source: int, target: str, *, wiki: bool) -> Iterator[str]:
        path = target.partition("#")[0].strip()
        if not path:
            return
        if wiki:
            yield path
            return
        path = unquote(path.partition("?")[0])
        if not path.startswith("/"):
            own = self._documents[source]
            path = posixpath.join(
                posixpath.dirname(own.id.removeprefix(f"{own.collection}/")), path
            )
        yield posixpath.normpath(path).lstrip("/")


def _spelling(text: str) -> str:
    return " ".join(word_key(token.text) for token in tokens(text))
