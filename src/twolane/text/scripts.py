"""Which script a word is written in, and which languages use that script."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from operator import itemgetter

# The script of each language that does not use Latin letters.
_SCRIPTS: dict[str, str] = {
    "ru": "cyrillic",
    "uk": "cyrillic",
    "bg": "cyrillic",
    "sr": "cyrillic",
    "be": "cyrillic",
    "el": "greek",
    "hy": "armenian",
    "he": "hebrew",
    "yi": "hebrew",
    "ar": "arabic",
    "fa": "arabic",
    "hi": "devanagari",
    "ne": "devanagari",
    "ta": "tamil",
    "th": "thai",
    "zh": "han",
    "ja": "kana",
    "ko": "hangul",
}

# What a script is read as when nothing says more.
USUAL: dict[str, str] = {
    "latin": "en",
    "cyrillic": "ru",
    "greek": "el",
    "armenian": "hy",
    "hebrew": "he",
    "arabic": "ar",
    "devanagari": "hi",
    "tamil": "ta",
    "thai": "th",
    "han": "zh",
    "kana": "ja",
    "hangul": "ko",
}

# First code point of each block that we tell apart; a block lasts until the next one.
_BLOCKS: tuple[tuple[int, str], ...] = (
    (0x0000, "latin"),
    (0x0370, "greek"),
    (0x0400, "cyrillic"),
    (0x0530, "armenian"),
    (0x0590, "hebrew"),
    (0x0600, "arabic"),
    (0x0900, "devanagari"),
    (0x0980, "other"),
    (0x0B80, "tamil"),
    (0x0C00, "other"),
    (0x0E00, "thai"),
    (0x0E80, "other"),
    (0x1100, "hangul"),
    (0x1200, "other"),
    (0x1E00, "latin"),
    (0x1F00, "greek"),
    (0x2000, "other"),
    (0x2E80, "han"),
    (0x3040, "kana"),
    (0x3100, "han"),
    (0x3130, "hangul"),
    (0x3190, "han"),
    (0xA000, "other"),
    (0xAC00, "hangul"),
    (0xD7B0, "other"),
    (0xF900, "han"),
    (0xFB00, "latin"),
    (0xFB50, "arabic"),
    (0xFE00, "other"),
    (0xFF10, "latin"),
    (0xFF66, "kana"),
    (0xFFA0, "hangul"),
    (0xFFE0, "other"),
    (0x20000, "han"),
    (0x32000, "other"),
)


@lru_cache(maxsize=1 << 13)
def script_of(token: str) -> str:
    """The script of the token's first letter; digits count as Latin."""
    for char in token:
        if char.isalpha():
            return _block(ord(char))
    return "latin"


def script_for(language: str) -> str:
    """The script that a language is written in."""
    return _SCRIPTS.get(language, "latin")


def _block(point: int) -> str:
    return _BLOCKS[bisect_right(_BLOCKS, point, key=itemgetter(0)) - 1][1]
