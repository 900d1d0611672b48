"""A golden set from a user's own vault: known-item queries that need no judge.

A title, an alias, a heading, the words of a link or a rare phrase belong to one note;
asked as a query, they should find it. What could mean several notes is left out.
The same vault, seed and recipe give the same set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from twolane import Library, Scope, digest
from twolane.errors import BadInput, NoSuchDocument
from twolane.evaluation.golden_hiding import Hiding, hidden
from twolane.evaluation.golden_phrases import rare_phrases
from twolane.evaluation.golden_survey import RARE, Survey
from twolane.evaluation.golden_values import Evidence, GoldenQuery, GoldenSet
from twolane.language import fold, read

KINDS = ("title", "alias", "heading", "anchor", "phrase")

# Words that a query of each kind must hold beside function words: a heading `Tools` or a link
# `here` is no way to ask for one note.
_FEWEST = {"title": 1, "alias": 1, "heading": 2, "anchor": 2, "phrase": 3}

# So many times more candidates than queries are looked at; some are given up on the way.
_SPARE = 20

_PHRASES_OF_ONE = 2

# What a search looks at when it is not told otherwise.
USUAL = Scope()


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


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A text that may become a query, the number of the note it belongs to, and its origin."""

    kind: str
    text: str
    target: int
    evidence: tuple[Evidence, ...] = ()


def build(
    library: Library, recipe: Recipe, *, name: str, vault: str | None = None, scope: Scope = USUAL
) -> list[GoldenSet]:
    """One set for each part of the split, in its order; no note is sought in two of them."""
    survey = Survey(library, scope)
    maker = _Maker(library, survey, recipe, scope)
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
    return [
        GoldenSet(
            name=f"{name}.{split}" if split else name,
            description=_description(recipe),
            vault=vault,
            queries=tuple(queries),
        )
        for split, queries in zip(recipe.splits, parts, strict=True)
    ]


def _description(recipe: Recipe) -> str:
    return (
        "Known-item queries made from the notes themselves; nobody has judged them. "
        f"Kinds: {', '.join(recipe.kinds)}; hidden words: {recipe.hiding}; seed {recipe.seed}."
    )


class _Maker:
    """Makes queries from candidates, in an order that only the seed decides."""

    def __init__(self, library: Library, survey: Survey, recipe: Recipe, scope: Scope) -> None:
        self._library = library
        self._survey = survey
        self._recipe = recipe
        self._scope = scope
        self._languages: dict[int, str | None] = {}

    def queries(self) -> list[tuple[int, GoldenQuery]]:
        """The number of the note and its query, as many as wanted or as there are."""
        made = [self._made(kind) for kind in self._recipe.kinds]
        sought: dict[str, set[int]] = {}
        for candidate in chain.from_iterable(made):
            sought.setdefault(fold(candidate.text), set()).add(candidate.target)
        seen: set[str] = set()
        chosen: list[tuple[int, GoldenQuery]] = []
        # One of each kind by turns, so that a small set has some of all.
        for candidate in chain.from_iterable(zip_longest(*made)):
            if candidate is None or len(chosen) == self._recipe.count:
                continue
            text = fold(candidate.text)
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
        """The candidates of one kind that can be queries, in the order of the seed."""
        ordered = islice(self._ordered(kind), self._recipe.count * _SPARE)
        return [made for candidate in ordered if (made := self._finished(candidate))]

    def _ordered(self, kind: str) -> Iterator[_Candidate]:
        """The first of every note before the second of any."""
        if kind == "phrase":
            yield from self._phrases()
            return
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
        for number, one in enumerate(documents):
            if kind == "title":
                yield _Candidate(kind, one.title, number)
            elif kind == "alias":
                for alias in one.aliases:
                    yield _Candidate(kind, alias, number)
            else:
                for heading in one.headings:
                    if fold(heading) != fold(one.title):
                        yield _Candidate(kind, heading, number, (Evidence(one.name, heading),))

    def _phrases(self) -> Iterator[_Candidate]:
        """Phrases note by note; a note's body is read again only when its turn comes."""
        later = []
        for number in sorted(range(len(self._survey.documents)), key=self.order_of):
            known = self._survey.documents[number]
            try:
                document = self._library.document(known.id, scope=self._scope)
            except NoSuchDocument:  # It went while we were looking.
                continue
            found = islice(rare_phrases(document, number, self._survey), _PHRASES_OF_ONE)
            for place, phrase in enumerate(found):
                evidence = Evidence(known.name, phrase.quote)
                candidate = _Candidate("phrase", phrase.text, number, (evidence,))
                if place:
                    later.append(candidate)
                else:
                    yield candidate
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
        return _Candidate(candidate.kind, text, candidate.target, candidate.evidence)

    def _query(self, candidate: _Candidate) -> GoldenQuery:
        known = self._survey.documents[candidate.target]
        answer = self._language(candidate.target)
        asked = self._asked_in(candidate.text, answer)
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

    def _language(self, target: int) -> str | None:
        """The language of most passages of a note."""
        if target not in self._languages:
            document = self._library.document(self._survey.documents[target].id, scope=self._scope)
            held = Counter(chunk.language for chunk in self._library.chunks(document))
            held.pop(None, None)
            most: Sequence[tuple[str | None, int]] = held.most_common(1)
            self._languages[target] = most[0][0] if most else None
        return self._languages[target]

    def _asked_in(self, text: str, answer: str | None) -> str | None:
        """The language of a query: the note's if it may be, else the only one that it can be."""
        plausible = read(text, self._survey.languages).languages
        if answer in plausible:
            return answer
        return next(iter(plausible)) if len(plausible) == 1 else None
