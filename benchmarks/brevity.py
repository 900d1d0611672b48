"""Find the direction that words standing alone have in common, and package it.

    python benchmarks/brevity.py

A sentence encoder places single words near each other, whatever they mean, as it places questions
near questions.
The direction is the mean of the vectors of words that the model's own tokenizer holds whole: the
frequent ones of its sixteen languages, taken at regular distances.
No golden set and no note has a part in it.
Prints how much of it words, pairs of words and sentences hold, and writes
`src/twolane/embedding/length_bias.json`.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twolane.embedding.embedders.use import MODEL, UseEmbedder
from twolane.text.usual_words import pieces

TARGET = Path(__file__).parents[1] / "src" / "twolane" / "embedding" / "length_bias.json"

# Half of the words make the direction, the others show whether it holds for words in general.
WORDS = 4_000
_BATCH = 256

# How the tokenizer's file writes a piece that begins a word: a mark of one byte, the length, ▁.
_PIECE = re.compile(rb"\n[\x07-\x40](\xe2\x96\x81[^\x15]+)\x15")

Matrix = NDArray[np.float32]


def main() -> int:
    """Work out the direction, show what it is worth, and write it."""
    words = usual_words()
    chosen = words[:: len(words) // WORDS][:WORDS]
    embedder = UseEmbedder()

    def embedded(texts: list[str]) -> Matrix:
        starts = range(0, len(texts), _BATCH)
        return np.concatenate([embedder.embed_passages(texts[at : at + _BATCH]) for at in starts])

    mean = embedded(chosen[::2]).mean(axis=0)
    direction = mean / np.linalg.norm(mean)
    others = chosen[1::2]
    for count in (1, 2, 3, 4, 6, 8, 12):
        texts = [" ".join(others[at : at + count]) for at in range(0, len(others) - count, count)]
        held = embedded(texts) @ direction
        print(f"{count:2} words: {held.mean():.3f} ± {held.std():.3f}")
    written = base64.b64encode(direction.astype("<f2").tobytes()).decode("ascii")
    TARGET.write_text(json.dumps({MODEL: written}, indent=1) + "\n", "utf-8")
    print(
        f"{len(chosen[::2]):,} of {len(words):,} words, mean of length {np.linalg.norm(mean):.3f}"
    )
    return 0


def usual_words() -> list[str]:
    """The words of at least four letters that the model's tokenizer holds whole, sorted."""
    found = {match[1].decode("utf-8", "ignore")[1:] for match in _PIECE.finditer(pieces())}
    return sorted(word for word in found if len(word) >= 4 and word.isalpha())


if __name__ == "__main__":
    sys.exit(main())
