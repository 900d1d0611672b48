"""Words that the index does not hold, repaired through the words that it does.

A typed word that no document holds is a slip more often than a wish:
another keyboard layout, another script, a typo, a compound written apart or together,
or part of a word.
A repaired word keeps its text, gets the terms that may have been meant, and counts for less.
A usual word is no slip: it is only widened by words that are almost it, and means what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from twolane.answers import Repair
from twolane.language import (
    Reading,
    plain_form,
    read,
    symbol_parts,
    terms_of,
    tokens,
    words_of,
)
from twolane.language.scripts import script_of
from twolane.language.usual_words import is_usual
from twolane.ports import Retrieval
from twolane.query import Query
from twolane.scopes import Word
from twolane.spelling import in_cyrillic, other_layout, rough, tolerance

# How surely each kind of slip is one; a guess is worth less than what was typed.
TRUST = {
    "symbol": 0.9,
    "layout": 0.95,
    "transliteration": 0.95,
    "compound": 0.9,
    "typo": 0.8,
    "beginning": 0.7,
    "slips": 0.5,
    "part": 0.5,
}

# In a longer query a word that no note holds is a synonym more often than a slip.
_FEW_WORDS = 3

# A slip may point at several words; more than this many is no longer a guess but noise.
_MOST = 5

# Parts of words shorter than this are in too many words.
_SHORTEST_BEGINNING = 4
_SHORTEST_PART = 4

# Two stems that begin alike for this much of their length are forms of one word.
_SAME_WORD = 2 / 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms that the index holds, with what repairing needs to know of them."""

    terms: Sequence[str]
    known: frozenset[str]
    rough: dict[str, list[str]]

    @classmethod
    def of(cls, terms: Sequence[str]) -> Vocabulary:
        """A vocabulary of these terms."""
        roughly: dict[str, list[str]] = {}
        for term in terms:
            if not term.isascii() or term.isalpha():
                roughly.setdefault(rough(term), []).append(term)
        return cls(terms, frozenset(terms), roughly)


class HeldVocabulary:
    """The vocabulary of a store, made anew only when the store's terms change."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._made: tuple[Sequence[str], Vocabulary] | None = None

    def current(self) -> Vocabulary:
        """The vocabulary as it is now."""
        terms = self._retrieval.vocabulary()
        made = self._made
        if made is None or made[0] is not terms:
            made = self._made = (terms, Vocabulary.of(terms))
        return made[1]


def repaired(
    query: Query,
    is_known: Callable[[Word], bool],
    vocabulary: Callable[[], Vocabulary],
    held: Collection[str],
) -> tuple[Query, tuple[Repair, ...]]:
    """The query with its unknown words repaired, and the repairs.

    Words that the index holds are never touched, and the vocabulary is only asked for if needed.
    """
    unknown = [word for word in query.words if not word.prefix and not is_known(word)]
    if not unknown:
        return query, ()
    held_terms = vocabulary()
    repairs: list[Repair] = []
    replacement: dict[Word, Word] = {}
    meant: list[str] = []
    few = len(query.words) <= _FEW_WORDS
    for piece in query.meaning.split():
        found = list(_repairs_of(piece, unknown, held_terms, held, few))
        repairs += found
        for repair in found:
            for word in unknown:
                if word.text in _tokens_of(repair.typed):
                    replacement.setdefault(word, _replaced(word, repair))
        meant.append(_meant(piece, found))
    for repair, word in _joined(query.words, unknown, held_terms) if few else ():
        repairs.append(repair)
        replacement.setdefault(word, _replaced(word, repair))
    if not repairs:
        return query, ()
    mended = replace(
        query,
        words=tuple(replacement.get(word, word) for word in query.words),
        marks=tuple(replacement.get(word, word) for word in query.marks),
        meaning=" ".join(meant),
    )
    return replace(mended, reading=_reading(query, mended, held)), tuple(repairs)


def _replaced(word: Word, repair: Repair) -> Word:
    return replace(word, terms=repair.terms, weight=TRUST[repair.kind])


def _meant(piece: str, repairs: Sequence[Repair]) -> str:
    """The piece with the tokens that were typed in other letters as they are written."""
    written = {repair.typed: repair.written for repair in repairs if repair.written}
    if piece in written:
        return written[piece]
    for token in reversed(tokens(piece)):
        if token.text in written:
            piece = piece[: token.start] + written[token.text] + piece[token.end :]
    return piece


def _reading(query: Query, mended: Query, held: Collection[str]) -> Reading:
    """The languages of what was meant; keys pressed under the wrong layout say nothing of them.

    A query whose words are all held in the other script alone (`постгрес`, where notes have
    `Postgres`) may be in either language: words can judge the notes of both.
    """
    reading = query.reading if mended.meaning == query.meaning else read(mended.meaning, held)
    if all(_is_elsewhere(word) for word in mended.words):
        also = read(" ".join(term for word in mended.words for term in word.terms), held)
        return replace(reading, languages=reading.languages | also.languages)
    return reading


def _is_elsewhere(word: Word) -> bool:
    """Whether a word's terms are all in another script than the word was typed in."""
    typed = script_of(word.text)
    return all(script_of(term) != typed for term in word.terms)


def _tokens_of(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def _repairs_of(
    piece: str,
    unknown: Sequence[Word],
    vocabulary: Vocabulary,
    held: Collection[str],
    few: bool,
) -> Iterator[Repair]:
    lost = [text for text in _tokens_of(piece) if any(word.text == text for word in unknown)]
    if not lost:
        return
    slip = _layout_slip(piece, vocabulary, held)
    if slip:
        yield slip
        return
    for text in lost:
        repair = _repair(text, vocabulary, held, few)
        if repair:
            yield repair


def _layout_slip(piece: str, vocabulary: Vocabulary, held: Collection[str]) -> Repair | None:
    """The piece under the other keyboard layout, if all of it then makes sense."""
    other = other_layout(piece)
    words = words_of(other, held)
    if not words or other == piece:
        return None
    hits = [tuple(term for term in word.terms if term in vocabulary.known) for word in words]
    if not all(hits):
        return None
    return Repair(piece, tuple(term for terms in hits for term in terms), "layout", other)


def _repair(text: str, vocabulary: Vocabulary, held: Collection[str], few: bool) -> Repair | None:
    stems = sorted({term for position in terms_of(text, [*held]) for term in position})
    for kind, find in (
        ("symbol", _by_parts),
        ("transliteration", _sounds_alike),
        ("beginning", _beginning),
        ("typo", _one_slip),
        ("compound", _apart),
        ("slips", _more_slips),
        ("part", _part),
    ):
        if not few and kind not in ("symbol", "transliteration"):
            continue
        terms = find(text, stems, vocabulary)
        if kind in ("typo", "slips") and is_usual(text):
            terms = [term for term in terms if any(_begins_like(term, stem) for stem in stems)]
        if terms:
            return Repair(text, tuple(terms[:_MOST]), kind, _by_ear(text, kind))
    return None


def _begins_like(term: str, stem: str) -> bool:
    """Whether two stems may be of one word (`церков`, `церкв`), unlike `choos` and `chose`."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(term, stem, strict=False))
    return sum(1 for _ in alike) >= _SAME_WORD * len(stem)


def _by_ear(text: str, kind: str) -> str | None:
    """What a transliterated word is in its own letters; a usual word has its own meaning."""
    if kind != "transliteration" or not text.isascii() or is_usual(text):
        return None
    return in_cyrillic(text)


def _by_parts(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The parts of a symbol that no document holds whole."""
    parts = [term for part in symbol_parts(text) for term in terms_of(part, [None])[0]]
    return parts if parts and all(term in vocabulary.known for term in parts) else []


def _sounds_alike(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    if text.isascii() and script_of(text) == "latin":
        (by_ear, *_) = terms_of(in_cyrillic(text), ["ru"])
        exact = [term for term in by_ear if term in vocabulary.known]
        if exact:
            return exact
        stems = by_ear
    elif script_of(text) == "cyrillic":
        (by_ear, *_) = terms_of(rough(text), ["en"])
        exact = [term for term in by_ear if term in vocabulary.known]
        if exact:
            return exact
    other = not text.isascii()
    return [
        term
        for stem in stems
        for term in vocabulary.rough.get(rough(stem), ())
        if term.isascii() is other
    ]


def _one_slip(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    return _near(text, stems, vocabulary, 1)


def _more_slips(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    return _near(text, stems, vocabulary, 2)


def _near(text: str, stems: Sequence[str], vocabulary: Vocabulary, most: int) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if any(char.isdigit() for char in text):
        return []
    found: dict[str, float] = {}
    for stem in {*stems, plain_form(text)}:
        allowed = min(most, tolerance(stem))
        if not allowed:
            continue
        for term, distance, _ in process.extract(
            stem, vocabulary.terms, scorer=OSA.distance, score_cutoff=allowed, limit=20
        ):
            if script_of(term) == script_of(text) and len(term) > allowed + 1:
                # People get the first letter right; a word that shares it is the likelier one.
                found[term] = min(found.get(term, 9.0), distance + (term[0] != stem[0]) * 0.5)
    return sorted(found, key=lambda term: (found[term], term))


def _beginning(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    form = plain_form(text)
    if len(form) < _SHORTEST_BEGINNING:
        return []
    return sorted(
        (term for term in vocabulary.terms if term.startswith(form)), key=lambda t: (len(t), t)
    )


def _part(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    form = plain_form(text)
    if len(form) < _SHORTEST_PART:
        return []
    return sorted((term for term in vocabulary.terms if form in term), key=lambda t: (len(t), t))


def _apart(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Two known words that were written together."""
    form = plain_form(text)
    cuts = [cut for cut in range(1, len(form)) if _is_seam(form, cut)]
    for cut in cuts or range(3, len(form) - 2):
        first, second = form[:cut], form[cut:]
        halves = [
            next((t for t in terms_of(half, [None])[0] if t in vocabulary.known), None)
            for half in (first, second)
        ]
        if halves[0] and halves[1]:
            return [halves[0], halves[1]]
    return []


def _is_seam(form: str, cut: int) -> bool:
    """Whether letters meet digits there, as in `bx4401`."""
    return form[cut - 1].isdigit() is not form[cut].isdigit()


def _joined(
    words: Sequence[Word], unknown: Sequence[Word], vocabulary: Vocabulary
) -> Iterator[tuple[Repair, Word]]:
    """Neighbouring words, one of them unknown, that are one word in the index."""
    for one, other in pairwise(words):
        if one in unknown or other in unknown:
            together = plain_form(one.text + other.text)
            terms = [t for t in terms_of(together, [None])[0] if t in vocabulary.known]
            if terms:
                repair = Repair(f"{one.text} {other.text}", tuple(terms), "compound")
                yield from ((repair, word) for word in (one, other) if word in unknown)
