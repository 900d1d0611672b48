"""Synthetic notes, for measuring speed and never quality.

Words follow Zipf's law over the vocabulary of the written notes in this repository, inflected
forms as they stand there, most frequent first: half of the notes are English, four in ten
Russian, one in ten mixes both.
The same seed gives the same notes for as long as the written notes stay the same;
`digest_of` names the vocabulary that was used.
The vocabulary is smaller than that of a real vault of the same size, so that a word of medium
rank stands in more notes than it would there: the lexical lane has it harder, not easier.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from twolane.text.languages import FUNCTION_WORDS

BENCHMARKS = Path(__file__).resolve().parent
# Named one by one: a vault that is added must not change the notes of measurements made before.
WRITTEN = (
    *(BENCHMARKS / "vaults" / name for name in ("desk", "long", "short")),
    BENCHMARKS.parent / "src" / "twolane" / "sample_vault",
)
SEED = 20_250_101

# The exponent that large collections of notes and articles show.
_ZIPF = 1.05
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LETTERS = {"en": re.compile(r"[a-z'’-]+"), "ru": re.compile(r"[а-яё-]+")}

# Of ten notes in a row.
_LANGUAGES = ("en", "ru", "en", "ru", "en", "mixed", "en", "ru", "en", "ru")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language, most frequent first, and how to draw from them."""

    words: tuple[str, ...]
    weights: tuple[float, ...]

    def draw(self, dice: random.Random, count: int) -> list[str]:
        """Words as running text has them."""
        return dice.choices(self.words, cum_weights=self.weights, k=count)

    def telling(self, dice: random.Random, count: int, *, first: int, last: int) -> list[str]:
        """Words by rank, without the ones that only hold sentences together."""
        found: list[str] = []
        last = min(last, len(self.words))
        while len(found) < count:
            word = self.words[dice.randrange(first, last)]
            if len(word) > 3 and word not in _FUNCTION_WORDS and word not in found:
                found.append(word)
        return found


_FUNCTION_WORDS = FUNCTION_WORDS["en"] | FUNCTION_WORDS["ru"]


@dataclass(frozen=True, slots=True)
class Note:
    """A note as somebody might have written it; `sections` are heading and text."""

    path: str
    language: str
    front_matter: str
    title: str
    tags: tuple[str, ...]
    created: str
    sections: tuple[tuple[str, str], ...]

    def body(self) -> str:
        """The Markdown below the front matter."""
        parts = [f"# {self.title}\n"]
        for heading, text in self.sections:
            if heading:
                parts.append(f"## {heading}\n")
            parts.append(f"{text}\n")
        return "\n".join(parts)

    def markdown(self) -> str:
        """The whole file."""
        return f"{self.front_matter}{self.body()}"


def notes(count: int, *, sections: bool = True, seed: int = SEED) -> Iterator[Note]:
    """So many notes of about 150 words; without `sections` each is one passage."""
    dice = random.Random(seed)
    titles: list[str] = []
    for number in range(count):
        note = _note(dice, number, titles, sections=sections)
        # Links lead to one of the last notes, as in a vault that grows.
        titles = [*titles[-50:], note.title]
        yield note


def write_vault(folder: Path, count: int) -> Path:
    """A folder with so many notes; made once per folder."""
    root = folder / f"vault-{count}"
    if root.exists():
        return root
    for note in notes(count):
        file = root / note.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note.markdown(), "utf-8")
    return root


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of the written notes in this language."""
    counted: Counter[str] = Counter()
    for root in WRITTEN:
        for file in sorted(root.rglob("*.md")):
            for word in _WORD.findall(file.read_text("utf-8").lower()):
                if _LETTERS[language].fullmatch(word):
                    counted[word] += 1
    words = tuple(sorted(counted, key=lambda word: (-counted[word], word)))
    ranks = range(1, len(words) + 1)
    return Vocabulary(words, tuple(accumulate(1 / rank**_ZIPF for rank in ranks)))


def facts() -> dict[str, str | int]:
    """What to remember of the corpus beside its size."""
    english, russian = vocabulary("en").words, vocabulary("ru").words
    return {
        "seed": SEED,
        "english words": len(english),
        "russian words": len(russian),
        "vocabulary": digest_of((*english, *russian)),
    }


def digest_of(words: Sequence[str]) -> str:
    """A short name for a list of words."""
    return hashlib.blake2b("\n".join(words).encode(), digest_size=8).hexdigest()


def queries(count: int, *, seed: int = SEED) -> list[tuple[str, str]]:
    """(kind, text): by turns a few words of medium frequency and a whole question, en and ru."""
    dice = random.Random(seed + 1)
    found = []
    for number in range(count):
        language = "en" if number // 2 % 2 else "ru"
        known = vocabulary(language)
        if number % 2:
            text = " ".join(known.telling(dice, dice.randint(2, 4), first=150, last=1200))
            found.append((f"words {language}", text))
        else:
            form = dice.choice(_QUESTIONS[language])
            slots = form.count("{}")
            text = form.format(*known.telling(dice, slots, first=150, last=1200))
            found.append((f"question {language}", text))
    return found


# Questions of six to ten words; the slots take words that say something.
_QUESTIONS = {
    "en": (
        "how do I {} the {} before {}",
        "what is the best way to {} a {}",
        "why does the {} not {} when {}",
        "where did we put the {} for the {}",
        "what should I do with {} after the {}",
        "which {} was it that we had with {}",
    ),
    "ru": (
        "как мне {} до того как {} {}",
        "почему у нас {} не {} после {}",
        "что нужно для {} если уже есть {}",
        "где я был когда {} и {} под {}",
        "как это {} и что при этом {}",
        "какой {} мы тогда взяли на {} и {}",
    ),
}


def _note(dice: random.Random, number: int, titles: Sequence[str], *, sections: bool) -> Note:
    language = _LANGUAGES[number % len(_LANGUAGES)]
    main = dice.choice(("en", "ru")) if language == "mixed" else language
    known = vocabulary(main)
    title = _capital(" ".join(known.telling(dice, dice.randint(2, 5), first=60, last=3000)))
    tags = tuple(known.telling(dice, dice.randint(0, 3), first=60, last=300))
    created = f"{dice.randint(2015, 2025)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"
    headings = dice.choice((0, 0, 1, 2)) if sections else 0
    words = dice.randint(110, 190)
    parts = []
    for place in range(headings + 1):
        heading = " ".join(known.telling(dice, 3, first=60, last=3000)) if place else ""
        parts.append((_capital(heading), _text(dice, language, words // (headings + 1))))
    if titles and dice.random() < 0.3:
        heading, text = parts[-1]
        parts[-1] = (heading, f"{text}\n\n[[{dice.choice(titles)}]]")
    return Note(
        path=f"{number // 500:03}/note-{number:06}.md",
        language=main,
        front_matter=_front_matter(dice, known, tags, created),
        title=title,
        tags=tags,
        created=created,
        sections=tuple(parts),
    )


def _front_matter(dice: random.Random, known: Vocabulary, tags: Sequence[str], created: str) -> str:
    lines = [f"tags: [{', '.join(tags)}]", f"created: {created}"]
    if dice.random() < 0.3:
        lines.append(f"aliases: [{' '.join(known.telling(dice, 2, first=60, last=3000))}]")
    if dice.random() < 0.2:
        lines.append(f"status: {dice.choice(('draft', 'done', 'idea'))}")
    return "---\n" + "\n".join(lines) + "\n---\n"


def _text(dice: random.Random, language: str, words: int) -> str:
    """Sentences in paragraphs, now and then a list."""
    sentences: list[str] = []
    paragraphs: list[str] = []
    left = words
    while left > 0:
        count = min(left, dice.randint(6, 16))
        left -= count
        spoken = dice.choice(("en", "ru")) if language == "mixed" else language
        sentences.append(_capital(" ".join(vocabulary(spoken).draw(dice, count))) + ".")
        if left <= 0 or dice.random() < 0.25:
            listed = len(sentences) > 2 and dice.random() < 0.3
            paragraphs.append(
                "\n".join(f"- {one}" for one in sentences) if listed else " ".join(sentences)
            )
            sentences = []
    return "\n\n".join(paragraphs)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
