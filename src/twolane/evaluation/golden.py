"""Golden sets: queries with the documents that answer them.

What a set holds, when one of its references names a document, what makes it sound, and how a
judged query is added. `golden_formats` reads and writes the files.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from rapidfuzz import fuzz, process

from twolane import BadGoldenSet
from twolane.model.scope import EVERYBODY

if TYPE_CHECKING:
    from twolane import Document, Library, Result, Scope

RELEVANT = 2
PARTIAL = 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of a document that show why it was judged as it was."""

    path: str
    quote: str


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A query and its judgments.

    Judgments are `relevant` and `partial` documents, or numbers in `graded` (document, grade)
    where the set comes from a collection with grades of its own.
    `direction` is the language of the query and of the answer, as in `en→ru`.
    `absent` are words that no document holds, which shows that the query is unanswerable;
    `rare` are words that occur in the relevant documents only.
    """

    id: str
    query: str
    relevant: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    lang: str | None = None
    direction: str | None = None
    category: str | None = None
    verified: bool = False
    unanswerable: bool = False
    evidence: tuple[Evidence, ...] = ()
    graded: tuple[tuple[str, int], ...] = ()
    absent: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()

    @property
    def grades(self) -> Mapping[str, int]:
        """Document → grade: relevant 2, partial 1, numbers as they were given."""
        return {
            **dict(self.graded),
            **dict.fromkeys(self.partial, PARTIAL),
            **dict.fromkeys(self.relevant, RELEVANT),
        }


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Queries that are judged over the same documents.

    `vault` is the folder of those documents, as the file spells it: seen from the file.
    """

    name: str
    description: str = ""
    vault: str | None = None
    queries: tuple[GoldenQuery, ...] = ()


def with_query(golden: GoldenSet, query: GoldenQuery, *, verified: bool = True) -> GoldenSet:
    """The set with one query more, under an id of its own.

    Whoever judged it has looked, so it counts as verified.
    Raises `BadGoldenSet` if the set is not sound then: if it asks the same twice, for example.
    """
    found = (re.fullmatch(r".*?([0-9]+)", one.id) for one in golden.queries)
    number = max((int(one[1]) for one in found if one), default=0) + 1
    added = replace(query, id=f"{golden.name}-{number:03}", verified=verified)
    longer = replace(golden, queries=(*golden.queries, added))
    validate(longer)
    return longer


# ------------------------------------------------------------------------------- names


class Names:
    """What the documents of a library are called in golden sets and runs.

    That is the path, or the URL or id where there is none, or the id where two collections
    share a path. `scope` is who is told: what they may not see changes no name.
    """

    def __init__(self, library: Library, *, scope: Scope = EVERYBODY) -> None:
        self._library = library
        self._scope = scope
        self._shared: frozenset[str] = frozenset()
        if len(library.collections(scope=scope)) > 1:
            files = (file.record for file in library.files(scope=scope))
            paths = Counter(record.path for record in files if record.state == "indexed")
            self._shared = frozenset(path for path, count in paths.items() if count > 1)

    def of(self, found: Document | Result) -> str:
        """The name of a document or of a result."""
        if found.path is None:
            return found.url or found.id
        return found.id if found.path in self._shared else found.path

    def known(self) -> list[str]:
        """The names of all documents that can be found."""
        return [self.of(document) for document in self._library.documents(scope=self._scope)]


def vault_of(library: Library, golden: Path, *, scope: Scope = EVERYBODY) -> str | None:
    """The folder of the notes as seen from the file of a golden set, if there is only one."""
    roots = [collection.root for collection in library.collections(scope=scope)]
    if len(roots) != 1 or roots[0] is None:
        return None
    root, folder = Path(roots[0]), golden.resolve().parent
    try:
        return Path(os.path.relpath(root, folder)).as_posix()
    except ValueError:  # Two drives have no path between them.
        return root.as_posix()


# ------------------------------------------------------------------------------- references


def same_document(reference: str, path: str) -> bool:
    """Whether `reference`, as a golden set spells it, names the document found at `path`.

    Both are compared in Unicode form NFC, letter case included:

    - a path names itself; it may leave out `.md` or `.markdown`;
    - `/ru/zakvaska`, a page of a site, names `ru/zakvaska.md`; percent-encoding, a trailing slash
      and a `#section` do not count; a page that is a folder names its `index.md`;
    - `https://…` names a document with that URL; the case of scheme and host, a trailing slash,
      percent-encoding and a `#section` do not count.

    A reference with its suffix written out never names a file with another suffix.
    """
    return _normal(reference) in _names_of(path)


def as_references(ranking: Sequence[str], references: Iterable[str]) -> list[str]:
    """The ranking with each path replaced by the reference that names it, if any does.

    One reference stands for one document: if two paths answer to it, the one that is spelt
    like it takes it, else the better ranked.
    """
    waiting: dict[str, str] = {}
    for reference in references:
        waiting.setdefault(_normal(reference), reference)
    spelt = {_normal(path) for path in ranking}
    renamed = []
    for path in ranking:
        full, *shorter = _names_of(path)
        names = [full, *(name for name in shorter if name not in spelt)]
        name = next((name for name in names if name in waiting), None)
        renamed.append(path if name is None else waiting.pop(name))
    return renamed


def _normal(reference: str) -> str:
    """The reference without the differences that do not count."""
    text = unicodedata.normalize("NFC", reference)
    if "://" in text:
        try:
            parts = urlsplit(text)
        except ValueError:  # Not a URL after all, such as `http://[`: it can still equal itself.
            return text
        place = _decoded(parts.path).rstrip("/")
        return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), place, parts.query, ""))
    if text.startswith("/"):
        return _decoded(text.partition("#")[0]).strip("/")
    return text.removeprefix("./")


def _names_of(path: str) -> tuple[str, ...]:
    """Every normal form of a reference that names the document at `path`, the fullest first."""
    full = _normal(path)
    for suffix in (".md", ".markdown"):
        if full.endswith(suffix) and "://" not in full:
            short = full.removesuffix(suffix)
            if short == "index" or short.endswith("/index"):
                return full, short, short.removesuffix("index").rstrip("/")
            return full, short
    return (full,)


def _decoded(text: str) -> str:
    try:
        return unicodedata.normalize("NFC", unquote(text, errors="strict"))
    except UnicodeDecodeError:  # A percent sign that encodes nothing is just a percent sign.
        return text


# ------------------------------------------------------------------------------- checks

# Who has more unknown paths than this has named the wrong vault, not misspelt a note.
_SUGGESTIONS = 100
_SIMILAR = 60


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


def folded(text: str) -> str:
    """The text as search sees it, so that a difference here is one that can change an answer."""
    plain = unicodedata.normalize("NFC", text).casefold().replace("ё", "е")
    return " ".join(plain.split())


def _repeats(queries: Iterable[GoldenQuery]) -> Iterator[str]:
    ids: set[str] = set()
    texts: dict[str, str] = {}
    for query in queries:
        if query.id in ids:
            yield f"query {query.id!r}: the id is used before; give each query its own"
        ids.add(query.id)
        text = folded(query.query)
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
    judged += [(document, "graded") for document, _ in query.graded]
    # The names of one document differ at most in what `_names_of` leaves out,
    # so only references with a name in common need to be compared.
    by_name: dict[str, list[tuple[str, str]]] = {}
    for document, how in judged:
        same = by_name.setdefault(_names_of(document)[-1], [])
        for other, before in same:
            if same_document(other, document) or same_document(document, other):
                spelt = "" if other == document else f" (as {other!r})"
                if how == before:
                    yield f"{document!r} is listed twice as {how}{spelt}; keep one"
                else:
                    yield f"{document!r} is both {before}{spelt} and {how}; decide for one"
                break
        same.append((document, how))


class _Known:
    """The documents that can be found, by every name that a reference may use."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted({unicodedata.normalize("NFC", path) for path in paths})
        self._by_name: dict[str, list[str]] = {}
        self._by_file: dict[str, str] = {}
        self._suggestions = _SUGGESTIONS
        for path in self._paths:
            self._by_file.setdefault(path.rpartition("/")[2].casefold(), path)
            for name in _names_of(path):
                self._by_name.setdefault(name, []).append(path)

    def problems(self, query: GoldenQuery) -> Iterator[str]:
        """What is wrong with the references of a query."""
        quoted = (quotation.path for quotation in query.evidence)
        for reference in dict.fromkeys([*query.grades, *quoted]):
            found = self._by_name.get(_normal(reference), [])
            if not found:
                yield f"no document {reference!r}; {self._advice(reference)}"
            elif len(found) > 1 and reference not in found:
                names = ", ".join(found)
                yield f"{reference!r} may be any of {names}; write the path in full"

    def _advice(self, reference: str) -> str:
        if not self._paths:
            return "there are no documents at all; index the vault first"
        nearest = self._nearest(_normal(reference))
        return f"did you mean {nearest!r}?" if nearest else "correct the path, or remove it"

    def _nearest(self, wanted: str) -> str | None:
        file = wanted.rpartition("/")[2].casefold()
        # A moved note keeps its file name, which says more than a similar path does.
        for name in (file, f"{file}.md"):
            if name in self._by_file:
                return self._by_file[name]
        self._suggestions -= 1
        if self._suggestions < 0:
            return None
        found = process.extractOne(wanted, self._paths, scorer=fuzz.ratio, score_cutoff=_SIMILAR)
        return str(found[0]) if found else None
