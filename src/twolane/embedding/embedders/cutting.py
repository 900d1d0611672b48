"""Texts as a model can read them: not too long, and valid Unicode.

A passage begins with its title and headings, so its front says most; the end goes first.
"""

from __future__ import annotations

import logging
import threading

from twolane.ingest.chunking import estimate_tokens

_log = logging.getLogger(__name__)

# No token of any vocabulary in use stands for more characters on average.
_CHARACTERS_PER_TOKEN = 8


class Cutter:
    """Shortens texts to about so many tokens, and counts how often it had to."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        self.count = 0

    def cut(self, text: str) -> str:
        """The text, or as much of its front as fits."""
        # Most texts are so short that estimating them would be wasted.
        if len(text) <= self._tokens // 2 or estimate_tokens(text) <= self._tokens:
            return text
        self.note()
        least, most = 0, min(len(text), self._tokens * _CHARACTERS_PER_TOKEN)
        while most - least > 1:
            middle = (least + most) // 2
            if estimate_tokens(text[:middle]) <= self._tokens:
                least = middle
            else:
                most = middle
        return text[:least]

    def note(self, times: int = 1) -> None:
        """Remember that texts lost their end; the first time is worth a warning."""
        with self._lock:
            first = self.count == 0
            self.count += times
        if first:
            _log.warning(
                "a text is longer than the %d tokens that the model reads; its end is left out",
                self._tokens,
            )


def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which undecodable file names bring along."""
    return text.encode("utf-8", "replace").decode("utf-8")
