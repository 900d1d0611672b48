"""Golden sets of a user's own: known-item queries that need no judge, and what was opened.

A title, an alias, a heading, the words of a link or a rare phrase belong to one note;
asked as a query, they should find it. What could mean several notes is left out.
The same vault, seed and recipe give the same set.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice, zip_longest
from typing import NamedTuple
from urllib.parse import unquote

from twolane import BadInput, Document, Library, NoSuchDocument, Scope, analyze, digest
from twolane.evaluation.files import with_fences
from twolane.evaluation.golden import Evidence, GoldenQuery, GoldenSet, Names, folded, with_query

KINDS = ("title", "alias", "heading", "anchor", "phrase")

# Words that a query of each kind must hold beside function words: a heading `Tools` or a link
# `here` is no way to ask for one note.
_FEWEST = {"title": 1, "alias": 1, "heading": 2, "anchor": 2, "phrase": 3}

# So many times more candidates than queries are looked at; some are given up on the way.
_SPARE = 20
_PHRASES_OF_ONE = 2
# A word in more notes than this says little about any one of them.
RARE = 3

# What a search looks at when it is not told otherwise.
USUAL = Scope()


class Hiding(StrEnum):
    """What is done to the words of a query that its note would be found by at once."""

    NONE = "none"
    OWN = "own"
    STEMS = "stems"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a set is made: how many queries of which kinds, with what hidden, split into what."""

    count: int = 100
    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    hiding: Hiding = Hiding.NONE
    splits: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown or not self.kinds:
            named = f"no kind {unknown[0]!r}" if unknown else "no kind of query is named"
            raise BadInput(f"{named}; the kinds are {', '.join(KINDS)}")
        if self.count < 1:
            raise BadInput("a golden set needs at least one query; ask for 1 or more")
        if len(set(self.splits)) < len(self.splits):
            raise BadInput("two parts of the split have one name; give each its own")


class _Candidate(NamedTuple):
    """A text that may become a query, the number of the note it belongs to, and its origin."""

    kind: str
    text: str
    target: int
    evidence: tuple[Evidence, ...] = ()


def build(
    library: Library, recipe: Recipe, *, name: str, vault: str | None = None, scope: Scope = USUAL
) -> list[GoldenSet]:
    """One set for each part of the split, in its order; no note is sought in two of them."""
    maker = _Maker(library, Survey(library, scope), recipe, scope)
    chosen = maker.queries()
    parts: list[list[GoldenQuery]] = [[] for _ in recipe.splits]
    targets = sorted({target for target, _ in chosen}, key=maker.order_of)
    place = {target: number % len(parts) for number, target in enumerate(targets)}
    for target, query in chosen:
        parts[place[target]].append(query)
    if not all(parts):
        raise BadInput(
            f"the notes give {len(chosen)} queries, too few for "
            f"{len(parts)} set{'s' if len(parts) > 1 else ''}; "
            "allow more kinds, hide fewer words, or index more notes"
        )
    description = (
        "Known-item queries made from the notes themselves; nobody has judged them. "
        f"Kinds: {', '.join(recipe.kinds)}; hidden words: {recipe.hiding}; seed {recipe.seed}."
    )
    return [
        GoldenSet(f"{name}.{split}" if split else name, description, vault, tuple(queries))
        for split, queries in zip(recipe.splits, parts, strict=True)
    ]


class _Maker:
    """Makes queries from candidates, in an order that only the seed decides."""

    def __init__(self, library: Library, survey: Survey, recipe: Recipe, scope: Scope) -> None:
        self._library = library
        self._survey = survey
        self._recipe = recipe
        self._scope = scope

    def queries(self) -> list[tuple[int, GoldenQuery]]:
        """The number of the note and its query, as many as wanted or as there are."""
        made = [self._made(kind) for kind in self._recipe.kinds]
        sought: dict[str, set[int]] = {}
        for candidate in chain.from_iterable(made):
            sought.setdefault(folded(candidate.text), set()).add(candidate.target)
        seen: set[str] = set()
        chosen: list[tuple[int, GoldenQuery]] = []
        # One of each kind by turns, so that a small set has some of all.
        for candidate in chain.from_iterable(zip_longest(*made)):
            if candidate is None or len(chosen) == self._recipe.count:
                continue
            text = folded(candidate.text)
            if len(sought[text]) == 1 and text not in seen:
                seen.add(text)
                chosen.append((candidate.target, self._query(candidate)))
        return chosen

    def order_of(self, target: int) -> str:
        """What puts notes into the order of the seed."""
        return self._mixed(self._survey.documents[target].id)

    def _mixed(self, *parts: str) -> str:
        return digest("\n".join((str(self._recipe.seed), *parts)))

    def _made(self, kind: str) -> list[_Candidate]:
        """The candidates of one kind that can be queries: the first of every note come first."""
        found = self._phrases() if kind == "phrase" else self._names(kind)
        ordered = islice(found, self._recipe.count * _SPARE)
        return [made for candidate in ordered if (made := self._finished(candidate))]

    def _names(self, kind: str) -> Iterator[_Candidate]:
        found = sorted(
            self._named(kind),
            key=lambda one: self._mixed(self._survey.documents[one.target].id, one.text),
        )
        earlier: Counter[int] = Counter()
        turns = []
        for candidate in found:
            turns.append((earlier[candidate.target], candidate))
            earlier[candidate.target] += 1
        # Sorting is stable, so the order of the seed stays within a turn.
        yield from (candidate for _, candidate in sorted(turns, key=lambda turn: turn[0]))

    def _named(self, kind: str) -> Iterator[_Candidate]:
        documents = self._survey.documents
        if kind == "anchor":
            for source, target, anchor in self._survey.anchors:
                if "/" not in anchor:
                    evidence = Evidence(documents[source].name, anchor)
                    yield _Candidate(kind, anchor, target, (evidence,))
            return
        for number, document in enumerate(documents):
            if kind == "title":
                yield _Candidate(kind, document.title, number)
            elif kind == "alias":
                yield from (_Candidate(kind, alias, number) for alias in document.aliases)
            else:
                for heading in document.headings:
                    if folded(heading) != folded(document.title):
                        yield _Candidate(kind, heading, number, (Evidence(document.name, heading),))

    def _phrases(self) -> Iterator[_Candidate]:
        """Phrases note by note; a note's body is read again only when its turn comes."""
        later = []
        for number in sorted(range(len(self._survey.documents)), key=self.order_of):
            known = self._survey.documents[number]
            try:
                document = self._library.document(known.id, scope=self._scope)
            except NoSuchDocument:  # It went while we were looking.
                continue
            phrases = islice(rare_phrases(document, number, self._survey), _PHRASES_OF_ONE)
            candidates = [
                _Candidate("phrase", text, number, (Evidence(known.name, quote),))
                for text, quote in phrases
            ]
            yield from candidates[:1]
            later += candidates[1:]
        yield from later

    def _finished(self, candidate: _Candidate) -> _Candidate | None:
        """The candidate as it will be asked, or None if it is empty or could mean several notes."""
        title = self._survey.documents[candidate.target].title
        text = hidden(candidate.text, title, self._recipe.hiding, self._survey)
        if text is None:
            return None
        text = " ".join(text.split())
        words = self._survey.content_words(text)
        if len(words) < _FEWEST[candidate.kind]:
            return None
        # A single word that is no name of its own must at least be a rare one.
        if len(words) == 1 and text != candidate.text and self._survey.frequency(words[0]) > RARE:
            return None
        if self._survey.named_otherwise(text, candidate.target):
            return None
        return candidate._replace(text=text)

    def _query(self, candidate: _Candidate) -> GoldenQuery:
        known = self._survey.documents[candidate.target]
        answer = self._language(known.id)
        # The note's language if the query may be in it, else the only one that it can be in.
        plausible = analyze(candidate.text, self._survey.languages).languages
        asked = answer if answer in plausible else None
        if asked is None and len(plausible) == 1:
            asked = next(iter(plausible))
        id = digest(f"{candidate.kind}\n{candidate.text}\n{known.id}")
        return GoldenQuery(
            id=f"{candidate.kind}-{id[:10]}",
            query=candidate.text,
            relevant=(known.name,),
            lang=asked,
            direction=f"{asked}→{answer}" if asked and answer else None,
            category=candidate.kind,
            evidence=candidate.evidence,
        )

    def _language(self, id: str) -> str | None:
        """The language of most passages of a note."""
        chunks = self._library.chunks(self._library.document(id, scope=self._scope))
        most = Counter(chunk.language for chunk in chunks if chunk.language).most_common(1)
        return most[0][0] if most else None


# ------------------------------------------------------------------------------- hiding


def hidden(query: str, title: str, hiding: Hiding, survey: Survey) -> str | None:
    """The query without its leak, or None if nothing of use is left.

    - `none` leaves it as it is;
    - `own` drops every word whose stem the title of the note has in any language of the vault;
    - `stems` writes words in another form that the vault knows; a query of which no word
      has another form still leaks, so it is given up.
    """
    if hiding == Hiding.NONE:
        return query
    words = analyze(query, survey.languages).words
    if hiding == Hiding.OWN:
        own = {stem for word in analyze(title, survey.languages).words for stem in word.stems}
        kept = " ".join(word.text for word in words if own.isdisjoint(word.stems))
        return kept if survey.content_words(kept) else None
    forms = [[] if word.function_word else survey.other_forms(word.text) for word in words]
    if not any(forms):
        return None
    return " ".join(
        found[0] if found else word.text for word, found in zip(words, forms, strict=True)
    )


# ------------------------------------------------------------------------------- phrases

SHORTEST = 4
LONGEST = 8

# A rare word must be able to carry a phrase: numbers, codes and stubs cannot.
_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE = re.compile(r"[^.!?…;:()\[\]«»“”\"—]+")
# Lines of markup, and marks inside a line that make its words something else than prose.
_NO_PROSE = re.compile(r"\s*(?:#|\||<|\[\^|!\[)|.*(?:\]\(|\[\[|://|`|\{\{|<[a-z/])")


def rare_phrases(document: Document, number: int, survey: Survey) -> Iterator[tuple[str, str]]:
    """Phrases of 4 to 8 words around the rarest words of a note, the rarest first.

    Each with the stretch of the note that it comes from; `number` is the note's in the survey.
    """
    found: list[tuple[int, int, str, str]] = []
    for offset, sentence in _sentences(document.body):
        words = analyze(sentence).words
        if len(words) < SHORTEST:
            continue
        # A word that cannot carry a phrase is as common as can be.
        frequencies = [
            survey.frequency(word.text) if _WORD.fullmatch(word.text) else RARE + 1
            for word in words
        ]
        frequency = min(frequencies)
        if frequency > RARE:
            continue
        # The longest run of words that is not too long and has the rarest in its middle.
        first = max(0, min(frequencies.index(frequency) - LONGEST // 2, len(words) - LONGEST))
        window = words[first : first + LONGEST]
        if survey.only_holder(word.text for word in window) == number:
            quote = sentence[window[0].start : window[-1].end]
            found.append((frequency, offset, " ".join(word.text for word in window), quote))
    found.sort(key=lambda one: one[:2])
    return ((text, quote) for _, _, text, quote in found)


def _sentences(body: str) -> Iterator[tuple[int, str]]:
    """The sentences of lines that are prose, with where they begin."""
    offset = 0
    for _, line, in_code in with_fences(body):
        if not in_code and not _NO_PROSE.match(line):
            for sentence in _SENTENCE.finditer(line):
                yield offset + sentence.start(), sentence.group()
        offset += len(line) + 1


# ------------------------------------------------------------------------------- the survey


class Surveyed(NamedTuple):
    """What is kept of one document."""

    id: str
    name: str
    collection: str
    title: str
    aliases: tuple[str, ...]
    headings: tuple[str, ...]

    @property
    def path(self) -> str:
        """Where it is in its collection."""
        return self.id.removeprefix(f"{self.collection}/")


class Survey:
    """One look at all documents in scope: their words, their names, and who links to them.

    Documents are numbered by id. Bodies go as they come, so a large vault fits.
    """

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
            links += [(number, link.target, link.anchor, link.wiki) for link in document.links]
        self._follow(links)

    def frequency(self, word: str) -> int:
        """How many documents hold the word in any form."""
        return self._frequency[_key(word)]

    def only_holder(self, words: Iterable[str]) -> int | None:
        """The document that alone holds all of the words, if their rarity shows that there is one.

        None also where every word is too common to tell.
        """
        known = [
            set(self._holders[key]) for key in map(_key, words) if 0 < self._frequency[key] <= RARE
        ]
        together = set.intersection(*known) if known else set()
        return together.pop() if len(together) == 1 else None

    def other_forms(self, word: str) -> list[str]:
        """The vault's other spellings with the same stem, the most frequent first."""
        held = self._spellings.get(_key(word), Counter())
        ranked = sorted(held.items(), key=lambda item: (-item[1], item[0]))
        return [form for form, _ in ranked if form != folded(word)]

    def content_words(self, text: str) -> list[str]:
        """The words of a text that do more than hold a sentence together."""
        words = analyze(text, self.languages).words
        return [word.text for word in words if not word.function_word]

    def named_otherwise(self, text: str, target: int) -> bool:
        """Whether the text names another document than the target.

        It does if another title or alias holds all of its words, or another heading or link
        to another document is made of just these words.
        """
        holders = [self._named.get(_key(word), set()) for word in self.content_words(text)]
        together = set.intersection(*holders) if holders else set()
        return bool((together | self._spelt.get(_spelling(text), set())) - {target})

    def _add(self, number: int, document: Document, name: str) -> None:
        headings = tuple(heading.text for heading in document.headings)
        kept = Surveyed(
            document.id, name, document.collection, document.title, document.aliases, headings
        )
        self.documents.append(kept)
        text = f"{document.title}\n{document.body}"
        words = Counter(word.text for word in analyze(text).words)
        for word, count in words.items():
            self._spellings.setdefault(_key(word), Counter())[folded(word)] += count
        for key in set(map(_key, words)):
            self._frequency[key] += 1
            holders = self._holders.setdefault(key, [])
            if len(holders) < RARE:
                holders.append(number)
        for named in (kept.title, *kept.aliases):
            for one in analyze(named).words:
                self._named.setdefault(_key(one.text), set()).add(number)
        for spelt in (kept.title, *kept.aliases, *kept.headings):
            self._spelt.setdefault(_spelling(spelt), set()).add(number)

    def _follow(self, links: Sequence[tuple[int, str, str, bool]]) -> None:
        """Keep the words of links that lead to another document and are no name of it."""
        places = _Places(self.documents)
        for source, target, anchor, wiki in links:
            found = places.find(source, target, wiki=wiki)
            if found is None or found == source:
                continue
            named = self.documents[found]
            known = (named.title, *named.aliases, _file(named.name), target)
            if folded(anchor) not in map(folded, known):
                self.anchors.append((source, found, anchor))
                self._spelt.setdefault(_spelling(anchor), set()).add(found)


class _Places:
    """Which document a link leads to, inside the collection of the one that holds it."""

    def __init__(self, documents: Sequence[Surveyed]) -> None:
        self._documents = documents
        self._by_path: dict[tuple[str, str], int] = {}
        self._by_name: dict[tuple[str, str], set[int]] = {}
        for number, document in enumerate(documents):
            for spelt in (document.path, document.path.rpartition(".")[0]):
                self._by_path[document.collection, spelt] = number
            for name in (_file(document.path), document.title, *document.aliases):
                self._by_name.setdefault((document.collection, folded(name)), set()).add(number)

    def find(self, source: int, target: str, *, wiki: bool) -> int | None:
        """The one document that the target names, seen from the source."""
        path = target.partition("#")[0].strip()
        if not path or "://" in target or target.startswith("mailto:"):
            return None
        own = self._documents[source]
        if wiki:
            named = self._by_name.get((own.collection, folded(path)), set())
            alone = next(iter(named)) if len(named) == 1 else None
            return self._by_path.get((own.collection, path), alone)
        path = unquote(path.partition("?")[0])
        if not path.startswith("/"):
            path = posixpath.join(posixpath.dirname(own.path), path)
        return self._by_path.get((own.collection, posixpath.normpath(path).lstrip("/")))


def _file(path: str) -> str:
    return posixpath.basename(path).rpartition(".")[0]


@lru_cache(maxsize=1 << 17)
def _key(word: str) -> str:
    """The name under which all forms of a word meet, whatever the language around it."""
    return " ".join(stem for one in analyze(word).words for stem in one.stems)


def _spelling(text: str) -> str:
    return " ".join(_key(word.text) for word in analyze(text).words)


# ------------------------------------------------------------------------------- what was opened


def with_opened(golden: GoldenSet, library: Library, *, scope: Scope, least: int = 1) -> GoldenSet:
    """The set with one query for each that led to an opened document and that it lacks.

    What was opened most often for a query is relevant, the rest partial; what was opened fewer
    than `least` times for it, and documents that are gone, do not count. Whether it answered is for
    a person to say, so none of them is verified.
    """
    spelled: dict[str, str] = {}
    counts: dict[str, Counter[str]] = {}
    for one in library.opened(scope=scope):
        asked = " ".join(one.query.casefold().split())
        spelled[asked] = one.query
        counts.setdefault(asked, Counter())[one.id] += 1
    known = {" ".join(one.query.casefold().split()) for one in golden.queries}
    names = Names(library, scope=scope)
    for asked, opened in counts.items():
        enough = {id: count for id, count in opened.items() if count >= least}
        documents = {id: found for id in enough if (found := _opened(library, id, scope))}
        if asked in known or not documents:
            continue
        most = max(enough[id] for id in documents)
        best = [names.of(one) for id, one in documents.items() if enough[id] == most]
        others = [names.of(one) for id, one in documents.items() if enough[id] < most]
        opened_query = GoldenQuery(
            id="",
            query=spelled[asked],
            relevant=tuple(dict.fromkeys(best)),
            partial=tuple(dict.fromkeys(others)),
            category="log",
        )
        golden = with_query(golden, opened_query, verified=False)
    return golden


def _opened(library: Library, id: str, scope: Scope) -> Document | None:
    try:
        found = library.document(id, scope=replace(scope, archived=True))
    except NoSuchDocument:
        return None
    return found if found.id == id else None
