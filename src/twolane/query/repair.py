"""Words that the index does not hold, repaired through the words that it does.

A typed word that no document holds is a slip more often than a wish:
another keyboard layout, another script, a typo, a compound written apart or together,
or part of a word.
A repaired word keeps its text, gets the terms that may have been meant, and counts for less.
A word that is spelled right is no slip: it is only widened by words that are almost it, and means
what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from twolane.model import deadlines
from twolane.model.answer import Repair
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import LexicalIndex, Likeness
from twolane.query import Query
from twolane.text.languages import script_of
from twolane.text.spelling import (
    are_kin,
    are_twins,
    begins_rightly,
    consonants,
    in_cyrillic,
    is_compound_with,
    is_rare,
    is_right,
    other_layout,
    rough,
    tolerance,
)
from twolane.text.tokens import (
    Reading,
    plain_form,
    read,
    symbol_parts,
    terms_of,
    tokens,
    words_of,
)

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

# So many terms with a slip or two are looked at.
_NEAREST = 20

# A slip may point at several words; more than this many is no longer a guess but noise.
_MOST = 5

# Parts of words shorter than this are in too many words.
_SHORTEST_BEGINNING = 4
_SHORTEST_PART = 4

_SHORTEST_HALF = 3

# Shorter words have too few consonants to be known by.
_SHORTEST_BY_EAR = 4

# Shorter pieces make sense under either layout by chance.
_SHORTEST_SLIP = 3

# So many terms that are like another are looked at; what comes after them is hardly meant.
_MOST_SIMILAR = 1000


class Vocabulary:
    """The terms of the documents that the scope's owner may see."""

    def __init__(self, lexical: LexicalIndex, scope: Scope) -> None:
        self._lexical = lexical
        self._scope = scope

    def known(self, terms: Iterable[str]) -> list[str]:
        """Those of the terms that some document holds, in their order."""
        wanted = tuple(terms)
        word = Word("", wanted)
        found = self._lexical.document_frequencies([word], self._scope).document_frequency
        return [term for term in wanted if found[term]]

    def similar(
        self, term: str, likeness: Likeness, *, edits: int = 1, limit: int = _MOST_SIMILAR
    ) -> list[str]:
        """The terms that are like this one, likest first."""
        return self._lexical.similar_terms(term, self._scope, likeness, edits=edits, limit=limit)


def repaired(
    query: Query,
    is_known: Callable[[Word], bool],
    vocabulary: Callable[[], Vocabulary],
    index_languages: Collection[str],
) -> tuple[Query, tuple[Repair, ...]]:
    """The query with its unknown words repaired, and the repairs.

    Words that the index holds are never touched, and the vocabulary is only asked for if needed.
    """
    unknown = [word for word in query.words if not word.prefix and not is_known(word)]
    if not unknown:
        return query, ()
    terms = vocabulary()
    repairs: list[Repair] = []
    replacement: dict[Word, Word] = {}
    meant: list[str] = []
    few = len(query.words) <= _FEW_WORDS
    pieces = query.meaning.split()
    slips = _layout_slips(pieces, unknown, terms, index_languages)
    for piece in pieces:
        deadlines.check()
        if piece in slips:
            found = [slips[piece]]
        else:
            each = (_repair(text, terms, index_languages, few) for text in _lost(piece, unknown))
            found = [one for one in each if one]
        repairs += found
        for repair in found:
            for word in unknown:
                if word.text in _tokens_of(repair.typed):
                    replacement.setdefault(word, _replaced(word, repair))
        meant.append(_meant(piece, found))
    for repair, word in _joined(query.words, unknown, terms) if few else ():
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
    known_words = [word for word in mended.words if word not in unknown]
    return replace(mended, reading=_reading(query, mended, known_words, index_languages)), tuple(
        repairs
    )


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


def _reading(
    query: Query, mended: Query, known_words: Sequence[Word], index_languages: Collection[str]
) -> Reading:
    """The languages of what was meant; keys pressed under the wrong layout say nothing of them.

    A short query whose `known_words`, those that documents hold, are all in the other script
    (`постгрес`, where notes have `Postgres`) may be in either language: words can judge both.
    """
    reading = (
        query.reading if mended.meaning == query.meaning else read(mended.meaning, index_languages)
    )
    if len(mended.words) <= _FEW_WORDS and all(map(_is_elsewhere, known_words)):
        also = read(" ".join(term for word in known_words for term in word.terms), index_languages)
        return replace(reading, languages=reading.languages | also.languages)
    return reading


def _is_elsewhere(word: Word) -> bool:
    """Whether a word's terms are all in another script than the word was typed in."""
    typed = script_of(word.text)
    return all(script_of(term) != typed for term in word.terms)


def _tokens_of(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def _lost(piece: str, unknown: Sequence[Word]) -> list[str]:
    """The tokens of a piece that no document holds."""
    return [text for text in _tokens_of(piece) if any(word.text == text for word in unknown)]


def _layout_slips(
    pieces: Sequence[str],
    unknown: Sequence[Word],
    vocabulary: Vocabulary,
    index_languages: Collection[str],
) -> dict[str, Repair]:
    """The pieces that make sense under the other keyboard layout, and none under their own.

    Who typed a long word under the wrong layout typed the short ones around it so, too;
    a short one alone is a coincidence.
    """
    slips: dict[str, Repair] = {}
    for piece in pieces:
        lost = _lost(piece, unknown)
        if lost and not any(is_right(one) for one in lost if len(one) >= _SHORTEST_SLIP):
            slip = _layout_slip(piece, vocabulary, index_languages)
            if slip:
                slips[piece] = slip
    written = " ".join(slip.written or "" for slip in slips.values())
    return slips if any(len(text) >= _SHORTEST_SLIP for text in _tokens_of(written)) else {}


def _layout_slip(
    piece: str, vocabulary: Vocabulary, index_languages: Collection[str]
) -> Repair | None:
    """The piece under the other keyboard layout, if all of it then makes sense."""
    other = other_layout(piece)
    words = words_of(other, index_languages)
    if not words or other == piece:
        return None
    hits = [
        tuple(t for t in vocabulary.known(word.terms) if _is_stem_of(t, word.text))
        for word in words
    ]
    if not all(hits):
        return None
    return Repair(piece, tuple(term for terms in hits for term in terms), "layout", other)


def _is_stem_of(term: str, word: str) -> bool:
    """Whether enough is left of a word that was guessed: `ча` of `чай`, but not `о` of `оил`."""
    return len(term) >= min(_SHORTEST_SLIP, len(word) - 1)


def _repair(
    text: str, vocabulary: Vocabulary, index_languages: Collection[str], few: bool
) -> Repair | None:
    stems = sorted({term for position in terms_of(text, [*index_languages]) for term in position})
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
        if terms and kind != "symbol" and is_right(text):
            terms = _same_word(text, stems, kind, terms)
        if terms:
            return Repair(text, tuple(terms[:_MOST]), kind, _by_ear(text, kind))
    return None


def _same_word(text: str, stems: Sequence[str], kind: str, terms: Sequence[str]) -> list[str]:
    """Those of the terms that a word which is spelled right may stand for."""
    if kind == "transliteration":
        by_ear = text.isascii() and is_rare(text)
        long = [term for term in terms if len(term) >= _SHORTEST_SLIP]
        return [term for term in long if by_ear or are_twins(text, term)]
    if kind == "compound":
        # Who writes `carrot` has no `car` in mind.
        return []
    form = plain_form(text)
    return [
        term
        for term in terms
        if term == form
        or any(are_kin(stem, term) for stem in stems)
        or is_compound_with(form, term)
    ]


def _by_ear(text: str, kind: str) -> str | None:
    """What a transliterated word is in its own letters; a right word has its own meaning."""
    if kind != "transliteration" or not text.isascii():
        return None
    return in_cyrillic(text) if is_rare(text) else None


def _by_parts(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The parts of a symbol that no document holds whole."""
    parts = [term for part in symbol_parts(text) for term in terms_of(part, [None])[0]]
    return parts if parts and vocabulary.known(parts) == parts else []


def _sounds_alike(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Terms of the other script that sound like the word: as it is spelled there, or roughly."""
    script = script_of(text)
    if len(text) == 1 or script not in ("latin", "cyrillic"):
        return []
    if script == "latin" and text.isascii():
        spelled, language = in_cyrillic(text), "ru"
    else:
        spelled, language = rough(text), "en"
    (by_ear, *_) = terms_of(spelled, [language])
    exact = [term for term in vocabulary.known(by_ear) if _is_stem_of(term, spelled)]
    if exact:
        return exact
    return [
        term
        for stem in (by_ear if language == "ru" else stems)
        for term in vocabulary.similar(stem, Likeness.SOUND)
        if script_of(term) != script and len(term) >= _SHORTEST_BY_EAR
    ]


def _one_slip(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    return _near(text, stems, vocabulary, 1) or _by_ear_alone(text, stems, vocabulary)


def _by_ear_alone(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The one term that a short word, in small letters, sounds like: `барщ` is `борщ`.

    Short words are near many others: what begins otherwise or differs in a consonant is another
    word, and where two are as near nobody can tell which was meant.
    """
    if not text.islower() or not text.isalpha() or is_right(text):
        return []
    found = {
        term
        for stem in stems
        if len(stem) >= _SHORTEST_BY_EAR and not tolerance(stem)
        for term in vocabulary.similar(stem, Likeness.EDITS)
        if term[0] == stem[0] and term != stem and _sounds_near(stem, term)
    }
    return sorted(found) if len(found) == 1 else []


def _sounds_near(stem: str, term: str) -> bool:
    """Whether what differs is a vowel, its place, a doubled letter or one that was left out."""
    if len(stem) == len(term):
        return consonants(stem) == consonants(term)
    # Where a letter was left out, the whole word is long enough to be recognised without it.
    return rough(stem) == rough(term) or (len(stem) < len(term) and bool(tolerance(term)))


def _more_slips(text: str, stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    return _near(text, stems, vocabulary, 2)


def _near(text: str, stems: Sequence[str], vocabulary: Vocabulary, most: int) -> list[str]:
    from rapidfuzz.distance import OSA

    if any(char.isdigit() for char in text):
        return []
    found: dict[str, float] = {}
    for stem in {*stems, plain_form(text)}:
        allowed = min(most, tolerance(stem))
        if not allowed:
            continue
        for term in vocabulary.similar(stem, Likeness.EDITS, edits=allowed, limit=_NEAREST):
            distance = OSA.distance(stem, term)
            if (
                script_of(term) == script_of(text)
                and len(term) > allowed + 1
                and begins_rightly(stem, term)
            ):
                # Of words that begin rightly the one with the same letter is the likelier one.
                found[term] = min(found.get(term, 9.0), distance + (term[0] != stem[0]) * 0.5)
    return sorted(found, key=lambda term: (found[term], term))


def _beginning(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    form = plain_form(text)
    if len(form) < _SHORTEST_BEGINNING:
        return []
    return vocabulary.similar(form, Likeness.PREFIX)


def _part(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    form = plain_form(text)
    if len(form) < _SHORTEST_PART:
        return []
    return vocabulary.similar(form, Likeness.PART)


def _apart(text: str, _stems: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Two known words that were written together."""
    form = plain_form(text)
    cuts = [cut for cut in range(1, len(form)) if _is_seam(form, cut)]
    # Two letters of a stem are in words by chance: `кашель` is no `каша` and `ель`.
    shortest = 1 if cuts else _SHORTEST_HALF
    for cut in cuts or range(3, len(form) - 2):
        halves = [
            next((t for t in vocabulary.known(stems) if len(t) >= shortest), None)
            for half in (form[:cut], form[cut:])
            for stems in terms_of(half, [None])[:1]
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
            terms = vocabulary.known(terms_of(together, [None])[0])
            if terms:
                repair = Repair(f"{one.text} {other.text}", tuple(terms), "compound")
                yield from ((repair, word) for word in (one, other) if word in unknown)
