"""Queries that nobody types and anybody can send: long, odd, repetitive, full of operators.

Each is a mix of what makes a search work hard: quotations, operators, nearness, prefixes, groups,
filters, exclusions, addresses, code, several scripts, signs, and tokens that are long or repeated.
One in four says the same kind of thing over and over, which is how a limit is found.
The same seed gives the same queries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

# As long as an address may be without being remarkable.
LONGEST = 2000

_OPERATORS = ("AND", "OR", "NOT", "AND NOT", "OR NOT", "and", "NEAR")
_SIGNS = ("->", "=>", ":=", "::", "&&", "||", "<<", "…", "--", "%", "@", "§", "*", "**", "()", '"')
_EMOJI = ("🎉", "👩‍👩‍👧", "🇩🇪", "❤️", "🍞", "🧵", "✅")
_CJK = (
    "日",
    "日本語",
    "東京都",
    "検索",
    "中文",
    "搜索引擎",
    "한국어",
    "서울",
    "ภาษาไทย",
    "カタカナ",
)
_FIELDS = ("title", "body", "tags", "headings", "aliases", "url", "description")
_FILTERS = (
    "kind:note",
    "-kind:prompt",
    "tag:home",
    "-tag:work",
    "lang:ru",
    "lang:en",
    "after:2020",
    "before:2024-05",
    "after:30d",
    "path:00*/**",
    "path:**/note-*",
    "path:*a*b*c*d*",
    "has:tags",
    "in:notes",
    "is:archived",
    "status:done",
    "tag:",
    "kind:nothing",
    "after:2023-02-29",
)
_CODE = (
    "std::vector<int>::push_back(x)",
    "SELECT * FROM notes WHERE id = 'a';",
    "useAuthStateChanged()",
    "ts_rank_cd",
    "a[i] += b->c(d);",
    "/var/log/../etc/*.conf",
    "C:\\Users\\me\\notes.md",
    "foo_bar-baz.qux",
    "^(a+)+$",
    "%00%0d%0a",
)
_KEYS = "qwertyuiopasdfghjklzxcvbnm"
_KEYS_RU = "йцукенгшщзхъфывапролджэячсмитьбю"

Piece = Callable[[random.Random], str]


def queries(count: int, words: Sequence[str], *, seed: int = 15) -> Iterator[str]:
    """So many queries of up to `LONGEST` characters, with these words among others."""
    dice = random.Random(seed)
    pieces = _pieces(words)
    for number in range(count):
        length = int(LONGEST ** dice.uniform(0.3, 1.0)) if number % 5 else LONGEST
        yield _query(dice, pieces, length, repeats=number % 4 == 0)[:LONGEST]


def _query(dice: random.Random, pieces: Sequence[Piece], length: int, *, repeats: bool) -> str:
    kinds = dice.sample(pieces, dice.randint(1, 2) if repeats else dice.randint(2, len(pieces)))
    same = [kind(dice) for kind in kinds] if repeats and dice.random() < 0.5 else []
    parts: list[str] = []
    held = 0
    while held < length:
        part = dice.choice(same) if same else dice.choice(kinds)(dice)
        if dice.random() < 0.2:
            part = f"{part} {dice.choice(_OPERATORS)}"
        parts.append(part)
        held += len(part) + 1
    text = " ".join(parts)
    return f"{text[: length - 1]}?" if dice.random() < 0.1 else text


def _pieces(words: Sequence[str]) -> list[Piece]:
    """The kinds of things that a query is made of; words are drawn from the front most often."""

    def word(dice: random.Random) -> str:
        return words[int(len(words) ** dice.random()) - 1]

    def some(dice: random.Random, least: int, most: int) -> str:
        return " ".join(word(dice) for _ in range(dice.randint(least, most)))

    def typo(dice: random.Random) -> str:
        letters = list(word(dice))
        at = dice.randrange(len(letters))
        letters[at] = dice.choice(_KEYS + _KEYS_RU) * dice.randint(0, 2)
        return "".join(letters)

    def group(dice: random.Random) -> str:
        joint = f" {dice.choice(_OPERATORS[:5])} "
        inner = joint.join(
            f'"{word(dice)}"' if dice.random() < 0.3 else word(dice)
            for _ in range(dice.randint(1, 8))
        )
        depth = dice.choice((1, 1, 1, 2, 30))
        return dice.choice(("", "-", "title:", "-body:")) + "(" * depth + inner + ")" * depth

    def near(dice: random.Random) -> str:
        inner = " ".join(
            f'"{some(dice, 1, 3)}"' if dice.random() < 0.3 else word(dice)
            for _ in range(dice.randint(1, 12))
        )
        return f"NEAR({inner}, {dice.choice((0, 1, 5, 100, 9999))})"

    return [
        word,
        typo,
        group,
        near,
        lambda dice: f'"{some(dice, 1, 1)}"',
        lambda dice: f'"{some(dice, 2, 40)}"',
        lambda dice: f'"{dice.choice((*_KEYS, *_KEYS_RU, *_SIGNS, *_CJK, *_EMOJI))}"',
        lambda dice: f"{word(dice)[: dice.randint(1, 4)]}*",
        lambda dice: dice.choice(("-", "NOT ")) + dice.choice((f'"{word(dice)}"', word(dice))),
        lambda dice: f"{dice.choice(_FIELDS)}:{word(dice)}",
        lambda dice: dice.choice(_FILTERS),
        lambda dice: f"https://{word(dice)}.example/{word(dice)}/{word(dice)}?{word(dice)}=1#a",
        lambda dice: dice.choice(_CODE),
        lambda dice: dice.choice(_CJK) * dice.choice((1, 1, 1, 60)),
        lambda dice: dice.choice(_EMOJI) * dice.choice((1, 1, 20)),
        lambda dice: dice.choice(_SIGNS) * dice.choice((1, 1, 40)),
        lambda dice: dice.choice((*_KEYS, *_KEYS_RU)) * dice.choice((1, 2, 64, 500)),
        lambda dice: "".join(dice.choices(_KEYS + _KEYS_RU, k=dice.choice((3, 12, 300)))),
        lambda dice: dice.choice((" ", "(", ")", '"', "«", "“", "'", "#", "\u200b", "\u0301" * 50)),
    ]
