"""Is a golden set sound? Every problem, with the query it is in and what to do."""

from __future__ import annotations

import difflib
import heapq
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property

from twolane.errors import BadGoldenSet
from twolane.evaluation.golden_values import GoldenQuery, GoldenSet
from twolane.evaluation.references import names_of, normal, same_document

# Looking for the nearest of many paths takes time; who has more unknown paths than this
# has named the wrong vault, not misspelt a note.
_SUGGESTIONS = 100
_SHORTLIST = 20


def validate(golden: GoldenSet, known_paths: Iterable[str] | None = None) -> None:
    """Raise `BadGoldenSet` with everything that is wrong with the set.

    With `known_paths`, the paths (URLs, ids) of the documents that can be found,
    every reference must name exactly one of them.
    """
    known = None if known_paths is None else _Known(known_paths)
    problems = [] if golden.queries else ["the set has no queries; add some"]
    problems += _repeats(golden.queries)
    for query in golden.queries:
        found = [*_texts(query), *_judgments(query), *_twice(query)]
        if known is not None:
            found += known.problems(query)
        problems += [f"query {query.id!r}: {problem}" for problem in found]
    if problems:
        raise BadGoldenSet(golden.name, problems)


def _repeats(queries: Iterable[GoldenQuery]) -> Iterator[str]:
    ids: set[str] = set()
    texts: dict[str, str] = {}
    for query in queries:
        if query.id in ids:
            yield f"query {query.id!r}: the id is used before; give each query its own"
        ids.add(query.id)
        text = _folded(query.query)
        if text and text in texts:
            yield (
                f"query {query.id!r}: asks the same as query {texts[text]!r} ({query.query!r}); "
                "remove one, or it counts twice"
            )
        texts.setdefault(text, query.id)


def _texts(query: GoldenQuery) -> Iterator[str]:
    if not query.id.strip():
        yield "the id is empty; give the query a name"
    if not query.query.strip():
        yield "the query is empty; write what to search for"


def _judgments(query: GoldenQuery) -> Iterator[str]:
    judged_relevant = [*query.relevant, *(id for id, grade in query.graded if grade >= 1)]
    if query.unanswerable:
        for document in dict.fromkeys([*judged_relevant, *query.partial]):
            yield (
                f"unanswerable, yet {document!r} is said to answer it; "
                "remove the document or the mark"
            )
    elif not judged_relevant:
        yield "no relevant document; name one, or mark the query unanswerable"


def _twice(query: GoldenQuery) -> Iterator[str]:
    """Problems of documents that are judged more than once, however they are spelt."""
    judged = [(document, "relevant") for document in query.relevant]
    judged += [(document, "partial") for document in query.partial]
    # The names of one document differ at most in what `names_of` leaves out,
    # so only references with a name in common need to be compared.
    by_name: dict[str, list[tuple[str, str]]] = {}
    for document, how in [*judged, *((document, "graded") for document, _ in query.graded)]:
        for other, before in by_name.get(names_of(document)[-1], ()):
            if not (same_document(other, document) or same_document(document, other)):
                continue
            spelt = "" if other == document else f" (as {other!r})"
            if how == before:
                yield f"{document!r} is listed twice as {how}{spelt}; keep one"
            else:
                yield f"{document!r} is both {before}{spelt} and {how}; decide for one"
            break
        by_name.setdefault(names_of(document)[-1], []).append((document, how))


class _Known:
    """The documents that can be found, by every name that a reference may use."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted({unicodedata.normalize("NFC", path) for path in paths})
        self._by_name: dict[str, list[str]] = {}
        self._by_file: dict[str, str] = {}
        self._suggestions = _SUGGESTIONS
        for path in self._paths:
            self._by_file.setdefault(path.rpartition("/")[2].casefold(), path)
            for name in names_of(path):
                self._by_name.setdefault(name, []).append(path)

    def problems(self, query: GoldenQuery) -> Iterator[str]:
        """What is wrong with the references of a query."""
        quoted = (one.path for one in query.evidence)
        for reference in dict.fromkeys([*query.grades, *quoted]):
            found = self._by_name.get(normal(reference), [])
            if not found:
                yield f"no document {reference!r}; {self._advice(reference)}"
            elif len(found) > 1 and reference not in found:
                names = ", ".join(found)
                yield f"{reference!r} may be any of {names}; write the path in full"

    def _advice(self, reference: str) -> str:
        if not self._paths:
            return "there are no documents at all; index the vault first"
        nearest = self._nearest(reference)
        if nearest is None:
            return "correct the path, or remove it"
        return f"did you mean {nearest!r}?"

    def _nearest(self, reference: str) -> str | None:
        wanted = normal(reference)
        file = wanted.rpartition("/")[2].casefold()
        # A moved note keeps its file name, which says more than a similar path does.
        for name in (file, f"{file}.md"):
            if name in self._by_file:
                return self._by_file[name]
        if self._suggestions == 0:
            return None
        self._suggestions -= 1
        # A careful comparison with every path of a large vault takes seconds; shared trigrams
        # are quick to count, and what is really near has many of them.
        signs = _trigrams(wanted)
        best = heapq.nlargest(_SHORTLIST, self._signs, key=lambda one: len(signs & one[0]))
        close = difflib.get_close_matches(wanted, [path for _, path in best], n=1)
        return close[0] if close else None

    @cached_property
    def _signs(self) -> list[tuple[frozenset[str], str]]:
        return [(_trigrams(path), path) for path in self._paths]


def _trigrams(text: str) -> frozenset[str]:
    folded = f"  {text.casefold()} "
    return frozenset(folded[start : start + 3] for start in range(len(folded) - 2))


def _folded(text: str) -> str:
    """The text as search sees it, so that a difference here is one that can change an answer."""
    folded = unicodedata.normalize("NFC", text).casefold().replace("ё", "е")
    return " ".join(folded.split())
