"""Brevity: taking out of a query's vector what all short texts have in common.

A sentence encoder places words that stand alone near each other, whatever they mean: two words
that have nothing to do with each other are about .25 similar, a word and a page that is about it
.15.
So every note of a word or two, an empty one with its title say, would be the nearest to every
query of a word or two.
What they share is one direction, in all languages alike: a word alone holds .52 of it, three
words .22, twelve .02, a page nothing.
Without it in the query no note can be near by its shortness, and longer queries stay as they are.
"""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from twolane.model.space import Space

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

PACKAGED = "length_bias.json"

# The model whose vectors fill the first dimensions of these spaces.
_MODEL = "universal-sentence-encoder-multilingual-3"
_SPACES = frozenset({"use", "ensemble"})


def without_brevity(vector: Vector, space: Space) -> Vector:
    """The query's vector without the direction of short texts; as it is where nobody knows it.

    It becomes shorter by what it loses, so that a word alone is as similar to a page as before.
    """
    if space.embedder not in _SPACES:
        return vector
    direction = _direction()
    part = slice(0, len(direction))
    plain: Vector = vector.copy()
    plain[part] -= (vector[part] @ direction) * direction
    return plain


@lru_cache(maxsize=1)
def _direction() -> Vector:
    import numpy as np

    held = json.loads(files("twolane.embedding").joinpath(PACKAGED).read_text("utf-8"))
    direction: Vector = np.frombuffer(base64.b64decode(held[_MODEL]), "<f2").astype(np.float32)
    return direction / np.linalg.norm(direction)
