"""Which passage of a document answers a query best, by the words that it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from twolane.ingest.chunking import plain
from twolane.model.document import EMPTY, Chunk, Document
from twolane.model.scope import Word
from twolane.results.mentions import Sought, sought, spellings
from twolane.text.tokens import streams

# Words of a long document are looked through in blocks: most blocks hold no sought word.
_BLOCK = 16

# So few chunks are judged as fast as they are looked through.
_FEW = 8


def passage_for(
    document: Document,
    chunks: Sequence[Chunk],
    marks: Sequence[Word],
    rarity: Mapping[str, float] = EMPTY,
) -> int | None:
    """The position of the chunk that answers the marks best, None if no chunk holds any.

    Best means: most distinct marks by weight, then most marks side by side as in the query,
    then most occurrences, then first.
    """
    best = best_passage(document, chunks, sought(marks, rarity))
    return None if best is None else best.position


def weight_of(document: Document, chunk: Chunk, words: Sought) -> float:
    """How much of the query the chunk holds."""
    return _score(plain(document.body[chunk.start : chunk.end]), words, chunk)[0]


def best_passage(document: Document, chunks: Sequence[Chunk], words: Sought) -> Chunk | None:
    """The chunk that answers best, as `passage_for` says; None if none holds a sought word."""
    best: Chunk | None = None
    highest: _Score = (0.0, 0, 0, 0)
    for bound, chunk in _promising(document, chunks, words):
        # What a reader sees holds no more words than its source with its link targets,
        # so no chunk from here on can do better.
        if bound < highest:
            break
        score = _score(plain(document.body[chunk.start : chunk.end]), words, chunk)
        if score > highest:
            best, highest = chunk, score
    return best


_Score = tuple[float, int, int, int]


def _promising(
    document: Document, chunks: Sequence[Chunk], words: Sought
) -> list[tuple[_Score, Chunk]]:
    """The chunks that may hold a sought word, each with the best score it can have, best first."""
    if not words.weights:
        return []
    if len(chunks) <= _FEW:
        return [((math.inf, 0, 0, 0), chunk) for chunk in chunks]
    promising = []
    for language in sorted({chunk.language or "" for chunk in chunks}):
        group = [chunk for chunk in chunks if (chunk.language or "") == language]
        spelled = [document.body[chunk.start : chunk.end].split() for chunk in group]
        answers = _answers(set().union(*spelled), words, language or None)
        for chunk, written in zip(group, spelled, strict=True):
            answered = [answers[word] for word in written if word in answers]
            if answered:
                bits = 0
                for more, _ in answered:
                    bits |= more
                occurrences = sum(count for _, count in answered)
                neighbours = len(words.pairs) if bits & (bits - 1) else 0
                bound = (words.weight(bits), neighbours, occurrences, -chunk.position)
                promising.append((bound, chunk))
    return sorted(promising, key=lambda entry: entry[0], reverse=True)


def _answers(
    written: Iterable[str], words: Sought, language: str | None
) -> dict[str, tuple[int, int]]:
    """Which of the written words hold sought words: which ones, as bits, and how many."""
    answers = {}
    listed = list(written)
    for at in range(0, len(listed), _BLOCK):
        block = listed[at : at + _BLOCK]
        if any(map(words.may_be_in, _streams(" ".join(block), language))):
            for word in block:
                counts = _counts(_streams(word, language), words)
                if any(counts):
                    bits = sum(1 << place for place, count in enumerate(counts) if count)
                    answers[word] = (bits, sum(counts))
    return answers


def _score(text: str, words: Sought, chunk: Chunk) -> _Score:
    """How well the text of a chunk answers: weight, neighbours, occurrences, and being early."""
    streams = _streams(text, chunk.language)
    counts = _counts(streams, words)
    if not any(counts):
        return (0.0, 0, 0, -chunk.position)
    weight = sum(weight for weight, count in zip(words.weights, counts, strict=True) if count)
    neighbours = sum(
        any(pair in stems for pair in pairs for stems in streams) for pairs in words.pairs
    )
    return weight, neighbours, sum(counts), -chunk.position


def _streams(text: str, language: str | None) -> list[str]:
    written = text.split()
    return ["".join(streams(written, spelling)) for spelling in spellings([language])]


def _counts(streams: Sequence[str], words: Sought) -> list[int]:
    """How often each sought word stands in the text of the streams."""
    return [max(sum(map(stems.count, needles)) for stems in streams) for needles in words.needles]
