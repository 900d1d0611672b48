"""Make the packaged dictionary of translations from two lists of words.

    python benchmarks/translations.py ENGLISH RUSSIAN

The lists have a word per line; what follows a `/` is left out, as in the dictionaries of Hunspell.
The packaged file was made from Debian's `wamerican` (SCOWL) and `hunspell-ru`.
Every word is embedded by the default embedder, and each stem gets the stems of the other language
whose words are nearest to its own.
No golden set, no note and no translation by anybody has a part in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twolane.embedding.embedders.use import UseEmbedder
from twolane.text.languages import FUNCTION_WORDS
from twolane.text.tokens import terms_of
from twolane.text.translations import write_dictionary

# So many neighbours, because most of them are in no note: few words have to do for many.
NEIGHBOURS = 12

# What is less similar than this has nothing in common.
LEAST = 0.5

_BATCH = 256
_BLOCK = 1024

TARGET = Path(__file__).parents[1] / "src/twolane/text/translations.bin"

Matrix = NDArray[np.float32]


def words(path: Path, language: str) -> dict[str, str]:
    """The shortest word of each stem in a list, without names, function words and fragments."""
    found: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        word = line.partition("/")[0].strip()
        plain = word.isalpha() and word == word.lower() and 3 <= len(word) <= 20
        if not plain or word.replace("ё", "е") in FUNCTION_WORDS[language]:
            continue
        term = terms_of(word, [language])[0][0]
        held = found.get(term)
        if held is None or (len(word), word) < (len(held), held):
            found[term] = word
    return found


def embedded(texts: list[str]) -> Matrix:
    """One row per word."""
    embedder = UseEmbedder()
    # Words of one length make the fullest batches.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    rows = np.zeros((len(texts), embedder.space.dimensions), np.float32)
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        rows[some] = embedder.embed_passages([texts[number] for number in some])
    return rows


def nearest(one: Matrix, other: Matrix) -> Iterable[list[tuple[int, float]]]:
    """For each row of one, the nearest rows of the other with their similarity."""
    for start in range(0, len(one), _BLOCK):
        similar = one[start : start + _BLOCK] @ other.T
        best = np.argpartition(-similar, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        for row, numbers in zip(similar, best, strict=True):
            ordered = sorted(numbers.tolist(), key=lambda number: -row[number])
            yield [(number, float(row[number])) for number in ordered if row[number] >= LEAST]


def main(english: str, russian: str) -> None:
    """Write the dictionary."""
    lists = {"en": words(Path(english), "en"), "ru": words(Path(russian), "ru")}
    terms = {language: sorted(found) for language, found in lists.items()}
    rows = {
        language: embedded([lists[language][term] for term in terms[language]])
        for language in lists
    }
    entries: dict[str, list[tuple[str, float]]] = {}
    for term, found in zip(terms["en"], nearest(rows["en"], rows["ru"]), strict=True):
        entries[term] = [(terms["ru"][number], similar) for number, similar in found]
    # Rare words that are nearest to nothing would make the file three times as large.
    reached = {other for links in entries.values() for other, _ in links}
    for term, found in zip(terms["ru"], nearest(rows["ru"], rows["en"]), strict=True):
        if term in reached:
            entries[term] = [(terms["en"][number], similar) for number, similar in found]
    TARGET.write_bytes(write_dictionary(entries))
    print(f"{len(entries)} terms, {TARGET.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
