"""The language of a passage: by script, then by function words, then by a detector."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import inf
from typing import Protocol, cast

from twolane.text.languages import FUNCTION_WORDS, USUAL, script_for, script_of
from twolane.text.tokens import plain_form, token_texts

# Below this many words a detector guesses ("chat" is Quechua to it), and its model takes longer to
# load than a short note to save: it is asked only if a function word speaks for another language.
_ENOUGH_WORDS = 6

# Latin letters among others are mostly names («Индексы PostgreSQL»), and count for less.
_LATIN_SHARE = 0.5

# So much likelier (in nats) than the usual language of its script another one must be. Of lists and
# titles in English that the detector got wrong 95 % stay below 17, and of texts of 6 to 12 words in
# German and Portuguese 95 % are above 30.
_SURE = 17.0
# Names of people, places and dishes are likelier in their own language, by up to 23 ("Rio de
# Janeiro", "Ursula von der Leyen"); a few words must say more than a name does.
_SURE_OF_FEW = 25.0

# A hundred words settle a language; the rest of a passage would only cost time.
_SAMPLE = 800

_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_RUSSIAN = re.compile("[ыэъЫЭЪ]")
_SERBIAN = re.compile("[ђјљњћџЂЈЉЊЋЏ]")


def language_of(text: str, candidates: Sequence[str], usual: str | None = None) -> str | None:
    """The language of a passage, or None for one without words (numbers, symbols).

    `usual` is the language of what stands around the passage:
    it is believed where the script fits and the function words do not say otherwise.
    """
    sample = text[:_SAMPLE]
    words = [token for token in token_texts(sample) if not token[0].isdigit()]
    if not words:
        return None
    # What is not a digit in plain ASCII is a Latin letter.
    script = "latin" if sample.isascii() else _main_script(words)
    fitting = _fitting(tuple(candidates), script)
    if script == "cyrillic":
        return _cyrillic(sample, fitting)
    if len(fitting) <= 1:
        return fitting[0] if fitting else USUAL.get(script)
    votes = _votes(words, fitting)
    clear = _leading(votes)
    if clear:
        return clear
    if usual and script_for(usual) == script:
        return usual
    likely = USUAL[script] if USUAL.get(script) in fitting else fitting[0]
    if len(words) >= _ENOUGH_WORDS:
        return _by_detector(sample, fitting, likely, _SURE)
    if max(votes.values(), default=0) > votes.get(likely, 0):
        return _by_detector(sample, fitting, likely, _SURE_OF_FEW)
    return likely


@lru_cache(maxsize=256)
def _fitting(candidates: tuple[str, ...], script: str) -> tuple[str, ...]:
    return tuple(language for language in candidates if script_for(language) == script)


def _main_script(words: Sequence[str]) -> str:
    scripts: dict[str, float] = {}
    for token in words:
        # A run of unbroken script is one token and may mix Chinese characters with kana.
        pieces = token if token[0] >= "\u2e80" else (token,)
        for piece in pieces:
            script = script_of(piece)
            scripts[script] = scripts.get(script, 0) + len(piece)
    if "latin" in scripts:
        scripts["latin"] *= _LATIN_SHARE
    main = max(scripts, key=lambda name: (scripts[name], name))
    # Japanese is mostly written with Chinese characters; a little kana tells it apart.
    return "kana" if main == "han" and scripts.get("kana", 0) * 10 > scripts["han"] else main


def _cyrillic(sample: str, fitting: Sequence[str]) -> str:
    if "uk" in fitting and _UKRAINIAN.search(sample) and not _RUSSIAN.search(sample):
        return "uk"
    if "sr" in fitting and _SERBIAN.search(sample):
        return "sr"
    if "ru" in fitting or not fitting:
        return "ru"
    return fitting[0]


def _votes(words: Sequence[str], fitting: Sequence[str]) -> dict[str, int]:
    """How many function words of each language there are."""
    votes = {language: 0 for language in fitting if language in FUNCTION_WORDS}
    # Most words are no function words, and no language votes for them.
    for speakers in filter(None, map(_speakers_of, words)):
        for language in speakers:
            if language in votes:
                votes[language] += 1
    return votes


def _leading(votes: Mapping[str, int]) -> str | None:
    """The language whose function words clearly lead, or None when it is close."""
    ranked = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or ranked[0][1] < 3:
        return None
    runner_up = ranked[1][1] if len(ranked) > 1 else 0
    return ranked[0][0] if ranked[0][1] >= 1.5 * runner_up else None


@lru_cache(maxsize=1 << 13)
def _speakers_of(token: str) -> tuple[str, ...]:
    return _speakers().get(plain_form(token), ())


@lru_cache(maxsize=1)
def _speakers() -> dict[str, tuple[str, ...]]:
    """The languages that each function word belongs to."""
    speakers: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            speakers.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in speakers.items()}


class _Detector(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def _by_detector(sample: str, fitting: Sequence[str], likely: str, sure: float) -> str:
    """The detector's choice among a few languages where it is so sure, else the likely one."""
    ranked = _detector(tuple(fitting)).rank(sample)
    best, score = ranked[0]
    return best if score - dict(ranked).get(likely, -inf) >= sure else likely


@cache
def _detector(languages: tuple[str, ...]) -> _Detector:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    detector = LanguageIdentifier.from_model_file(MODEL_FILE)
    known = set(detector.labels)
    detector.set_languages([language for language in languages if language in known] or None)
    return cast("_Detector", detector)
